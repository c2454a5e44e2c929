// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples in the file's order, and by thread: see walk.h. */
#include <stdlib.h>

#include "export/walk.h"

/* Lanes of a pass over the samples; PROF_NONE is none. */
struct pass {
	struct export *x;
	uint32_t first, last;
	export_sample_fn *fn;
	void *ctx;
};

static int pass_batch(const struct pass *w, const struct sample_batch *b,
		      const uint32_t *keep, size_t n, struct error *err)
{
	const struct export *x = w->x;
	int rc = 0;

	for (size_t k = 0; !rc && k < n; k++) {
		size_t i = keep[k];
		uint32_t lane = x->lane_of[b->thread[i]];
		struct export_sample s = {
			b->time_ns[i], b->weight[i], b->stack[i], lane,
			x->a.col_of[b->event[i]], b->cpu[i],
		};

		if (lane >= w->first && lane < w->last && s.col != PROF_NONE)
			rc = w->fn(w->ctx, &s, err);
	}
	return rc;
}

static int run_pass(const struct pass *w, struct error *err)
{
	struct export *x = w->x;
	uint32_t *keep = malloc(SAMPLE_BATCH * sizeof(*keep));
	struct sample_batch b;
	int rc = 0;

	if (!keep)
		return export_nomem(err);
	reader_columns(x->r, COLUMN_ALL);
	reader_rewind(x->r);
	while (!rc && reader_next(x->r, &b))
		rc = pass_batch(w, &b, keep, selection_apply(&x->sel, &b, keep),
				err);
	free(keep);
	return rc;
}

int export_samples(struct export *x, export_sample_fn *fn, void *ctx,
		   struct error *err)
{
	struct pass w = { x, 0, (uint32_t)x->a.lanes.n, fn, ctx };

	return run_pass(&w, err);
}

static int hold(void *ctx, const struct export_sample *s, struct error *err)
{
	struct export *x = ctx;

	return vec_push(&x->held, *s) < 0 ? export_nomem(err) : 0;
}

static int by_lane_and_time(const void *p, const void *q)
{
	const struct export_sample *a = p, *b = q;

	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->col != b->col)
		return a->col < b->col ? -1 : 1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static uint64_t lane_count(const struct export *x, uint32_t lane)
{
	uint64_t n = 0;

	for (size_t c = 0; c < x->a.ncols; c++)
		n += x->totals[lane * x->a.ncols + c].count;
	return n;
}

/* Takes this thread's samples and those of the next ones that fit. */
static int hold_lanes(struct export *x, uint32_t lane, struct error *err)
{
	struct pass w = { x, lane, lane + 1, hold, x };
	uint64_t n = lane_count(x, lane);
	int rc;

	while (w.last < x->a.lanes.n &&
	       n + lane_count(x, w.last) <= EXPORT_SAMPLES)
		n += lane_count(x, w.last++);
	x->held.n = 0;
	x->held_first = x->held_last = 0;
	if (vec_reserve(&x->held, (size_t)n) < 0)
		return export_nomem(err);
	rc = run_pass(&w, err);
	if (rc)
		return rc;
	if (x->held.n)
		qsort(x->held.v, x->held.n, sizeof(*x->held.v),
		      by_lane_and_time);
	x->held_first = lane;
	x->held_last = w.last;
	return 0;
}

int export_thread_samples(struct export *x, uint32_t lane,
			  export_sample_fn *fn, void *ctx, struct error *err)
{
	size_t lo = 0, hi;
	int rc = 0;

	/* A thread with more than may be held comes as the file has it, which is
	 * in order of time within a thread. */
	if (lane_count(x, lane) > EXPORT_SAMPLES) {
		struct pass w = { x, lane, lane + 1, fn, ctx };

		return run_pass(&w, err);
	}
	if (lane < x->held_first || lane >= x->held_last)
		rc = hold_lanes(x, lane, err);
	for (hi = x->held.n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (x->held.v[mid].lane < lane)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; !rc && lo < x->held.n && x->held.v[lo].lane == lane; lo++)
		rc = fn(ctx, &x->held.v[lo], err);
	return rc;
}
