// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks stacks, functions and text for all formats (see walk.h). */
#include "export/walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "views/query/names.h"

enum {
	FLUSH_AT = 1 << 18,
	/* four times as fast as the default; files are a fifth larger */
	GZIP_LEVEL = 2,
};

static int put_gzip(struct export *x, bool all, struct error *err)
{
	uint8_t room[1 << 14];
	z_stream *z = x->z;
	int rc = 0, state = Z_OK;

	z->next_in = x->out.p;
	z->avail_in = (uInt)x->out.n;
	do {
		z->next_out = room;
		z->avail_out = sizeof(room);
		state = deflate(z, all ? Z_FINISH : Z_NO_FLUSH);
		if (state == Z_STREAM_ERROR)
			return error_set(err, ERR_IO, "zlib cannot compress");
		if (z->avail_out < sizeof(room))
			rc = x->sink->put(x->sink->ctx, room,
					  sizeof(room) - z->avail_out, err);
	} while (!rc && !z->avail_out && state != Z_STREAM_END);
	return rc;
}

int export_too_long(const struct export *x, struct error *err)
{
	return error_set(err, ERR_UNSUPPORTED, "stopped after %" PRIu64 " MB, "
			 "which no usual recording of %" PRIu64 " bytes needs: "
			 "--max-output SIZE allows more",
			 x->spec->max_output >> 20, reader_bytes(x->r));
}

int export_flush(struct export *x, bool all, struct error *err)
{
	int rc = 0;

	if (x->out.failed)
		return error_nomem(err);
	if (!all && x->out.n < FLUSH_AT)
		return 0;
	x->raw_bytes += x->out.n;
	if (x->spec->max_output && x->raw_bytes > x->spec->max_output)
		return export_too_long(x, err);
	if (x->z) {
		/* avail_in has 32 bits */
		if (x->out.n > UINT32_MAX)
			return error_set(err, ERR_NOMEM,
					 "one part of the output has more than "
					 "4 GB");
		rc = put_gzip(x, all, err);
	} else if (x->out.n) {
		rc = x->sink->put(x->sink->ctx, x->out.p, x->out.n, err);
	}
	buf_again(&x->out);
	return rc;
}

/* Returns the id of a string in x->text, made safe.  Returns 0, the empty
 * string, if memory ran out (x->out.failed). */
static uint32_t add_text(struct export *x, const char *s)
{
	uint32_t id;

	buf_again(&x->tmp);
	text_safe(&x->tmp, s);
	id = strtab_add(&x->text, buf_cstr(&x->tmp));
	x->out.failed |= x->tmp.failed || id == UINT32_MAX;
	return id == UINT32_MAX ? 0 : id;
}

const char *export_str(struct export *x, uint32_t str)
{
	uint32_t *at = &x->text_of[str];

	if (!*at)
		*at = add_text(x, profile_cstr(x->p, str));
	return strtab_get(&x->text, *at);
}

static const char *special_name(uint32_t which)
{
	switch (which) {
	case EXPORT_CUT:
		return "[callers missing: deep stack cut]";
	case EXPORT_BROKEN:
		return "[callers missing: broken stack]";
	case EXPORT_DEEPER:
		return "[callers left out: stack too deep]";
	default:
		return "[damaged]";
	}
}

const char *export_name(struct export *x, uint32_t fk)
{
	uint32_t *at = &x->name_of[fk];
	struct buf name = { 0 };

	if (*at)
		return strtab_get(&x->text, *at);
	if (export_special(x, fk))
		buf_str(&name, special_name(fk - (uint32_t)x->keys.keys.n));
	else
		name_symbol(x->p, &x->keys, &x->keys.keys.v[fk], NAME_ALONE,
			    &name);
	*at = add_text(x, buf_cstr(&name));
	buf_close(&name, &x->out);
	return strtab_get(&x->text, *at);
}

const struct prof_func *export_func(const struct export *x, uint32_t fk)
{
	const struct frame_key *k;

	if (export_special(x, fk))
		return NULL;
	k = &x->keys.keys.v[fk];
	return k->kind == FRAME_FUNC && k->func ? &x->p->funcs.v[k->func - 1]
						: NULL;
}

const char *export_linkage(struct export *x, uint32_t fk)
{
	const struct prof_func *f = export_func(x, fk);

	return f ? export_str(x, f->name) : "";
}

const struct prof_image *export_image(const struct export *x,
				      const struct export_frame *f)
{
	return f->loc < x->p->locs.n
		       ? &x->p->images.v[x->p->locs.v[f->loc].image] : NULL;
}

static int push(struct export *x, uint32_t fk, uint32_t loc)
{
	return vec_push(&x->frames, (struct export_frame){ .fk = fk,
							   .loc = loc });
}

