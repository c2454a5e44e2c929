// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The block of data in a page: zlib (RFC 1950) over
 *
 *	u32	n, little-endian
 *	n bytes	JSON: what is few (see put_meta)
 *	columns	each one's values as ULEB128, one after the other
 *
 * The columns: of the nodes in pre-order but the root, how many levels each
 * lies above a child of the one before it; function * 2 + inlined.  Of the
 * entries, by node, event, thread and time: distance to the node before, event,
 * thread, time slice (the distance to the one before where all else is equal),
 * samples; weights where an event's samples differ.  Of the functions, for each
 * event: samples itself, with what it called; weights likewise where they
 * differ.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/text.h"
#include "symbolize/symbolize.h"
#include "views/html_data.h"
#include "views/names.h"

enum {
	NAME_COLUMNS = 1000,	/* of names: longer ones are cut */
	TEXT_COLUMNS = 4000,	/* of what can be trusted: the page folds */
	SPECIALS = FLAME_ROOT - FLAME_SPECIAL + 1,
};

struct ids {			/* a dense number for each string that occurs */
	struct u64map map;
	VEC(uint32_t) str;
};

struct encoder {
	const struct html_data *d;
	const struct report *rep;
	struct buf *out;	/* not yet compressed */
	struct buf tmp, safe, cut;
	struct ids images, files;
	uint32_t *func_of;	/* by fk: number in the page */
	uint32_t *frame_of;	/* by fk: a frame of that function */
	uint64_t *per;		/* by column: weight of each sample, 0: differs */
	bool failed;
};

static uint32_t number(struct encoder *e, struct ids *ids, uint32_t str)
{
	uint32_t *id = u64map_slot(&ids->map, str);

	if (!id) {
		e->failed = true;
		return 0;
	}
	if (*id == U64MAP_NONE) {
		*id = (uint32_t)ids->str.n;
		e->failed |= vec_push(&ids->str, str) < 0;
	}
	return *id;
}

/* Text that can do no harm wherever the page puts it. */
static const char *harmless(struct encoder *e, const char *text)
{
	buf_reset(&e->safe);
	buf_reset(&e->cut);
	text_safe(&e->safe, text);
	text_cut(&e->cut, buf_cstr(&e->safe), NAME_COLUMNS);
	return buf_cstr(&e->cut);
}

static const struct row *func_row(const struct encoder *e, size_t func)
{
	return &e->rep->table.rows.v[e->rep->order.v[func]];
}

