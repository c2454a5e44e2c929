// SPDX-License-Identifier: GPL-2.0-or-later
/* The statistical decision: see judge.h. */
#include "check/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "check/judge_internal.h"

enum {
	PRIOR_FREEDOM = 4,	/* degrees of freedom of few functions' prior */
	RUNS_LIMIT = 1000,
};
#define REFERENCE_SE 3		/* standard errors beyond which the reference changed */
#define CERTAIN_SAMPLES 7	/* a function with as many expected samples and none is
				 * new or gone */
#define CLEARLY_LESS 0.8	/* the smaller of two uncertain variances is too small
				 * an estimate, so a small difference is no reason */

/* Returns the variance that the machine's speed between the sides adds to the log
 * ratio of an absolute cost. */
static double session_variance(const struct judge *j)
{
	return 2 * j->o.session * j->o.session;
}

/* counting_variance of two costs. */
static double counting_of(double base, double now)
{
	return counting_variance((const double[2]){ base, now });
}

/* Returns the smallest change of the total that counts. */
static double total_least(const struct judge_options *o)
{
	return o->total_threshold >= 0 ? o->total_threshold : o->threshold;
}

/* Returns the smallest estimate that is a regression. */
static double least_regression(const struct judge *j)
{
	return j->single && j->o.single_threshold > j->o.threshold
		       ? j->o.single_threshold : j->o.threshold;
}

/* Returns the smallest slowdown that the measures of a row would show. */
static double row_visible(const struct judge *j, const struct judge_row *row)
{
	double least = least_regression(j);

	if (row->share > 0)
		least = greater(least, j->o.min_impact / row->share);
	return log_change_detectable(&row->change, j->o.alpha / (double)j->tested,
				     j->o.margin, least);
}

/* The same for the total. */
static double total_visible(const struct judge *j)
{
	return log_change_detectable(&j->total.change, j->o.alpha, j->o.margin,
				     total_least(&j->o));
}

/* Makes room for the costs of the tested rows. */
static int init_costs(const struct judge_state *w, struct run_costs *c)
{
	int rc = run_costs_init(c, w->nkept, w->in->nbase, w->in->nnew);

	if (w->nkept > 1 && w->others)
		c->prior = w->nkept - 1;
	return rc;
}

static bool is_noise(const struct judge_state *w, size_t f)
{
	const uint8_t *noise = w->in->noise;

	if (!noise)
		return false;
	/* the sum of the small functions contains unsteady ones */
	if (f == w->out->nfuncs)
		return w->out->single;
	return noise[f] == JUDGE_NOISE || (w->out->single && noise[f]);
}

/* Computes mean costs and shares, and finds functions that are new, gone or too
 * small. */
static void survey(struct judge_state *w, const double all[2])
{
	const struct judge_input *in = w->in;

	for (size_t f = 0; f < in->nfuncs; f++) {
		struct judge_row *row = &w->out->rows[f];
		double sum[2] = { 0, 0 }, both;

		for (size_t r = 0; r < w->runs; r++)
			sum[r >= in->nbase] += judge_cost(w, r, f);
		both = sum[0] + sum[1];
		row->base = sum[0] / (double)in->nbase;
		row->now = sum[1] / (double)in->nnew;
		row->share = cost_share(sum, all);
		row->status = JUDGE_SAME;
		if (row->share < w->out->o.min_share || both < ESTIMATE_MIN_SAMPLES)
			row->status = JUDGE_SMALL;
		else if (sum[0] <= 0)
			row->status = JUDGE_NEW;
		else if (sum[1] <= 0)
			row->status = JUDGE_REMOVED;
		if (row->status == JUDGE_SAME)
			w->nkept++;
	}
}

/* Returns whether a small function is certainly absent from a side. */
static bool is_one_sided(const struct judge_state *w, const struct judge_row *row)
{
	return (row->base <= 0 && row->now * (double)w->in->nbase >=
				  CERTAIN_SAMPLES) ||
	       (row->now <= 0 && row->base * (double)w->in->nnew >=
				 CERTAIN_SAMPLES);
}