static int push_location(struct export *x, uint32_t loc)
{
	const struct frame_keys *k = &x->keys;
	int rc = 0;

	for (uint32_t s = k->head[loc]; !rc && s != PROF_NONE;
	     s = k->steps[s].outer) {
		struct export_frame f = { .fk = k->steps[s].fk, .loc = loc };

		if (s < k->nframes) {
			const struct prof_frame *pf = &x->p->frames.v[s];

			f.file = pf->file;
			f.line = pf->line;
			f.column = pf->column;
			f.inlined = frame_step_inlined(k, s);
		}
		if (f.fk == PROF_NONE)
			f.fk = k->unknown;
		rc = vec_push(&x->frames, f);
	}
	return rc;
}

int export_chain(struct export *x, uint32_t loc)
{
	x->frames.n = 0;
	return push_location(x, loc) < 0 ? -ERR_NOMEM : 0;
}

/* Returns the place of a special function for a mark; PROF_NONE if the stack is
 * complete. */
static uint32_t mark_place(const struct export *x, uint32_t mark)
{
	uint32_t special = (uint32_t)x->p->locs.n;

	switch (mark) {
	case PROF_MARK_CUT:
		return special + EXPORT_CUT;
	case PROF_MARK_BROKEN:
		return special + EXPORT_BROKEN;
	case PROF_MARK_DAMAGED:
		return special + EXPORT_DAMAGED;
	default:
		return PROF_NONE;	/* the stack is complete */
	}
}

int export_mark(struct export *x, uint32_t mark)
{
	uint32_t place = mark_place(x, mark);

	x->frames.n = 0;
	return place == PROF_NONE ? 0 : export_place(x, place);
}

uint32_t export_node_place(const struct export *x, uint32_t node)
{
	uint32_t loc = x->p->nodes.v[node].loc;

	return prof_is_mark(loc) ? mark_place(x, loc) : loc;
}

uint32_t export_left_out(const struct export *x, uint32_t node)
{
	uint32_t half = (x->spec->depth ? x->spec->depth : EXPORT_DEPTH) / 2;
	uint32_t halves = x->depth[node] ? (x->depth[node] - 1) / half : 0;

	return halves > 1 ? (halves - 1) * half : 0;
}

int export_places(struct export *x, uint32_t node)
{
	const struct prof_node *nodes = x->p->nodes.v;
	uint32_t special = (uint32_t)x->p->locs.n;
	uint32_t left_out = export_left_out(x, node);
	int rc = 0;

	x->places.n = 0;
	if (!node || prof_is_mark(nodes[node].loc))
		rc = vec_push(&x->places, special + EXPORT_SPECIALS);
	for (; !rc && node && x->depth[node] > left_out;
	     node = nodes[node].parent) {
		uint32_t place = export_node_place(x, node);

		if (place != PROF_NONE)
			rc = vec_push(&x->places, place);
	}
	if (!rc && left_out)
		rc = vec_push(&x->places, special + EXPORT_DEEPER);
	return rc < 0 ? -ERR_NOMEM : 0;
}

static int push_place(struct export *x, uint32_t place)
{
	uint32_t special = place - (uint32_t)x->p->locs.n;

	if (place < x->p->locs.n)
		return push_location(x, place);
	return push(x, special == EXPORT_SPECIALS
			       ? x->keys.unknown
			       : (uint32_t)x->keys.keys.n + special, PROF_NONE);
}

int export_place(struct export *x, uint32_t place)
{
	x->frames.n = 0;
	return push_place(x, place) < 0 ? -ERR_NOMEM : 0;
}

int export_stack(struct export *x, uint32_t node)
{
	int rc = export_places(x, node);

	x->frames.n = 0;
	for (size_t i = 0; !rc && i < x->places.n; i++)
		rc = push_place(x, x->places.v[i]);
	return rc < 0 ? -ERR_NOMEM : 0;
}

const struct prof_event *export_event(const struct export *x, size_t col)
{
	return &x->p->events.v[x->a.cols.v[col]];
}

const char *export_event_name(struct export *x, size_t col)
{
	return strtab_get(&x->text, add_text(
		x, prof_event_actual(x->p, export_event(x, col))));
}

bool export_is_time(const struct export *x, size_t col)
{
	return export_event(x, col)->unit == PROF_UNIT_NS;
}

void export_thread_name(struct export *x, uint32_t lane, struct buf *out)
{
	const struct lane *l = &x->a.lanes.v[lane];

	buf_printf(out, "%s (%u/%u)", export_str(x, l->comm), l->pid, l->tid);
	if (x->p->runs.n > 1)
		buf_printf(out, " run %u", l->run + 1);
}

uint64_t export_start_ns(const struct export *x)
{
	return profile_start_ns(x->p);
}

