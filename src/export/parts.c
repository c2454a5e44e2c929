// SPDX-License-Identifier: GPL-2.0-or-later
/* Divides a recording into parts by window of time, group of threads and event.
 * Samples are held, sorted by part and stack, and summed. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/search.h"
#include "export/walk.h"

struct item {			/* a sample */
	uint64_t window;
	struct cell c;
	uint32_t group, col, node, lane;
};

struct divide {
	struct export x;
	struct export_sink sink;
	struct buf bytes;	/* bytes of the current part */
	export_part_fn *fn;
	void *ctx;
	uint64_t first_wall, last_wall;	/* range of the recorded time */
	uint64_t repeats;	/* earlier parts of the same window and slice, or of
				 * the same window, if they are together */
	VEC(struct item) items;
	VEC(struct export_slice) all;	/* slices of the window, over x.cells */
	VEC(struct export_slice) some;	/* slices of the part */
};

static int keep_bytes(void *ctx, const void *p, size_t n, struct error *err)
{
	struct divide *d = ctx;

	buf_bytes(&d->bytes, p, n);
	return d->bytes.failed ? error_nomem(err) : 0;
}

/* Makes the lanes: threads of a group with the same name share one. */
static int make_lanes(struct divide *d, struct error *err)
{
	struct export *x = &d->x;
	struct u64map map = { 0 };
	int rc = 0;

	x->lane_of = calloc(x->p->threads.n + 1, sizeof(*x->lane_of));
	if (!x->lane_of)
		return error_nomem(err);
	for (size_t i = 0; !rc && i < x->p->threads.n; i++) {
		uint32_t group = x->division->group_of[i];
		struct lane l = { .comm = x->p->threads.v[i].comm,
				  .group = group };

		x->lane_of[i] = u64map_row(&map, &x->a.lanes,
					   (uint64_t)group << 32 | l.comm, &l);
		if (x->lane_of[i] == U64MAP_NONE)
			rc = error_nomem(err);
	}
	u64map_fini(&map);
	return rc;
}

static int open_parts(struct divide *d, struct error *err)
{
	struct export *x = &d->x;
	int rc = selection_init(&x->sel, x->p, &x->spec->select, err);

	x->a.p = x->p;
	if (!rc)
		rc = export_open_names(x, err);
	for (uint32_t e = 0; !rc && e < x->p->events.n; e++)
		if (vec_push(&x->a.cols, e) < 0)
			rc = error_nomem(err);
	x->a.ncols = x->a.cols.n;
	if (!rc)
		rc = make_lanes(d, err);
	d->first_wall = UINT64_MAX;
	for (size_t i = 0; i < x->p->runs.n; i++) {
		const struct prof_run *r = &x->p->runs.v[i];
		uint64_t end = r->end_ns > r->start_ns
			? r->start_wall_ns + (r->end_ns - r->start_ns) : 0;

		if (r->start_wall_ns < d->first_wall)
			d->first_wall = r->start_wall_ns;
		if (end > d->last_wall)
			d->last_wall = end;
	}
	return rc;
}

static int by_part(const void *pa, const void *pb)
{
	const struct item *a = pa, *b = pb;

	return ascending(a->window, b->window) ?:
	       ascending(a->group, b->group) ?: ascending(a->col, b->col) ?:
	       ascending(a->node, b->node) ?: ascending(a->lane, b->lane);
}

/* Selects the slices of the window within cells [first, first + n). */
static int choose_slices(struct divide *d, size_t first, size_t n,
			 struct error *err)
{
	d->some.n = 0;
	for (size_t i = 0; i < d->all.n; i++) {
		struct export_slice s = d->all.v[i];
		size_t end = s.first + s.n;

		if (end <= first || s.first >= first + n)
			continue;
		if (s.first < first)
			s.first = first;
		if (end > first + n)
			end = first + n;
		s.n = end - s.first;
		if (vec_push(&d->some, s) < 0)
			return error_nomem(err);
	}
	return 0;
}

static void describe(const struct divide *d, uint64_t window,
		     struct export_part *part, size_t first, size_t n)
{
	const struct export *x = &d->x;
	uint64_t length = x->division->window_ns;
	uint64_t from = window * length, to = from + length;

	if (from < d->first_wall)
		from = d->first_wall;
	if (d->last_wall && to > d->last_wall)
		to = d->last_wall;
	/* Servers that keep copies take profiles with the same labels and time for
	 * one profile. */
	if (d->repeats && from + d->repeats < to)
		from += d->repeats;
	*part = (struct export_part){ .wall_ns = from,
				      .duration_ns = to > from ? to - from : 1,
				      .group = d->some.v[0].group,
				      .event = x->a.cols.v[d->some.v[0].col],
				      .samples = n };
	for (size_t i = first; i < first + n; i++)
		part->count += x->cells.v[i].c.count;
}

/* Writes cells [first, first + n) as one part.  A part that is too large is
 * written in halves. */
static int write_part(struct divide *d, uint64_t window, size_t first, size_t n,
		      struct error *err)
{
	struct export *x = &d->x;
	struct export_part part;
	int rc = choose_slices(d, first, n, err);

