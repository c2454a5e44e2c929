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
static void exclude_bursty(struct judge_state *w, bool *calm)
{
	size_t n = w->in->nfuncs, d = w->runs - 2;
	struct series s = { .n = n, .prior = n, .nbase = w->in->nbase,
			    .nnew = w->in->nnew };
	struct stats_weighted *tmp = calloc(n + 1, sizeof(*tmp));
	bool *big = calloc(n + 1, sizeof(*big));
	double *v = calloc(n + 1, sizeof(*v)), tau2;

	s.y = calloc(n * w->runs + 1, sizeof(*s.y));
	s.v0 = calloc(n + 1, sizeof(*s.v0));
	if (tmp && big && v && s.y && s.v0) {
		for (size_t f = 0; f < n; f++) {
			double *y = series_of(&s, f), mu;

			for (size_t r = 0; r < w->runs; r++)
				y[r] = judge_cost(w, r, f);
			mu = (stats_mean(y, s.nbase) +
			      stats_mean(y + s.nbase, s.nnew)) / 2;
			s.v0[f] = 1 / (mu > 1 ? mu : 1);
			big[f] = mu >= BURST_SAMPLES;
		}
		series_variance(&s, v);
		tau2 = common_tau2(v, s.v0, big, n, d, tmp);
		for (size_t f = 0; f < n; f++)
			if (big[f] && is_bursty(v[f], 2 * (s.v0[f] + tau2), d))
				calm[f] = false;
	}
	free(tmp);
	free(big);
	free(v);
	free(s.y);
	free(s.v0);
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
	struct series *s = &w->relative;

	for (size_t k = 0; k < w->nkept; k++) {
		const double *x = series_of(&w->raw, k);
		double *y = series_of(s, k), mu, md[2] = { 0, 0 };
		bool others = w->kept[k] == w->in->nfuncs;

		for (size_t r = 0; r < w->runs; r++) {
			double den = w->ref[r];

			if (w->in_ref[k])
				den -= others ? w->others_ref[r] : x[r];
			den = den > 1 ? den : 1;
			md[r >= s->nbase] += den;
			y[r] = x[r] / den;
		}
		mu = (stats_mean(x, s->nbase) +
		      stats_mean(x + s->nbase, s->nnew)) / 2;
		s->v0[k] = 1 / (mu > 1 ? mu : 1) +
			   2 / (md[0] / (double)s->nbase +
				md[1] / (double)s->nnew);
	}
	shrink_variances(s, &w->mr);
}

/* Returns the member with the clearest change, nkept if no change is clear. */
static size_t clearest(const struct judge_state *w)
{
	const struct moderated *m = &w->mr;
	size_t best = w->nkept;
	double most = 0;

	for (size_t k = 0; k < w->nkept; k++) {
		double t = fabs(m->log_ratio[k]) / m->se[k];

		if (w->in_ref[k] && t > most) {
			most = t;
			best = k;
		}
	}
	if (best < w->nkept && 2 * stats_t_above(most, m->df[best]) *
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
	bool *calm = judge_alloc(w, n + 1, sizeof(*calm));
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
	if (w->runs >= 4)
		exclude_bursty(w, calm);
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