static int number_functions(struct encoder *e)
{
	const struct frame_keys *k = &e->rep->keys;
	size_t n = k->keys.n;

	e->func_of = calloc(n + 1, sizeof(*e->func_of));
	e->frame_of = malloc((n + 1) * sizeof(*e->frame_of));
	if (!e->func_of || !e->frame_of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		e->frame_of[i] = PROF_NONE;
	for (size_t i = 0; i < k->nframes; i++)
		if (k->steps[i].fk != PROF_NONE)
			e->frame_of[k->steps[i].fk] = (uint32_t)i;
	for (size_t i = 0; i < e->rep->order.n; i++)
		e->func_of[func_row(e, i)->fk] = (uint32_t)i;
	return 0;
}

static uint32_t func_number(const struct encoder *e, uint32_t fk)
{
	if (fk >= FLAME_SPECIAL)
		return (uint32_t)e->rep->order.n + fk - FLAME_SPECIAL;
	return e->func_of[fk];
}

/* Samples of most events weigh the same each: then weights need no columns. */
static int find_weights(struct encoder *e)
{
	size_t nc = e->d->flame.ncols;

	e->per = calloc(nc + 1, sizeof(*e->per));
	if (!e->per)
		return -ERR_NOMEM;
	for (size_t c = 0; c < nc; c++) {
		struct cell all = e->d->flame.total[c];

		e->per[c] = all.count ? all.weight / all.count : 1;
	}
	for (size_t i = 0; i < e->d->entries.n; i++) {
		const struct html_entry *x = &e->d->entries.v[i];

		if (e->per[x->event] * x->c.count != x->c.weight)
			e->per[x->event] = 0;
	}
	return 0;
}

static void put_lines(struct encoder *e, struct json *j, const char *key)
{
	char *save = NULL, *text = (char *)buf_cstr(&e->tmp);

	json_array(j, key);
	for (char *l = strtok_r(text, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		l += *l == '#';
		l += *l == ' ';
		if (*l)
			json_str(j, NULL, l);
	}
	json_end(j);
}

static void put_header(struct encoder *e, struct json *j)
{
	const struct report *rep = e->rep;

	json_object(j, "header");
	truth_json(&rep->truth, j);
	json_end(j);
	buf_reset(&e->tmp);
	truth_text(&rep->truth, TEXT_COLUMNS, &e->tmp);
	put_lines(e, j, "truth");
	buf_reset(&e->tmp);
	missing_text(&rep->missing, e->d->style->missing, TEXT_COLUMNS,
		     &e->tmp);
	put_lines(e, j, "missing");
}

static void put_events(struct encoder *e, struct json *j)
{
	const struct report *rep = e->rep;

	json_array(j, "events");
	for (size_t c = 0; c < rep->agg.ncols; c++) {
		const struct prof_event *ev =
			&rep->p->events.v[rep->agg.cols.v[c]];
		struct cell all = rep->agg.shown[rep->agg.cols.v[c]];

		json_object(j, NULL);
		json_str(j, "name",
			 harmless(e, profile_cstr(rep->p, ev->name)));
		json_str(j, "actual",
			 harmless(e, profile_cstr(rep->p, ev->actual)));
		json_str(j, "unit", ev->unit == PROF_UNIT_NS ? "ns" : "count");
		json_uint(j, "samples", all.count);
		json_uint(j, "weight", all.weight);
		json_uint(j, "per", e->per[c]);
		json_end(j);
	}
	json_end(j);
}

static void put_lanes(struct encoder *e, struct json *j)
{
	const struct html_data *d = e->d;

	json_array_lines(j, "lanes");
	for (size_t i = 0; i < d->lanes.n; i++) {
		const struct html_lane *l = &d->lanes.v[i];

		json_object(j, NULL);
		json_uint(j, "run", l->run + 1ull);
		json_uint(j, "pid", l->pid);
		json_uint(j, "tid", l->tid);
		json_str(j, "comm", harmless(e, profile_cstr(e->rep->p,
							     l->comm)));
		json_uint(j, "samples", l->samples);
		json_uint(j, "others", l->others);
		json_end(j);
	}
	json_end(j);
	json_object(j, "time");
	json_uint(j, "start_ns", d->start_ns - profile_start_ns(e->rep->p));
	json_uint(j, "width_ns", d->width_ns);
	json_uint(j, "buckets", d->buckets);
	json_end(j);
}

static void put_small(struct encoder *e, struct json *j)
{
	const struct flame *f = &e->d->flame;
	struct cell all = { 0, 0 };

	for (size_t i = 0; f->ncols && i < f->nodes.n; i++)
		if (f->nodes.v[i].fk == FLAME_SMALL)
			for (size_t c = 0; c < f->ncols; c++)
				cell_add(&all, f->total[i * f->ncols + c]);
	json_object(j, "small");
	json_fixed(j, "share", e->d->share, 9);
	json_uint(j, "nodes", f->pruned);
	json_uint(j, "samples", all.count);
	json_end(j);
}

/* The name as it is; what is cut away of it does not matter to a page. */
static void func_name(struct encoder *e, size_t func)
{
	buf_reset(&e->tmp);
	flame_name(e->rep, func_row(e, func)->fk, &e->tmp);
}

static void put_names(struct encoder *e, struct json *j)
{
	size_t n = e->rep->order.n;
	struct buf brief = { 0 };

	json_array(j, "name");
	for (size_t i = 0; i < n; i++) {
		func_name(e, i);
		json_str(j, NULL, harmless(e, buf_cstr(&e->tmp)));
	}
	for (uint32_t i = 0; i < SPECIALS; i++) {
		buf_reset(&e->tmp);
		flame_name(e->rep, FLAME_SPECIAL + i, &e->tmp);
		json_str(j, NULL, buf_cstr(&e->tmp));
	}
	json_end(j);
	json_array(j, "short");
	for (size_t i = 0; i < n; i++) {
		const struct frame_key *k =
			&e->rep->keys.keys.v[func_row(e, i)->fk];

		buf_reset(&brief);
		func_name(e, i);
		if (k->sort == FRAME_FUNC)
			demangle_short(buf_cstr(&e->tmp), &brief);
		/* equal to the name: left out */
		if (!strcmp(buf_cstr(&brief), buf_cstr(&e->tmp)))
			buf_reset(&brief);
		json_str(j, NULL, harmless(e, buf_cstr(&brief)));
	}
	json_end(j);
	buf_fini(&brief);
}

static const struct prof_func *func_of_fk(const struct encoder *e, uint32_t fk)
{
	const struct profile *p = e->rep->p;
	uint32_t frame = e->frame_of[fk];

	if (frame == PROF_NONE || p->frames.v[frame].func >= p->funcs.n)
		return NULL;
	return &p->funcs.v[p->frames.v[frame].func];
}

static void put_functions(struct encoder *e, struct json *j)
{
	const struct report *rep = e->rep;
	size_t n = rep->order.n;

	json_object(j, "funcs");
	put_names(e, j);
	json_array(j, "image");
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL,
			  number(e, &e->images,
				 rep->keys.keys.v[func_row(e, i)->fk].image));
	json_end(j);
	json_array(j, "kernel");
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL,
			  rep->keys.keys.v[func_row(e, i)->fk].kernel);
	json_end(j);
	json_array(j, "file");
	for (size_t i = 0; i < n; i++) {
		const struct prof_func *f = func_of_fk(e, func_row(e, i)->fk);

		json_uint(j, NULL, number(e, &e->files, f ? f->file : 0));
	}
	json_end(j);
	json_array(j, "line");
	for (size_t i = 0; i < n; i++) {
		const struct prof_func *f = func_of_fk(e, func_row(e, i)->fk);

		json_uint(j, NULL, f ? f->line : 0);
	}
	json_end(j);
	json_end(j);
}