/* Decides which small functions are summed and tested as one: not the kernel's own
 * work, and not new and gone ones, unless the new ones together cost as much as one
 * new function that fails the check. */
static void choose_others(struct judge_state *w)
{
	double fresh = 0, limit = w->out->o.total_threshold;
	bool all;

	for (size_t f = 0; f < w->in->nfuncs; f++) {
		const struct judge_row *row = &w->out->rows[f];

		if (row->status == JUDGE_SMALL && row->base <= 0 &&
		    is_one_sided(w, row))
			fresh += row->now;
	}
	all = limit >= 0 && fresh >= limit * w->out->total.base;
	for (size_t f = 0; f < w->in->nfuncs; f++) {
		const struct judge_row *row = &w->out->rows[f];

		w->other[f] = row->status == JUDGE_SMALL && !is_noise(w, f) &&
			      (all || !is_one_sided(w, row));
		w->others |= w->other[f] && row->base + row->now > 0;
	}
}

/* Fills in the last row, the sum of the small functions. */
static void survey_others(struct judge_state *w)
{
	struct judge_row *o = &w->out->rows[w->in->nfuncs];

	choose_others(w);
	o->status = JUDGE_SMALL;
	for (size_t f = 0; f < w->in->nfuncs; f++) {
		const struct judge_row *row = &w->out->rows[f];

		if (!w->other[f])
			continue;
		o->base += row->base;
		o->now += row->now;
		o->share += row->share;
	}
	w->others = w->others && !w->in->totals && o->base > 0 && o->now > 0 &&
		    o->share >= w->out->o.min_share;
	if (w->others) {
		o->status = JUDGE_SAME;
		w->nkept++;
	}
}

static int gather(struct judge_state *w)
{
	size_t n = w->in->nfuncs, k = 0;

	w->kept = arrays_new(&w->arrays, w->nkept, sizeof(*w->kept));
	w->in_ref = arrays_new(&w->arrays, w->nkept, sizeof(bool));
	w->others_ref = arrays_new(&w->arrays, w->runs, sizeof(double));
	w->ref = w->out->reference;
	if (w->arrays.failed || init_costs(w, &w->raw) < 0 ||
	    init_costs(w, &w->relative) < 0)
		return -ERR_NOMEM;
	for (size_t f = 0; f <= n; f++)
		if (w->out->rows[f].status == JUDGE_SAME)
			w->kept[k++] = f;
	for (k = 0; k < w->nkept; k++)
		for (size_t r = 0; r < w->runs; r++) {
			double *to = run_costs_of(&w->raw, k) + r;

			if (w->kept[k] < n) {
				*to = judge_cost(w, r, w->kept[k]);
				continue;
			}
			for (size_t f = 0; f < n; f++)
				if (w->other[f])
					*to += judge_cost(w, r, f);
		}
	return 0;
}

static void absolute_sampling(struct judge_state *w)
{
	for (size_t k = 0; k < w->nkept; k++) {
		const struct judge_row *row = &w->out->rows[w->kept[k]];
		const double mean[2] = { row->base, row->now };

		w->raw.v0[k] = sampling_variance(mean, w->in->nbase, w->in->nnew,
						 row->share);
	}
}

/* Returns the noise that a measure promises for one run: sampling and the variance
 * between runs, which is common to all functions. */
static double promised(const struct judge_state *w, struct run_costs *s)
{
	double tau2 = run_costs_tau2(s), sum = 0, all = 0;

	for (size_t k = 0; k < w->nkept; k++) {
		double share = w->out->rows[w->kept[k]].share;

		sum += share * s->v0[k];
		all += share;
	}
	return tau2 + (all > 0 ? sum / all : 0);
}

/* Returns the quantile that a function's t must reach, for that many degrees of
 * freedom of its own variance. */
static double critical(const struct judge_state *w, size_t own)
{
	double p = w->out->o.alpha / (double)w->nkept;

	return stats_t_quantile(1 - p, (double)(own + PRIOR_FREEDOM));
}

