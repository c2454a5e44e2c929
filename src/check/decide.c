// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions changed: by the test, by the size of the change, and by whether it
 * is there in more than one run.  See judge.h. */
#include <math.h>

#include "check/judge_internal.h"

/* Not the work of one run: without the costliest new and the cheapest baseline
 * run, or the other way round, the change is still there, and still of a size
 * that counts.  `impact` is that size by the mean of the baseline. */
static bool consistent(const struct series *s, size_t k, double factor,
		       double impact, bool slower)
{
	const double *y = series_of(s, k);
	double sum[2] = { 0, 0 }, drop[2] = { y[0], y[s->nbase] }, least;

	if (s->nbase < 3 || s->nnew < 3)
		return true;
	for (size_t r = 0; r < s->nbase + s->nnew; r++) {
		bool new = r >= s->nbase;
		bool largest = new == slower;

		sum[new] += y[r];
		if (largest ? y[r] > drop[new] : y[r] < drop[new])
			drop[new] = y[r];
	}
	least = impact * sum[0] / (double)s->nbase;
	sum[0] = (sum[0] - drop[0]) / (double)(s->nbase - 1);
	sum[1] = (sum[1] - drop[1]) / (double)(s->nnew - 1);
	return fabs(sum[1] - sum[0]) >= least &&
	       (slower ? sum[1] > sum[0] * factor : sum[0] > sum[1] * factor);
}

static void fill_row(struct judge_work *w, size_t k)
{
	struct judge_row *row = &w->out->rows[w->kept[k]];
	const struct moderated *m = row->absolute ? &w->ma : &w->mr;
	double margin = log1p(w->out->o.margin), wide;

	row->log_ratio = m->log_ratio[k];
	row->se = m->se[k];
	row->df = m->df[k];
	row->bursty = m->bursty[k];
	wide = stats_t_quantile(0.975, row->df) * row->se;
	row->ratio = exp(row->log_ratio);
	row->low = exp(row->log_ratio - wide);
	row->high = exp(row->log_ratio + wide);
	row->p = stats_t_above((row->log_ratio - margin) / row->se, row->df);
	row->p_faster = stats_t_above((-row->log_ratio - margin) / row->se,
				      row->df);
	row->visible = judge_row_visible(w->out, row);
}

static bool changed(struct judge_work *w, size_t k, bool slower)
{
	const struct judge *j = w->out;
	const struct judge_row *row = &j->rows[w->kept[k]];
	double sign = slower ? 1 : -1, t = judge_threshold(j);
	double raw = slower ? row->now / row->base : row->base / row->now;

	if (sign * row->log_ratio < log1p(t) ||
	    fabs(row->ratio - 1) * row->share < j->o.min_impact)
		return false;
	/* a shifted machine says nothing about absolute costs */
	if (j->o.same_machine && !j->drifted && raw <= 1 + t / 2)
		return false;
	return consistent(row->absolute ? &w->raw : &w->relative, k,
			  1 + j->o.margin,
			  j->o.min_impact * j->total.base / row->base, slower);
}

static bool is_noise(const struct judge_work *w, size_t f)
{
	const uint8_t *noise = w->in->noise;

	if (!noise)
		return false;
	/* the small functions together hold some */
	if (f == w->out->nfuncs)
		return w->out->single;
	return noise[f] == JUDGE_NOISE || (w->out->single && noise[f]);
}

static void decide(struct judge_work *w, size_t k)
{
	struct judge *j = w->out;
	size_t f = w->kept[k];
	struct judge_row *row = &j->rows[f];
	bool noisy = is_noise(w, f);

	if (row->q <= j->o.suspect && changed(w, k, true))
		row->status = row->q <= j->o.alpha && !noisy ? JUDGE_REGRESSED
							     : JUDGE_SUSPECT;
	else if (row->q_faster <= j->o.alpha && !noisy &&
		 changed(w, k, false))
		row->status = JUDGE_IMPROVED;
	row->gates = row->status == JUDGE_REGRESSED;
}

static int adjust(struct judge_work *w)
{
	double *p = judge_alloc(w, w->nkept, 4 * sizeof(double));
	double *pf, *q, *qf;

	if (!p)
		return -ERR_NOMEM;
	pf = p + w->nkept;
	q = pf + w->nkept;
	qf = q + w->nkept;
	for (size_t k = 0; k < w->nkept; k++) {
		p[k] = w->out->rows[w->kept[k]].p;
		pf[k] = w->out->rows[w->kept[k]].p_faster;
	}
	if (stats_adjust(p, w->nkept, q) < 0 ||
	    stats_adjust(pf, w->nkept, qf) < 0)
		return -ERR_NOMEM;
	for (size_t k = 0; k < w->nkept; k++) {
		w->out->rows[w->kept[k]].q = q[k];
		w->out->rows[w->kept[k]].q_faster = qf[k];
	}
	return 0;
}

/* Of a new function's cost in the new runs, by the square of its mean; no less
 * than what sampling and other functions let expect. */
static double fresh_variance(const struct judge_work *w, size_t f)
{
	double n = (double)w->in->nnew, mean = w->out->rows[f].now, v = 0;
	double expected = 1 / greater(mean, 1) + w->mr.tau2;

	if (w->in->nnew < 2 || mean <= 0)
		return expected;
	for (size_t r = w->in->nbase; r < w->runs; r++) {
		double d = judge_cost(w, r, f) / mean - 1;

		v += d * d;
	}
	return greater(expected, v / (n - 1));
}

/* A new function has no ratio: its share of the total is tested, against the
 * limits of the total. */
static void judge_fresh(struct judge_work *w)
{
	struct judge *j = w->out;
	double limit = j->o.total_threshold;

	for (size_t f = 0; f < j->nfuncs; f++) {
		struct judge_row *row = &j->rows[f];
		double share = row->now / j->total.base, t;

		if (row->status != JUDGE_NEW && row->status != JUDGE_GONE)
			continue;
		row->ratio = row->status == JUDGE_NEW ? INFINITY : 0;
		row->low = row->high = row->p = row->q = NAN;
		row->p_faster = row->q_faster = row->visible = NAN;
		if (row->status != JUDGE_NEW)
			continue;
		row->se = sqrt(fresh_variance(w, f) / (double)j->nnew);
		row->df = greater(1, (double)j->nnew - 1);
		t = (log(share) - log(greater(j->o.margin, 1e-6))) / row->se;
		row->p = row->q = stats_t_above(t, row->df);
		row->gates = limit >= 0 && share >= limit &&
			     row->p <= j->o.alpha && !j->single &&
			     !is_noise(w, f);
	}
}

int judge_decide(struct judge_work *w)
{
	for (size_t k = 0; k < w->nkept; k++)
		fill_row(w, k);
	if (adjust(w) < 0)
		return -ERR_NOMEM;
	for (size_t k = 0; k < w->nkept; k++)
		decide(w, k);
	judge_fresh(w);
	return 0;
}