static void put_ids(struct encoder *e, struct json *j, const char *key,
		    const struct ids *ids)
{
	json_array(j, key);
	for (size_t i = 0; i < ids->str.n; i++)
		json_str(j, NULL,
			 harmless(e, profile_cstr(e->rep->p, ids->str.v[i])));
	json_end(j);
}

static void put_meta(struct encoder *e)
{
	const struct profile *p = e->rep->p;
	struct buf text = { 0 };
	struct json j = json_on(&text);

	json_object(&j, NULL);
	json_uint(&j, "schema", 1);
	json_str(&j, "title", p->runs.n
			? harmless(e, truth_run_title(p, &p->runs.v[0])) : "");
	json_object(&j, "begin");
	json_bool(&j, "flame", e->d->style->flame_only);
	json_bool(&j, "inverted", e->d->style->inverted);
	json_bool(&j, "icicle", e->d->style->icicle);
	json_end(&j);
	put_header(e, &j);
	put_events(e, &j);
	put_lanes(e, &j);
	put_small(e, &j);
	put_functions(e, &j);
	put_ids(e, &j, "images", &e->images);
	put_ids(e, &j, "files", &e->files);
	json_uint(&j, "nodes", e->d->flame.nodes.n);
	json_uint(&j, "entries", e->d->entries.n);
	if (e->d->style->annotation) {
		buf_str(&text, ",\"annotation\":");
		buf_bytes(&text, e->d->style->annotation->p,
			  e->d->style->annotation->n);
	}
	json_end(&j);
	e->failed |= text.failed || text.n > UINT32_MAX;
	buf_u32(e->out, (uint32_t)text.n);
	buf_bytes(e->out, text.p, text.n);
	buf_fini(&text);
}

