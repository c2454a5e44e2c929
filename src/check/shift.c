// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Did everything change at once?  Three questions have separate answers:
 *
 *	drifted		may absolute costs of both sides be compared?  If set, they may
 *			not, because the machine may have changed
 *	shifted		should the user be told that everything changed?  This needs
 *			more evidence
 *	follows		did one function merely change like the others?
 */
#include <math.h>
#include <stdlib.h>

#include "base/search.h"
#include "check/judge_internal.h"
#include "check/votes.h"

enum { SHIFT_FUNCS = 3, FEW_FUNCS = 6 };
#define SHIFT_SE 2.5		/* standard errors beyond which a shift is not
				 * noise */
#define SHIFT_SE_REST 1.5	/* the same without the largest function, which
				 * adds to the median's evidence */
#define MIN_KEPT 0.05		/* share of all cost in unchanged code that matters */

static int by_share(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return ascending(*x, *y);
}

/* Tests the shift without the largest function, which may be the only one that
 * changed.  The remaining cost must have moved by more than its own noise, which
 * for small costs is the sampling noise.  With few functions, the largest one may
 * be the median, so the remaining cost alone must prove the shift. */
static bool remaining_shifted(const struct judge_state *w, double by, bool few,
			      double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew, largest = 0;
	double all = 0, left = 0, rest, least, se;

	for (size_t k = 1; k < w->nkept; k++)
		if (w->out->rows[w->kept[k]].share >
		    w->out->rows[w->kept[largest]].share)
			largest = k;
	for (size_t r = 0; r < w->runs; r++) {
		double x = w->out->totals[r] - run_costs_of(&w->raw, largest)[r];

		all += w->out->totals[r];
		left += x;
		logs[r] = log(greater(x, 1));
	}
	rest = stats_mean(logs + nb, nn) - stats_mean(logs, nb);
	least = (1 - left / all) * (double)w->runs / greater(left, 1);
	se = sqrt(greater(stats_variance(logs, nb), least) / (double)nb +
		  greater(stats_variance(logs + nb, nn), least) / (double)nn);
	return fabs(rest) > (few ? SHIFT_SE : SHIFT_SE_REST) * se &&
	       rest / by >= 0.5;
}

/* Returns the standard error of a function's log ratio by sampling alone. */
static double sampling_se(const struct judge_state *w,
			  const struct judge_row *row)
{
	return sqrt(1 / greater(row->base * (double)w->in->nbase, 1) +
		    1 / greater(row->now * (double)w->in->nnew, 1));
}

/* Returns whether most of the larger functions changed by about as much.  The
 * median of differing changes represents none of them. */
static bool agreed(const struct judge_state *w, double half, double by,
		   double total_se)
{
	size_t n = 0, agree = 0;

	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];
		double se = hypot(sampling_se(w, row), total_se);

		if (row->share < half)
			continue;
		n++;
		agree += fabs(log(row->now / row->base) - by) <=
			 fabs(by) / 3 + 2 * se;
	}
	return 2 * agree > n;
}

/* Returns whether a function may vote on a common change.  It may not if its own
 * code changed, unless nearly all code did, for example by other compiler flags. */
static bool votes(const struct judge_state *w, size_t k, bool any_code)
{
	size_t f = w->kept[k];

	return f < w->in->nfuncs &&
	       (any_code || !w->in->changed || !w->in->changed[f]);
}

static struct votes count_votes(const struct judge_state *w, double by)
{
	struct votes v = { .all = 0 };
	double all = 0, kept = 0;
	bool any_code;

	for (size_t k = 0; k < w->nkept; k++) {
		double share = w->out->rows[w->kept[k]].share;

		all += share;
		kept += votes(w, k, false) ? share : 0;
	}
	any_code = kept < MIN_KEPT * all;
	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];

		if (votes(w, k, any_code))
			votes_add(&v, by, log(row->now / row->base),
				  sampling_se(w, row), row->share);
	}
	return v;
}

/* Returns whether the other functions changed by about as much, half to twice, and
 * most functions agree, or all if there are few.  The function's cost then shows
 * only the machine's change.  A reference that changed by itself does not count. */
bool judge_follows(const struct judge_state *w, size_t k, double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew;
	const double *x = run_costs_of(&w->raw, k), *y = run_costs_of(&w->relative, k);
	double cost[2] = { 0, 0 }, rest, own, least, se;
	struct votes v;

	for (size_t r = 0; r < w->runs; r++) {
		/* the reference without the function, which was the divisor */
		double left = y[r] > 0 ? x[r] / y[r] : 1;

		cost[r >= nb] += left;
		logs[r] = log(greater(left, 1));
	}
	own = w->raw.change[k].log_ratio;
	rest = log(greater(cost[1], 1) / (double)nn) -
	       log(greater(cost[0], 1) / (double)nb);
	least = 1 / greater((cost[0] + cost[1]) / (double)w->runs, 1);
	se = sqrt(greater(stats_variance(logs, nb), least) / (double)nb +
		  greater(stats_variance(logs + nb, nn), least) / (double)nn);
	if (rest / own < 0.5 || rest / own > 2 ||
	    fabs(rest) <= SHIFT_SE_REST * se)
		return false;
	v = count_votes(w, rest);
	return votes_together(&v);
}

/* Decides whether the larger half of the functions all cost more, or less, by more
 * than the noise of the totals allows. */
int judge_shift(struct judge_state *w, const double *logs, double *scratch)
{
	size_t nb = w->in->nbase, nn = w->in->nnew, n = 0;
	struct stats_weighted *by = arrays_new(&w->arrays, w->nkept, sizeof(*by));
	double half, med, se;
	struct votes v;

	if (!by)
		return -ERR_NOMEM;
	if (!w->nkept || nb < 2 || nn < 2)
		return 0;
	for (size_t k = 0; k < w->nkept; k++)
		scratch[k] = w->out->rows[w->kept[k]].share;
	sort_rows(scratch, w->nkept, by_share);
	half = w->nkept % 2 ? scratch[w->nkept / 2]
			    : (scratch[w->nkept / 2 - 1] +
			       scratch[w->nkept / 2]) / 2;
	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];

		if (row->share >= half)
			by[n++] = (struct stats_weighted){
				log(row->now / row->base), row->share,
			};
	}
	/* the changes of larger functions are known better */
	med = stats_weighted_median(by, n);
	se = sqrt(stats_variance(logs, nb) / (double)nb +
		  stats_variance(logs + nb, nn) / (double)nn) + 1e-6;
	/* with one or two functions, it is they that changed */
	w->out->drifted = n >= SHIFT_FUNCS && fabs(med) > SHIFT_SE * se &&
			  agreed(w, half, med, se) &&
			  remaining_shifted(w, med, n < FEW_FUNCS, scratch);
	/* One large unchanged function disproves it, and so do many small ones. */
	v = count_votes(w, med);
	w->out->drifted = w->out->drifted && 2 * v.yes >= v.all &&
			  !votes_against(&v);
	w->out->shifted = w->out->drifted && votes_majority(&v);
	w->out->shift = expm1(med);
	return 0;
}