/* Compares runs in pairs if that promises a shorter interval.  Pairs remove what both
 * runs of a block have in common, at the price of half the degrees of freedom.  Like
 * the choice of the measure, this looks at all functions together. */
static void pair_runs(const struct judge_state *w, struct run_costs *s)
{
	size_t n = s->nold;
	double alone, price;

	if (!w->out->o.paired || n != s->nnew || n < 3 || !w->nkept)
		return;
	alone = promised(w, s);
	price = critical(w, n - 1) / critical(w, 2 * n - 2);
	s->paired = true;
	s->paired = promised(w, s) * price * price < CLEARLY_LESS * alone;
	run_costs_estimate(s);
}

/* Returns whether the reference's own cost changed by more than its noise and the
 * machine explain.  Then the functions in it changed, and not the others. */
static bool reference_changed(const struct judge_state *w, double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew;
	double by, se;

	if (nb < 2 || nn < 2 || w->in->reference)
		return false;
	for (size_t r = 0; r < w->runs; r++)
		logs[r] = log(greater(w->ref[r], 1));
	by = stats_mean(logs + nb, nn) - stats_mean(logs, nb);
	se = sqrt(stats_variance(logs, nb) / (double)nb +
		  stats_variance(logs + nb, nn) / (double)nn +
		  session_variance(w->out));
	return fabs(by) > log1p(w->out->o.margin) + REFERENCE_SE * se;
}

/* Chooses the measure that promises less noise, by the data of all functions.
 * Choosing by a function's own spread would bias its test. */
static void choose_measures(struct judge_state *w, double *scratch)
{
	size_t least = w->in->nbase < w->in->nnew ? w->in->nbase : w->in->nnew;
	double tau_a, tau_r, by_cost = 0, all = 0, session;

	if (least < 2 || !w->out->o.same_machine || w->out->drifted)
		return;
	tau_a = run_costs_tau2(&w->raw);
	run_costs_estimate(&w->raw);
	tau_r = run_costs_tau2(&w->relative);
	/* of one run, so that it adds what it adds to the ratio */
	session = session_variance(w->out) / (1 / (double)w->in->nbase +
					   1 / (double)w->in->nnew);
	w->out->ref_changed = reference_changed(w, scratch);
	for (size_t k = 0; k < w->nkept; k++) {
		struct judge_row *row = &w->out->rows[w->kept[k]];

		row->absolute = (w->out->ref_changed ||
				 w->raw.v0[k] + tau_a + session <
					 w->relative.v0[k] + tau_r) &&
				!judge_follows(w, k, scratch);
		all += row->share;
		by_cost += row->absolute ? row->share : 0;
	}
	w->out->absolute = by_cost > all / 2;
	for (size_t f = 0; f < w->in->nfuncs; f++)
		if (w->out->rows[f].status == JUDGE_NEW ||
		    w->out->rows[f].status == JUDGE_REMOVED)
			w->out->rows[f].absolute = w->out->absolute;
}

/* Finds the functions that changed: by the test, by the size of the change, and by
 * whether more than one run shows it. */

/* Returns whether the change does not come from a single run.  Without the
 * costliest new and the cheapest baseline run, or vice versa, the change must
 * remain and be large enough.  `impact` is that size, given the mean of the
 * baseline. */
static bool consistent(const struct run_costs *s, size_t k, double factor,
		       double impact, bool slower)
{
	const double *y = run_costs_of(s, k);
	double sum[2] = { 0, 0 }, drop[2] = { y[0], y[s->nold] }, least;

	if (s->nold < 3 || s->nnew < 3)
		return true;
	for (size_t r = 0; r < s->nold + s->nnew; r++) {
		bool new = r >= s->nold;
		bool largest = new == slower;

		sum[new] += y[r];
		if (largest ? y[r] > drop[new] : y[r] < drop[new])
			drop[new] = y[r];
	}
	least = impact * sum[0] / (double)s->nold;
	sum[0] = (sum[0] - drop[0]) / (double)(s->nold - 1);
	sum[1] = (sum[1] - drop[1]) / (double)(s->nnew - 1);
	return fabs(sum[1] - sum[0]) >= least &&
	       (slower ? sum[1] > sum[0] * factor : sum[0] > sum[1] * factor);
}