uint64_t export_duration_ns(const struct export *x)
{
	uint64_t start = profile_start_ns(x->p), end = profile_end_ns(x->p);

	if (x->part)
		return x->part->duration_ns;
	if (!end)
		end = x->a.last_ns;
	return end > start ? end - start : 0;
}

uint64_t export_wall_ns(const struct export *x)
{
	uint64_t t = UINT64_MAX, wall = 0;

	if (x->part)
		return x->part->wall_ns;
	for (size_t i = 0; i < x->p->runs.n; i++)
		if (x->p->runs.v[i].start_ns < t) {
			t = x->p->runs.v[i].start_ns;
			wall = x->p->runs.v[i].start_wall_ns;
		}
	return wall;
}

int export_cells(struct export *x, export_cell_fn *fn, void *ctx,
		 struct error *err)
{
	size_t first = x->slice ? x->slice->first : 0;
	size_t n = x->slice ? x->slice->n : x->cells.n;
	int rc = 0;

	for (size_t i = first; !rc && i < first + n; i++) {
		const struct export_cell *c = &x->cells.v[i];

		rc = fn(ctx, c->lane, c->col, x->a.leaves.v[c->leaf], c->c,
			err);
	}
	return rc;
}

int export_stack_sums(struct export *x, export_cell_fn *fn, void *ctx,
		      struct error *err)
{
	struct cell *sum = calloc(x->a.ncols + 1, sizeof(*sum));
	int rc = sum ? 0 : error_nomem(err);

	for (size_t i = 0, k = 0; !rc && i < x->cells.n; i = k) {
		uint32_t leaf = x->cells.v[i].leaf;

		memset(sum, 0, x->a.ncols * sizeof(*sum));
		for (; k < x->cells.n && x->cells.v[k].leaf == leaf; k++)
			cell_add(&sum[x->cells.v[k].col], x->cells.v[k].c);
		for (uint32_t col = 0; !rc && col < x->a.ncols; col++)
			if (sum[col].count)
				rc = fn(ctx, PROF_NONE, col,
					x->a.leaves.v[leaf], sum[col], err);
	}
	free(sum);
	return rc;
}

struct loc_counts {
	const struct profile *p;
	uint64_t *count;
};

static int count_leaf(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		      struct cell c, struct error *err)
{
	struct loc_counts *k = ctx;

	(void)lane;
	(void)err;
	if (!col && node && !prof_is_mark(k->p->nodes.v[node].loc))
		k->count[k->p->nodes.v[node].loc] += c.count;
	return 0;
}

int export_loc_counts(struct export *x, uint64_t **count, struct error *err)
{
	struct loc_counts k = {
		x->p, calloc(x->p->locs.n + 1, sizeof(*k.count)),
	};

	*count = k.count;
	return k.count ? export_stack_sums(x, count_leaf, &k, err)
		       : error_nomem(err);
}

/* Calls put(x, cell) for each cell that is not empty, thread by thread. */
static void each_cell(const struct aggregate *a,
		      void (*put)(struct export *, const struct export_cell *),
		      struct export *x)
{
	for (size_t i = 0; i < a->slots.n; i++) {
		const struct slot *s = &a->slots.v[i];
		struct export_cell c = { .lane = s->lane,
					 .col = a->col_of[s->event] };

		for (size_t k = 0; s->dense && k < a->leaves.n && k < s->cap;
		     k++) {
			c.leaf = (uint32_t)k;
			c.c = s->dense[k];
			if (c.c.count)
				put(x, &c);
		}
		for (size_t k = s->first; !s->dense && k < s->first + s->n;
		     k++) {
			c.leaf = a->leaf_of[a->sparse.v[k].stack] - 1;
			c.c = a->sparse.v[k].c;
			put(x, &c);
		}
	}
}

static void count_cell(struct export *x, const struct export_cell *c)
{
	x->cells_at[c->leaf + 1]++;
}

static void place_cell(struct export *x, const struct export_cell *c)
{
	x->cells.v[x->cells_at[c->leaf]++] = *c;
}

static int sort_cells(struct export *x, struct error *err)
{
	size_t leaves = x->a.leaves.n;

	x->cells_at = calloc(leaves + 2, sizeof(*x->cells_at));
	if (!x->cells_at)
		return error_nomem(err);
	each_cell(&x->a, count_cell, x);
	for (size_t i = 0; i < leaves; i++)
		x->cells_at[i + 1] += x->cells_at[i];
	if (vec_reserve(&x->cells, x->cells_at[leaves]) < 0)
		return error_nomem(err);
	x->cells.n = x->cells_at[leaves];
	each_cell(&x->a, place_cell, x);
	return 0;
}

static int add_total(void *ctx, uint32_t lane, uint32_t col, uint32_t node,
		     struct cell c, struct error *err)
{
	struct export *x = ctx;

	(void)node;
	(void)err;
	cell_add(&x->totals[lane * x->a.ncols + col], c);
	return 0;
}