	if (rc || !d->some.n)
		return rc;
	describe(d, window, &part, first, n);
	x->part = &part;
	x->slices = d->some.v;
	x->nslices = d->some.n;
	x->slice = x->division->together ? NULL : x->slices;
	x->raw_bytes = 0;
	buf_again(&d->bytes);
	if (x->z && deflateReset(x->z) != Z_OK)
		return error_set(err, ERR_IO, "zlib cannot compress");
	rc = x->format->write(x, err) ?: export_flush(x, true, err);
	x->part = NULL;
	x->slice = NULL;
	if (rc)
		return rc;
	if (n > 1 && x->raw_bytes > x->division->max_bytes)
		return write_part(d, window, first, n / 2, err) ?:
		       write_part(d, window, first + n / 2, n - n / 2, err);
	d->repeats++;
	return d->fn(d->ctx, &part, &d->bytes, err);
}

/* Sums items [from, to) of one window into cells and slices. */
static int sum_window(struct divide *d, size_t from, size_t to,
		      struct error *err)
{
	struct export *x = &d->x;
	const struct item *last = NULL;

	x->cells.n = x->a.leaves.n = d->all.n = 0;
	for (size_t i = from; i < to; i++) {
		const struct item *it = &d->items.v[i];
		struct cell one = it->c;
		bool new_slice = !last || last->group != it->group ||
				 last->col != it->col;

		if ((!last || last->node != it->node || new_slice) &&
		    vec_push(&x->a.leaves, it->node) < 0)
			return error_nomem(err);
		if (new_slice &&
		    vec_push(&d->all, (struct export_slice){
			    it->group, it->col, x->cells.n, 0 }) < 0)
			return error_nomem(err);
		if (last && !by_part(last, it)) {
			cell_add(&x->cells.v[x->cells.n - 1].c, one);
			continue;
		}
		if (vec_push(&x->cells, (struct export_cell){
			    (uint32_t)x->a.leaves.n - 1, it->lane, it->col,
			    one }) < 0)
			return error_nomem(err);
		d->all.v[d->all.n - 1].n++;
		last = it;
	}
	return 0;
}

static int write_window(struct divide *d, size_t from, size_t to,
			struct error *err)
{
	struct export *x = &d->x;
	uint64_t window = d->items.v[from].window;
	size_t most = x->division->max_samples, slice = 0;
	int rc = sum_window(d, from, to, err);

	d->repeats = 0;
	for (size_t at = 0; !rc && at < x->cells.n;) {
		size_t n = x->cells.n - at;

		if (!x->division->together) {
			const struct export_slice *s = &d->all.v[slice];

			if (at == s->first)
				d->repeats = 0;
			n = s->first + s->n - at;
			if (n <= most)
				slice++;
		}
		if (n > most)
			n = most;
		rc = write_part(d, window, at, n, err);
		at += n;
	}
	return rc;
}

static int write_held(struct divide *d, struct error *err)
{
	size_t n = d->items.n, from = 0;
	int rc = 0;

	sort_rows(d->items.v, n, by_part);
	for (size_t i = 1; !rc && i <= n; i++)
		if (i == n || d->items.v[i].window != d->items.v[from].window) {
			rc = write_window(d, from, i, err);
			from = i;
		}
	d->items.n = 0;
	return rc;
}

static uint64_t wall_of(const struct profile *p, uint32_t thread, uint64_t t)
{
	const struct prof_run *r = &p->runs.v[p->threads.v[thread].run];

	return r->start_wall_ns + (t > r->start_ns ? t - r->start_ns : 0);
}

static int hold_samples(struct divide *d, const struct sample_batch *b,
			struct error *err)
{
	struct export *x = &d->x;
	uint32_t keep[SAMPLE_BATCH];
	size_t n = selection_apply(&x->sel, b, keep);
	int rc = 0;

	for (size_t k = 0; !rc && k < n; k++) {
		uint32_t i = keep[k], thread = b->thread[i];
		uint64_t wall = wall_of(x->p, thread, b->time_ns[i]);
		struct item it = { .window = wall / x->division->window_ns,
				   .c = batch_cell(b, i),
				   .group = x->division->group_of[thread],
				   .col = b->event[i], .node = b->stack[i],
				   .lane = x->lane_of[thread] };

		if (wall >= d->last_wall)
			d->last_wall = wall + 1;
		if (d->items.n >= EXPORT_SAMPLES)
			rc = write_held(d, err);
		if (!rc && vec_push(&d->items, it) < 0)
			rc = error_nomem(err);
	}
	return rc;
}

int export_divide(struct reader *r, const struct export_format *f,
		  const struct export_spec *spec,
		  const struct export_division *division, export_part_fn *fn,
		  void *ctx, struct error *err)
{
	struct divide d = {
		.x = { .r = r, .p = reader_profile(r), .spec = spec,
		       .format = f, .division = division },
		.sink = { .put = keep_bytes }, .fn = fn, .ctx = ctx,
	};
	struct sample_batch b;
	int rc;

	if (!(f->flags & EXPORT_PARTS))
		return error_set(err, ERR_USAGE, "%s cannot be written in "
				 "parts", f->name);
	d.sink.ctx = &d;
	d.x.sink = &d.sink;
	rc = open_parts(&d, err);
	reader_columns(r, COLUMN_ALL & ~COLUMN_CPU);
	if (d.x.sel.cpus.n)
		reader_columns(r, COLUMN_ALL);
	reader_rewind(r);
	while (!rc && reader_next(r, &b))
		rc = hold_samples(&d, &b, err);
	if (!rc)
		rc = write_held(&d, err);
	export_close(&d.x);
	buf_fini(&d.bytes);
	vec_fini(&d.items);
	vec_fini(&d.all);
	vec_fini(&d.some);
	return rc;
}