/* Returns the standard error of a row's absolute log ratio. */
static double absolute_se(const struct judge_state *w, size_t k)
{
	return sqrt(w->raw.change[k].se * w->raw.change[k].se +
		    session_variance(w->out));
}

static void fill_row(struct judge_state *w, size_t k)
{
	struct judge_row *row = &w->out->rows[w->kept[k]];
	const struct run_costs *c = row->absolute ? &w->raw : &w->relative;
	double margin = w->out->o.margin;

	row->change = c->change[k];
	if (row->absolute)
		row->change.se = absolute_se(w, k);
	row->change.se = sqrt(row->change.se * row->change.se +
			      counting_of(row->base, row->now));
	row->paired = c->paired;
	row->bursty = c->bursty[k];
	log_change_ratio(&row->change, &row->ratio, &row->low, &row->high);
	row->p = log_change_p(&row->change, margin, false);
	row->p_faster = log_change_p(&row->change, margin, true);
	row->visible = row_visible(w->out, row);
}

static bool changed(struct judge_state *w, size_t k, bool slower)
{
	const struct judge *j = w->out;
	const struct judge_row *row = &j->rows[w->kept[k]];
	double sign = slower ? 1 : -1, t = least_regression(j);
	double raw = slower ? row->now / row->base : row->base / row->now;

	if (sign * row->change.log_ratio < log1p(t) ||
	    fabs(row->ratio - 1) * row->share < j->o.min_impact)
		return false;
	/* Absolute costs mean nothing if the machine changed, or if they vary so much
	 * that they agree with the relative ones. */
	if (j->o.same_machine && !j->drifted && raw <= 1 + t / 2 &&
	    sign * w->raw.change[k].log_ratio + 2 * hypot(absolute_se(w, k), row->change.se) <
		    sign * row->change.log_ratio)
		return false;
	return consistent(row->absolute ? &w->raw : &w->relative, k,
			  1 + j->o.margin,
			  j->o.min_impact * j->total.base / row->base, slower);
}

static void decide(struct judge_state *w, size_t k)
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

