// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Did everything change at once?  Three questions with three answers: whether costs
 * of both sides may be compared as they are (`drifted`: no, the machine may have
 * changed), whether to tell the user that everything did (`shifted`, which takes
 * more), and whether one function merely follows the others.
 */
#include <math.h>
#include <stdlib.h>

#include "check/judge_internal.h"

enum { SHIFT_FUNCS = 3, FEW_FUNCS = 6, VOTES_LEAST = 5 };
#define SHIFT_SE 2.5		/* standard errors: beyond noise */
#define SHIFT_SE_REST 1.5	/* … of what the median says already */
#define VOTE_SE 0.6		/* of the shift: it would be seen in a function */
#define LEAST_KEPT 0.05		/* of all cost: code that did not change */

static int by_share(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Without the largest function, too: that one alone may be what changed.  What
 * is left must have moved by more than its own noise, which is that of samples
 * where it is small; the median of few functions is one of them, so there the
 * rest has to say it all. */
static bool rest_shifted(const struct judge_state *w, double by, bool few,
			 double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew, largest = 0;
	double all = 0, left = 0, rest, least, se;

	for (size_t k = 1; k < w->nkept; k++)
		if (w->out->rows[w->kept[k]].share >
		    w->out->rows[w->kept[largest]].share)
			largest = k;
	for (size_t r = 0; r < w->runs; r++) {
		double x = w->out->totals[r] - series_of(&w->raw, largest)[r];

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

/* Of a function's log ratio, by chance of the samples alone. */
static double sampling_se(const struct judge_state *w,
			  const struct judge_row *row)
{
	return sqrt(1 / greater(row->base * (double)w->in->nbase, 1) +
		    1 / greater(row->now * (double)w->in->nnew, 1));
}

/* Whether most of the larger functions changed by about as much: a median of
 * changes that differ is nobody's. */
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

/* May a function say whether everything changed?  Not where its own code did, unless
 * that of nearly all did: other compiler flags. */
static bool votes(const struct judge_state *w, size_t k, bool any_code)
{
	size_t f = w->kept[k];

	return f < w->in->nfuncs &&
	       (any_code || !w->in->changed || !w->in->changed[f]);
}

/* Who could have seen a change of everything, and who did, by number and by weight.
 * Those too small to tell have no vote. */
struct votes {
	double all, yes;
	size_t nall, nyes;
};

static struct votes count_votes(const struct judge_state *w, double by)
{
	struct votes v = { 0, 0, 0, 0 };
	double all = 0, kept = 0;
	bool any_code;

	for (size_t k = 0; k < w->nkept; k++) {
		double share = w->out->rows[w->kept[k]].share;

		all += share;
		kept += votes(w, k, false) ? share : 0;
	}
	any_code = kept < LEAST_KEPT * all;
	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];
		double se = sampling_se(w, row), x = log(row->now / row->base);

		if (!votes(w, k, any_code) || se > VOTE_SE * fabs(by))
			continue;
		v.nall++;
		v.all += row->share;
		/* nearer to that than to nothing */
		if (fabs(x - by) <= fabs(by) / 2) {
			v.nyes++;
			v.yes += row->share;
		}
	}
	return v;
}

/* Few votes prove nothing. */
static bool most_agree(const struct votes *v)
{
	return v->nall >= VOTES_LEAST && 3 * v->nyes >= 2 * v->nall &&
	       3 * v->yes >= 2 * v->all;
}

/* What is not the function itself changed by about as much, half to twice, and most
 * functions agree on that, or all of a few: the function's cost says nothing that the machine's does
 * not.  A reference that changed by itself excuses nothing. */
bool judge_follows(const struct judge_state *w, size_t k, double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew;
	const double *x = series_of(&w->raw, k), *y = series_of(&w->relative, k);
	double cost[2] = { 0, 0 }, rest, own, least, se;
	struct votes v;

	for (size_t r = 0; r < w->runs; r++) {
		/* the reference without the function: what it was divided by */
		double left = y[r] > 0 ? x[r] / y[r] : 1;

		cost[r >= nb] += left;
		logs[r] = log(greater(left, 1));
	}
	own = w->ma.log_ratio[k];
	rest = log(greater(cost[1], 1) / (double)nn) -
	       log(greater(cost[0], 1) / (double)nb);
	least = 1 / greater((cost[0] + cost[1]) / (double)w->runs, 1);
	se = sqrt(greater(stats_variance(logs, nb), least) / (double)nb +
		  greater(stats_variance(logs + nb, nn), least) / (double)nn);
	if (rest / own < 0.5 || rest / own > 2 ||
	    fabs(rest) <= SHIFT_SE_REST * se)
		return false;
	v = count_votes(w, rest);
	return most_agree(&v) || (v.nall >= SHIFT_FUNCS && v.nyes == v.nall);
}

/* Do the larger half of the functions all cost more, or less, by more than the
 * totals' noise allows? */
void judge_shift(struct judge_state *w, const double *logs,
			 double *scratch)
{
	size_t nb = w->in->nbase, nn = w->in->nnew, n = 0;
	double half, med, se;
	struct votes v;

	if (!w->nkept || nb < 2 || nn < 2)
		return;
	for (size_t k = 0; k < w->nkept; k++)
		scratch[k] = w->out->rows[w->kept[k]].share;
	qsort(scratch, w->nkept, sizeof(*scratch), by_share);
	half = w->nkept % 2 ? scratch[w->nkept / 2]
			    : (scratch[w->nkept / 2 - 1] +
			       scratch[w->nkept / 2]) / 2;
	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];

		if (row->share >= half)
			scratch[n++] = log(row->now / row->base);
	}
	med = stats_median(scratch, n);
	se = sqrt(stats_variance(logs, nb) / (double)nb +
		  stats_variance(logs + nb, nn) / (double)nn) + 1e-6;
	/* of one or two functions, it is they that changed */
	w->out->drifted = n >= SHIFT_FUNCS && fabs(med) > SHIFT_SE * se &&
			  agreed(w, half, med, se) &&
			  rest_shifted(w, med, n < FEW_FUNCS, scratch);
	/* The largest one that did not change disproves it, and so do many small
	 * ones. */
	v = count_votes(w, med);
	w->out->drifted = w->out->drifted && 2 * v.yes >= v.all;
	w->out->shifted = w->out->drifted && most_agree(&v);
	w->out->shift = expm1(med);
}
