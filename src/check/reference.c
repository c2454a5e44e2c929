// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the reference: functions that did not change.  It is the measure for all
 * others, because a machine that is 8 % slower today affects all of them.
 *
 * The reference begins with everything except functions whose cost comes in bursts
 * (interrupts, the scheduler), whose noise would affect each ratio.  Then the
 * function with the clearest change is removed, repeatedly.  Neither a large
 * regression nor a large improvement thus distorts the others.
 */
#include <math.h>
#include <stdlib.h>

#include "check/judge_internal.h"

enum { EXCLUDE_MAX = 8, BURST_SAMPLES = 5 };
#define MIN_REFERENCE 0.3	/* share of all cost */
#define EXCLUDE_ALPHA 0.01

static double all_cost(const struct judge_state *w, const bool *in)
{
	double sum = 0;

	for (size_t r = 0; r < w->runs; r++)
		for (size_t f = 0; f < w->in->nfuncs; f++)
			if (!in || in[f])
				sum += judge_cost(w, r, f);
	return sum;
}

/* Finds bursty functions by the spread within a side, which ignores differences
 * between the sides. */
static int exclude_bursty(struct judge_state *w, bool *calm)
{
	size_t n = w->in->nfuncs;
	bool *big = calloc(n + 1, sizeof(*big));
	struct run_costs c;
	int rc = run_costs_init(&c, n, w->in->nbase, w->in->nnew);

	for (size_t f = 0; big && !rc && f < n; f++) {
		double *y = run_costs_of(&c, f), mu;

		for (size_t r = 0; r < w->runs; r++)
			y[r] = judge_cost(w, r, f);
		mu = (stats_mean(y, c.nold) + stats_mean(y + c.nold, c.nnew)) / 2;
		c.v0[f] = 1 / greater(mu, 1);
		big[f] = mu >= BURST_SAMPLES;
	}
	if (big && !rc) {
		run_costs_bursty(&c, big, 2);
		for (size_t f = 0; f < n; f++)
			calm[f] &= !c.bursty[f];
	}
	rc = big ? rc : -ERR_NOMEM;
	free(big);
	run_costs_fini(&c);
	return rc;
}

/* Sums the cost of the reference by run, and the part of it in the small
 * functions. */
static void sum_reference(struct judge_state *w, const bool *in)
{
	for (size_t r = 0; r < w->runs; r++) {
		double others = 0, all = 0;

		for (size_t f = 0; f < w->in->nfuncs; f++) {
			if (!in[f])
				continue;
			all += judge_cost(w, r, f);
			if (w->other[f])
				others += judge_cost(w, r, f);
		}
		w->ref[r] = all;
		w->others_ref[r] = others;
	}
}

/* Divides each function's cost by the reference without that function. */
static void relate(struct judge_state *w)
{
	struct run_costs *s = &w->relative;

	for (size_t k = 0; k < w->nkept; k++) {
		const double *x = run_costs_of(&w->raw, k);
		double *y = run_costs_of(s, k), mu, md[2] = { 0, 0 };
		bool others = w->kept[k] == w->in->nfuncs;

		for (size_t r = 0; r < w->runs; r++) {
			double den = w->ref[r];

			if (w->in_ref[k])
				den -= others ? w->others_ref[r] : x[r];
			den = den > 1 ? den : 1;
			md[r >= s->nold] += den;
			y[r] = x[r] / den;
		}
		mu = (stats_mean(x, s->nold) +
		      stats_mean(x + s->nold, s->nnew)) / 2;
		s->v0[k] = 1 / (mu > 1 ? mu : 1) +
			   2 / (md[0] / (double)s->nold +
				md[1] / (double)s->nnew);
	}
	run_costs_estimate(s);
}

/* Returns the member with the clearest change, nkept if no change is clear. */
static size_t clearest(const struct judge_state *w)
{
	const struct log_change *m = w->relative.change;
	size_t best = w->nkept;
	double most = 0;

	for (size_t k = 0; k < w->nkept; k++) {
		double t = fabs(m[k].log_ratio) / m[k].se;

		if (w->in_ref[k] && t > most) {
			most = t;
			best = k;
		}
	}
	if (best < w->nkept && 2 * stats_t_above(most, m[best].df) *
				       (double)w->nkept > EXCLUDE_ALPHA)
		return w->nkept;
	return best;
}

static void set_member(struct judge_state *w, bool *in, size_t k, bool to,
		       const bool *calm)
{
	w->in_ref[k] = to;
	if (w->kept[k] < w->in->nfuncs) {
		in[w->kept[k]] = to;
		return;
	}
	for (size_t f = 0; f < w->in->nfuncs; f++)
		if (w->other[f])
			in[f] = to && calm[f];
}

int judge_reference(struct judge_state *w)
{
	size_t n = w->in->nfuncs;
	bool *in = w->out->in_reference;
	bool *calm = arrays_new(&w->arrays, n + 1, sizeof(*calm));
	double all = all_cost(w, NULL);

	if (!calm)
		return -ERR_NOMEM;
	if (w->in->reference) {
		for (size_t r = 0; r < w->runs; r++)
			w->ref[r] = w->in->reference[r];
		relate(w);
		return 0;
	}
	for (size_t f = 0; f < n; f++)
		calm[f] = w->out->rows[f].status != JUDGE_NEW &&
			  w->out->rows[f].status != JUDGE_REMOVED &&
			  (w->out->rows[f].status != JUDGE_SMALL || w->other[f]);
	if (w->runs >= 4 && exclude_bursty(w, calm) < 0)
		return -ERR_NOMEM;
	if (all_cost(w, calm) < MIN_REFERENCE * all)
		for (size_t f = 0; f < n; f++)
			calm[f] = true;
	for (size_t f = 0; f < n; f++)
		in[f] = calm[f];
	for (size_t k = 0; k < w->nkept; k++)
		w->in_ref[k] = w->kept[k] == n || calm[w->kept[k]];
	for (int i = 0; i <= EXCLUDE_MAX; i++) {
		size_t k;

		sum_reference(w, in);
		relate(w);
		k = clearest(w);
		if (k == w->nkept || i == EXCLUDE_MAX)
			break;
		set_member(w, in, k, false, calm);
		if (all_cost(w, in) >= MIN_REFERENCE * all)
			continue;
		set_member(w, in, k, true, calm);
		sum_reference(w, in);
		break;
	}
	return 0;
}