/* Maps threads to lanes, because samples refer to threads only. */
static int map_threads(struct export *x, struct error *err)
{
	size_t groups = x->a.groups.n;
	uint32_t *of_group = malloc((groups + 1) * sizeof(*of_group));

	x->lane_of = malloc((x->p->threads.n + 1) * sizeof(*x->lane_of));
	x->totals = calloc(x->a.lanes.n * x->a.ncols + 1, sizeof(*x->totals));
	if (!of_group || !x->lane_of || !x->totals) {
		free(of_group);
		return error_nomem(err);
	}
	memset(of_group, 0xff, (groups + 1) * sizeof(*of_group));
	for (size_t i = 0; i < x->a.lanes.n; i++)
		if (x->a.lanes.v[i].group < groups)
			of_group[x->a.lanes.v[i].group] = (uint32_t)i;
	for (size_t i = 0; i < x->p->threads.n; i++)
		x->lane_of[i] = of_group[x->a.thread_group[i]];
	free(of_group);
	return sort_cells(x, err) ?: export_cells(x, add_total, x, err);
}

static int open_export(struct export *x, struct error *err)
{
	uint32_t mask = KEYS_OF_THREAD;

	return selection_init(&x->sel, x->p, &x->spec->select, err) ?:
	       aggregate_run(x->r, &x->sel, mask, false, &x->a, err) ?:
	       map_threads(x, err) ?:
	       export_open_names(x, err);
}

/* Counts the frames of each stack; a node's parent is before it. */
static int count_frames(struct export *x, struct error *err)
{
	const struct profile *p = x->p;
	uint32_t *of_loc = malloc((p->locs.n + 1) * sizeof(*of_loc));

	x->depth = calloc(p->nodes.n + 1, sizeof(*x->depth));
	for (uint32_t i = 0; of_loc && i < p->locs.n; i++) {
		of_loc[i] = 0;
		for (uint32_t s = x->keys.head[i]; s != PROF_NONE;
		     s = x->keys.steps[s].outer)
			of_loc[i]++;
	}
	for (size_t i = 1; of_loc && x->depth && i < p->nodes.n; i++) {
		uint32_t place = export_node_place(x, (uint32_t)i);
		uint32_t more = place < p->locs.n ? of_loc[place]
						  : place != PROF_NONE;
		uint32_t *d = &x->depth[i];

		*d = x->depth[p->nodes.v[i].parent];
		*d = more < UINT32_MAX - *d ? *d + more : UINT32_MAX;
	}
	free(of_loc);
	return of_loc && x->depth ? 0 : error_nomem(err);
}

int export_open_names(struct export *x, struct error *err)
{
	z_stream *z = NULL;
	int rc = frame_keys_init(&x->keys, x->p,
				 KEY_BIT(KEY_IMAGE) | KEY_BIT(KEY_SYMBOL),
				 !x->spec->no_inline, NULL, err);

	if (rc)
		return rc;
	if (strtab_init(&x->text) < 0)
		return error_nomem(err);
	x->name_of = calloc(export_nfuncs(x), sizeof(*x->name_of));
	x->text_of = calloc(x->p->str.str.n + 1, sizeof(*x->text_of));
	if (!x->name_of || !x->text_of)
		return error_nomem(err);
	rc = count_frames(x, err);
	if (rc)
		return rc;
	if (!(x->format->flags & EXPORT_GZIP))
		return 0;
	z = calloc(1, sizeof(*z));
	if (!z)
		return error_nomem(err);
	/* 16: gzip header; its time is 0, so equal input gives equal bytes */
	if (deflateInit2(z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return error_nomem(err);
	}
	x->z = z;
	return 0;
}

void export_close(struct export *x)
{
	if (x->z)
		deflateEnd(x->z);
	free(x->z);
	selection_fini(&x->sel);
	aggregate_fini(&x->a);
	frame_keys_fini(&x->keys);
	free(x->totals);
	free(x->lane_of);
	strtab_fini(&x->text);
	free(x->name_of);
	free(x->text_of);
	buf_fini(&x->tmp);
	buf_fini(&x->out);
	vec_fini(&x->frames);
	vec_fini(&x->places);
	free(x->depth);
	vec_fini(&x->cells);
	free(x->cells_at);
	vec_fini(&x->held);
	free(x->held_from);
	free(x->held_next);
}

int export_write(struct reader *r, const struct export_format *f,
		 const struct export_spec *spec, const struct export_sink *sink,
		 struct error *err)
{
	struct export x = { .r = r, .p = reader_profile(r), .spec = spec,
			    .sink = sink, .format = f };
	int rc = open_export(&x, err) ?:
		 f->write(&x, err) ?:
		 export_flush(&x, true, err);

	export_close(&x);
	return rc;
}