static void put_nodes(struct encoder *e)
{
	const struct flame *f = &e->d->flame;
	uint32_t *depth = calloc(f->nodes.n + 1, sizeof(*depth));

	if (!depth) {
		e->failed = true;
		return;
	}
	for (size_t i = 1; i < f->nodes.n; i++) {
		depth[i] = depth[f->nodes.v[i].parent] + 1;
		buf_uleb(e->out, depth[i - 1] + 1 - depth[i]);
	}
	free(depth);
	for (size_t i = 1; i < f->nodes.n; i++) {
		const struct flame_node *n = &f->nodes.v[i];

		buf_uleb(e->out, (uint64_t)func_number(e, n->fk) * 2 +
					 n->inlined);
	}
}

static void put_entries(struct encoder *e)
{
	const struct html_entry *v = e->d->entries.v;
	size_t n = e->d->entries.n;

	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].node - (i ? v[i - 1].node : 0));
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].event);
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].lane);
	for (size_t i = 0; i < n; i++) {
		bool same = i && v[i].node == v[i - 1].node &&
			    v[i].event == v[i - 1].event &&
			    v[i].lane == v[i - 1].lane;

		buf_uleb(e->out, same ? v[i].bucket - v[i - 1].bucket
				      : v[i].bucket);
	}
	for (size_t i = 0; i < n; i++)
		buf_uleb(e->out, v[i].c.count);
	for (size_t i = 0; i < n; i++)
		if (!e->per[v[i].event])
			buf_uleb(e->out, v[i].c.weight);
}

static void put_sums(struct encoder *e)
{
	const struct report *rep = e->rep;
	size_t n = rep->order.n;

	for (size_t c = 0; c < rep->agg.ncols; c++) {
		const struct values *v;

		for (size_t i = 0; i < n; i++) {
			v = report_values(rep, rep->order.v[i]) + c;
			buf_uleb(e->out, v->self.count);
		}
		for (size_t i = 0; i < n; i++) {
			v = report_values(rep, rep->order.v[i]) + c;
			buf_uleb(e->out, v->total.count);
		}
		for (size_t i = 0; !e->per[c] && i < n; i++) {
			v = report_values(rep, rep->order.v[i]) + c;
			buf_uleb(e->out, v->self.weight);
		}
		for (size_t i = 0; !e->per[c] && i < n; i++) {
			v = report_values(rep, rep->order.v[i]) + c;
			buf_uleb(e->out, v->total.weight);
		}
	}
}

static void compress_block(struct encoder *e, const struct buf *raw,
			   struct buf *out)
{
	uLongf n = compressBound(raw->n);
	uint8_t *to = buf_room(out, n);

	if (to && compress2(to, &n, raw->p, raw->n, 6) == Z_OK)
		out->n += n;
	else
		e->failed = true;
}

static void encoder_fini(struct encoder *e)
{
	buf_fini(&e->tmp);
	buf_fini(&e->safe);
	buf_fini(&e->cut);
	u64map_fini(&e->images.map);
	u64map_fini(&e->files.map);
	vec_fini(&e->images.str);
	vec_fini(&e->files.str);
	free(e->func_of);
	free(e->frame_of);
	free(e->per);
}

int html_encode(const struct html_data *d, struct buf *out, struct error *err)
{
	struct buf raw = { 0 };
	struct encoder e = { .d = d, .rep = d->rep, .out = &raw };

	e.failed = number_functions(&e) < 0 || find_weights(&e) < 0;
	if (!e.failed) {
		put_meta(&e);
		put_nodes(&e);
		put_entries(&e);
		put_sums(&e);
	}
	e.failed |= raw.failed || e.tmp.failed || e.safe.failed ||
		    e.cut.failed;
	if (!e.failed)
		compress_block(&e, &raw, out);
	encoder_fini(&e);
	buf_fini(&raw);
	return e.failed ? error_set(err, ERR_NOMEM,
				    "out of memory for the page") : 0;
}
