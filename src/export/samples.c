// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks samples in the order of the file, and by thread (see walk.h). */
#include <stdlib.h>

#include "base/search.h"
#include "export/walk.h"

/* Range of lanes of a pass over the samples. */
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
		return error_nomem(err);
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

static int by_time(const void *p, const void *q)
{
	const struct export_sample *a = p, *b = q;

	return ascending(a->time_ns, b->time_ns) ?:
	       ascending(a->col, b->col) ?:
	       ascending(a->stack, b->stack);
}

static uint64_t lane_count(const struct export *x, uint32_t lane)
{
	uint64_t n = 0;

	for (size_t c = 0; c < x->a.ncols; c++)
		n += x->totals[lane * x->a.ncols + c].count;
	return n;
}

static int hold(void *ctx, const struct export_sample *s, struct error *err)
{
	struct export *x = ctx;
	uint32_t i = s->lane - x->held_first;

	if (x->held_next[i] >= x->held_from[i + 1])
		return error_set(err, ERR_FORMAT, "a thread has more samples "
				 "than were counted");
	x->held.v[x->held_next[i]++] = *s;
	return 0;
}

/* Makes room for the samples of `n` threads from `lane` on, thread by
 * thread. */
static int hold_room(struct export *x, uint32_t lane, uint32_t n,
		     struct error *err)
{
	size_t all = 0;

	free(x->held_from);
	free(x->held_next);
	x->held_from = malloc((n + 1ul) * sizeof(*x->held_from));
	x->held_next = malloc((n + 1ul) * sizeof(*x->held_next));
	if (!x->held_from || !x->held_next)
		return error_nomem(err);
	for (uint32_t i = 0; i <= n; i++) {
		x->held_from[i] = x->held_next[i] = all;
		all += i < n ? (size_t)lane_count(x, lane + i) : 0;
	}
	x->held.n = 0;
	return vec_reserve(&x->held, all) < 0 ? error_nomem(err) : 0;
}

/* Sorts a thread's samples by time.  Files already have this order, unless
 * several recordings were merged. */
static void order_thread(struct export_sample *s, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by_time(&s[i - 1], &s[i]) > 0) {
			sort_rows(s, n, by_time);
			return;
		}
}

/* Reads the samples of this thread and of the next ones that fit. */
static int hold_lanes(struct export *x, uint32_t lane, struct error *err)
{
	struct pass w = { x, lane, lane + 1, hold, x };
	uint64_t n = lane_count(x, lane);
	int rc;

	while (w.last < x->a.lanes.n &&
	       n + lane_count(x, w.last) <= EXPORT_SAMPLES)
		n += lane_count(x, w.last++);
	x->held_first = x->held_last = lane;
	rc = hold_room(x, lane, w.last - lane, err) ?: run_pass(&w, err);
	for (uint32_t i = 0; !rc && i < w.last - lane; i++)
		order_thread(&x->held.v[x->held_from[i]],
			     x->held_next[i] - x->held_from[i]);
	if (!rc)
		x->held_last = w.last;
	return rc;
}

int export_thread_samples(struct export *x, uint32_t lane,
			  export_sample_fn *fn, void *ctx, struct error *err)
{
	uint32_t at;
	int rc = 0;

	/* A thread with more samples than may be held is walked in the file's
	 * order, which is by time within a thread. */
	if (lane_count(x, lane) > EXPORT_SAMPLES) {
		struct pass w = { x, lane, lane + 1, fn, ctx };

		return run_pass(&w, err);
	}
	if (lane < x->held_first || lane >= x->held_last)
		rc = hold_lanes(x, lane, err);
	at = lane - x->held_first;
	for (size_t i = rc ? 0 : x->held_from[at];
	     !rc && i < x->held_next[at]; i++)
		rc = fn(ctx, &x->held.v[i], err);
	return rc;
}