static int adjust(struct judge_state *w)
{
	double *p = arrays_new(&w->arrays, w->nkept, 4 * sizeof(double));
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

/* Returns the variance of a new function's cost in the new runs, divided by the
 * square of its mean.  It is at least what sampling and other functions suggest. */
static double fresh_variance(const struct judge_state *w, size_t f)
{
	double n = (double)w->in->nnew, mean = w->out->rows[f].now, v = 0;
	double expected = 1 / greater(mean, 1) + w->relative.tau2;

	if (w->in->nnew < 2 || mean <= 0)
		return expected;
	for (size_t r = w->in->nbase; r < w->runs; r++) {
		double d = judge_cost(w, r, f) / mean - 1;

		v += d * d;
	}
	return greater(expected, v / (n - 1));
}

/* A new function has no ratio.  Its share of the total is tested against the
 * limits of the total. */
static void judge_new_functions(struct judge_state *w)
{
	struct judge *j = w->out;
	double limit = j->o.total_threshold;

	/* with one run per side, the noise is assumed */
	if (limit >= 0 && j->single)
		limit = greater(limit, j->o.single_threshold);
	for (size_t f = 0; f < j->nfuncs; f++) {
		struct judge_row *row = &j->rows[f];
		double share = row->now / j->total.base, t;

		if (row->status != JUDGE_NEW && row->status != JUDGE_REMOVED)
			continue;
		row->ratio = row->status == JUDGE_NEW ? INFINITY : 0;
		row->low = row->high = row->p = row->q = NAN;
		row->p_faster = row->q_faster = row->visible = NAN;
		if (row->status != JUDGE_NEW)
			continue;
		row->change.se = sqrt(fresh_variance(w, f) / (double)j->nnew);
		/* the variance of a single run is that of the other functions */
		row->change.df = greater(1, (double)(j->nnew > 1 ? j->nnew - 1
							  : j->nbase));
		t = (log(share) - log(greater(j->o.margin, 1e-6))) / row->change.se;
		row->p = row->q = stats_t_above(t, row->change.df);
		row->gates = limit >= 0 && share >= limit &&
			     row->p <= j->o.alpha && !is_noise(w, f);
	}
}

static int decide_all(struct judge_state *w)
{
	for (size_t k = 0; k < w->nkept; k++)
		fill_row(w, k);
	if (adjust(w) < 0)
		return -ERR_NOMEM;
	for (size_t k = 0; k < w->nkept; k++)
		decide(w, k);
	judge_new_functions(w);
	return 0;
}

/* The cost of whole runs. */

static double spread(const double *x, size_t n)
{
	return n > 1 ? sqrt(stats_variance(x, n)) / stats_mean(x, n) : 0;
}

/* Compares costs of whole runs; `logs` has room for one value a run. */
static struct log_change compare_runs(const struct judge_state *w, const double *totals,
				      double *logs)
{
	size_t nb = w->in->nbase, nn = w->in->nnew;
	struct log_change e;

	for (size_t r = 0; r < nb + nn; r++)
		logs[r] = log(greater(totals[r], 1));
	e = totals_change(logs, nb, nn, w->out->total.paired);
	e.se = sqrt(e.se * e.se + session_variance(w->out) +
		    counting_of(stats_mean(totals, nb),
				   stats_mean(totals + nb, nn)));
	return e;
}

/* Returns whether runs became slower: by more than the margin, and by as much as the
 * total may not. */
static bool is_slower(const struct judge_options *o, const struct log_change *e)
{
	return log_change_p(e, o->margin, false) <= o->alpha &&
	       e->log_ratio >= log1p(total_least(o));
}

/* Returns whether runs became slower also without what the kernel does by itself. */
static bool rest_is_slower(const struct judge_state *w, double *steady, double *logs)
{
	struct log_change e;

	if (!w->in->noise || w->in->totals)
		return true;
	for (size_t r = 0; r < w->runs; r++) {
		steady[r] = 0;
		for (size_t f = 0; f < w->in->nfuncs; f++)
			if (w->in->noise[f] != JUDGE_NOISE)
				steady[r] += judge_cost(w, r, f);
	}
	e = compare_runs(w, steady, logs);
	return is_slower(&w->out->o, &e);
}

/* `scratch` has room for two values a run. */
static void judge_whole(struct judge_state *w, const double *totals,
			double *scratch)
{
	const struct judge_options *o = &w->out->o;
	size_t nb = w->in->nbase, nn = w->in->nnew;
	struct judge_total *t = &w->out->total;
	double *logs = scratch + w->runs;

	t->base = stats_mean(totals, nb);
	t->now = stats_mean(totals + nb, nn);
	t->cv_base = spread(totals, nb);
	t->cv_now = spread(totals + nb, nn);
	t->ratio = t->now / t->base;
	t->low = t->high = t->p = t->p_faster = t->visible = NAN;
	if (nb + nn < 3)
		return;
	t->paired = o->paired && nb == nn && nb > 2;
	t->change = compare_runs(w, totals, logs);
	t->tested = true;
	log_change_ratio(&t->change, &t->ratio, &t->low, &t->high);
	t->p = log_change_p(&t->change, o->margin, false);
	t->p_faster = log_change_p(&t->change, o->margin, true);
	t->visible = total_visible(w->out);
	t->regressed = is_slower(o, &t->change);
	t->improved = t->p_faster <= o->alpha &&
		      -t->change.log_ratio >= log1p(total_least(o));
	t->gates = t->regressed && o->same_machine && o->total_threshold >= 0 &&
		   rest_is_slower(w, scratch, logs);
}

static int judge_all(struct judge_state *w, double *totals, double *scratch)
{
	double all[2] = { 0, 0 };
	int rc;

	for (size_t r = 0; r < w->runs; r++) {
		for (size_t f = 0; f < w->in->nfuncs && !w->in->totals; f++)
			totals[r] += judge_cost(w, r, f);
		if (w->in->totals)
			totals[r] = w->in->totals[r];
		all[r >= w->in->nbase] += totals[r];
		/* an empty run counts as one sample, so that its logarithm exists */
		totals[r] = greater(totals[r], 1);
		w->out->totals[r] = totals[r];
	}
	w->other = arrays_new(&w->arrays, w->in->nfuncs + 1, sizeof(*w->other));
	if (!w->other)
		return -ERR_NOMEM;
	judge_whole(w, totals, scratch);
	survey(w, all);
	survey_others(w);
	w->out->tested = w->nkept;
	rc = gather(w) ?: judge_reference(w);
	if (rc < 0)
		return rc;
	for (size_t r = 0; r < w->runs; r++)
		totals[r] = log(totals[r]);
	if (judge_shift(w, totals, scratch) < 0)
		return -ERR_NOMEM;
	absolute_sampling(w);
	pair_runs(w, &w->raw);
	pair_runs(w, &w->relative);
	if (w->nkept)
		choose_measures(w, scratch);
	rc = decide_all(w);
	if (rc < 0)
		return rc;
	w->out->kappa = w->relative.kappa;
	w->out->tau = sqrt(w->relative.tau2);
	return 0;
}

int judge_run(const struct judge_input *in, const struct judge_options *o,
	      struct judge *out, struct error *err)
{
	struct judge_state w = { .in = in, .out = out,
				.runs = in->nbase + in->nnew };
	double *totals = arrays_new(&w.arrays, w.runs, sizeof(*totals));
	double *scratch = arrays_new(&w.arrays, in->nfuncs + 4 * w.runs + 1,
				     sizeof(*scratch));
	int rc = -ERR_NOMEM;

	*out = (struct judge){ .o = *o, .nfuncs = in->nfuncs,
			       .nbase = in->nbase, .nnew = in->nnew,
			       .cost = in->cost };
	out->single = in->nbase == 1 && in->nnew == 1;
	out->rows = arrays_new(&out->arrays, in->nfuncs + 1, sizeof(*out->rows));
	out->totals = arrays_new(&out->arrays, w.runs, sizeof(double));
	out->reference = arrays_new(&out->arrays, w.runs, sizeof(double));
	out->in_reference = arrays_new(&out->arrays, in->nfuncs + 1, sizeof(bool));
	if (!out->arrays.failed && !w.arrays.failed)
		rc = judge_all(&w, totals, scratch);
	run_costs_fini(&w.raw);
	run_costs_fini(&w.relative);
	arrays_fini(&w.arrays);
	if (!rc)
		return 0;
	judge_fini(out);
	return error_nomem(err);
}

void judge_fini(struct judge *j)
{
	arrays_fini(&j->arrays);
	*j = (struct judge){ .rows = NULL };
}

/* Returns the variance of the logarithm of a side's mean: the variance between
 * runs, but at least the sampling variance. */
static double mean_variance(const double *y, size_t n, double samples)
{
	double mean = stats_mean(y, n);
	double v = n > 1 && mean > 0 ? stats_variance(y, n) / (mean * mean) : 0;

	return greater(v, 1 / greater(samples, 1)) / (double)n;
}

static void test_sum(const struct judge *j, const double *y, bool absolute,
		     struct judge_sum *s)
{
	size_t nb = j->nbase, nn = j->nnew;
	double base = stats_mean(y, nb), now = stats_mean(y + nb, nn);

	s->ratio = base > 0 ? now / base : INFINITY;
	s->change.log_ratio = log(s->ratio);
	s->change.df = greater(1, (double)(nb + nn) - 2);
	s->change.se = sqrt(mean_variance(y, nb, s->base) +
		     mean_variance(y + nb, nn, s->now) + j->tau * j->tau *
			     (1 / (double)nb + 1 / (double)nn) +
		     (absolute ? session_variance(j) : 0));
	s->p = log_change_p(&s->change, j->o.margin, false);
}

int judge_group(const struct judge *j, const size_t *funcs, size_t n,
		struct judge_sum *out)
{
	bool absolute = n && j->rows[funcs[0]].absolute;
	size_t runs = j->nbase + j->nnew;
	double *y = calloc(runs + 1, sizeof(*y));

	*out = (struct judge_sum){ .ratio = 1, .p = 1 };
	if (!y)
		return -ERR_NOMEM;
	for (size_t r = 0; r < runs; r++) {
		bool new = r >= j->nbase;
		double x = 0, ref = j->reference[r];

		for (size_t i = 0; i < n; i++) {
			double c = j->cost[r * j->nfuncs + funcs[i]];

			x += c;
			if (j->in_reference[funcs[i]])
				ref -= c;
		}
		*(new ? &out->now : &out->base) +=
			x / (double)(new ? j->nnew : j->nbase);
		y[r] = x / (absolute ? 1 : greater(ref, 1));
	}
	test_sum(j, y, absolute, out);
	free(y);
	return 0;
}

/*
 * --- sensitivity: the slowdowns that a check would report as regressions in four
 * checks of five, and the number of runs that would show smaller ones
 */

/* Returns a row's change with `more` runs, with which the standard error of the runs
 * alone is `times` as large.  They show neither how the machine changed between the
 * sides nor costs of less than a sample. */
static struct log_change row_change(const struct judge *j, const struct judge_row *row,
				    double times, double more)
{
	double fixed = counting_of(row->base, row->now) +
		       (row->absolute ? session_variance(j) : 0);
	struct log_change c = row->change;

	c.se = sqrt(greater(c.se * c.se - fixed, 0) * times * times + fixed);
	c.df += more;
	return c;
}

/* Computes the sensitivity for a given number of runs per side.  Standard errors
 * shrink with the number of runs.  Thresholds are ignored, because a change below
 * them is no regression, however precisely it is measured. */
static struct judge_sensitivity look(const struct judge *j, const bool *asked,
				     size_t nbase, size_t nnew)
{
	struct judge_sensitivity s = { .row = JUDGE_NOWHERE };
	double now = 1 / (double)j->nbase + 1 / (double)j->nnew;
	double times = sqrt((1 / (double)nbase + 1 / (double)nnew) / now);
	double more = (double)(nbase - j->nbase + nnew - j->nnew);
	double alpha = judge_whole_alpha(&j->o);
	double fixed = counting_of(j->total.base, j->total.now), total;
	struct log_change c = j->total.change;

	c.se = sqrt(greater(c.se * c.se - fixed, 0) * times * times + fixed);
	c.df += more;
	total = expm1(log_change_visible(&c, alpha, j->o.margin));
	for (size_t f = 0; f < j->nfuncs; f++) {
		const struct judge_row *row = &j->rows[f];
		double x;

		if (!(row->change.df > 0) || !(row->change.se > 0) ||
		    isnan(row->visible) || (asked && !asked[f]))
			continue;
		c = row_change(j, row, times, more);
		x = expm1(log_change_visible(&c, alpha / (double)j->tested,
					     j->o.margin)) * row->share;
		if (s.row == JUDGE_NOWHERE || x > s.mde) {
			s.mde = x;
			s.row = f;
		}
	}
	/* more runs do not show how the machine's speed changed between the sides */
	if (s.row != JUDGE_NOWHERE && j->total.tested && j->o.same_machine &&
	    !(j->o.session > 0) &&
	    j->o.total_threshold >= 0 &&
	    total > s.mde) {
		s.mde = total;
		s.row = JUDGE_TOTAL;
	}
	if (s.row == JUDGE_NOWHERE)
		s.mde = INFINITY;
	return s;
}

struct judge_sensitivity judge_sensitivity(const struct judge *j, const bool *asked,
					   double want)
{
	struct judge_sensitivity s = look(j, asked, j->nbase, j->nnew);

	if (s.mde <= want || s.row == JUDGE_NOWHERE)
		return s;
	for (size_t n = j->nnew + 1; n <= RUNS_LIMIT; n++) {
		size_t nbase = j->nbase > n ? j->nbase : n;

		if (look(j, asked, nbase, n).mde > want)
			continue;
		s.runs = n;
		break;
	}
	return s;
}
