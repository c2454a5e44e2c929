// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides when to analyse runs while more are being recorded, and when they suffice.
 *
 * Slower: each look spends its own part of alpha, and the parts add up to alpha.  By
 * Boole's inequality, all looks together raise no more false alarms than a single one
 * would, however their results depend on each other, and whatever ended the
 * recording.  Exact boundaries of a group sequential test (Lan and DeMets 1983) have
 * slightly more power, but the joint distribution of the false discovery rate over
 * functions is unknown.
 *
 * Not slower: this needs no alpha.  For each function, the likelihood of the data if
 * it alone got slower is divided by their likelihood if nothing did; "slower" is what
 * the planned number of runs would report in 99 of 100 checks.  The mean of these
 * ratios, in which larger functions have more weight, is the likelihood ratio of a
 * slowdown somewhere.  A small value ends the recording (Wald 1945): of such slowdowns, at
 * most that share is missed for this reason.  Runs are added while it is not small.
 */
#include <math.h>

#include "check/judge_internal.h"

#define GROWTH 1.17		/* of the number of runs from look to look */
#define MORE 1.6		/* most runs, relative to the planned number */
#define MORE_BY_BUDGET 6
#define PLANNED_Z 2.33		/* quantile of 99 of 100 checks */
#define DOUBT_MOST 0.05
enum { RUNS_MIN = 3 };

size_t judge_looks(size_t planned, bool budget, double alpha,
		   struct judge_look *out)
{
	double most = (budget ? MORE_BY_BUDGET : MORE) * (double)planned;
	size_t n = 0, last = (size_t)most;

	if (planned < RUNS_MIN) {
		out[0] = (struct judge_look){ planned, alpha };
		return 1;
	}
	for (double at = RUNS_MIN; (size_t)at < last && n < JUDGE_LOOKS - 1;
	     at = at * GROWTH > at + 1 ? at * GROWTH : at + 1)
		out[n++].runs = (size_t)at;
	out[n++].runs = last;
	for (size_t i = 0; i < n; i++)
		out[i].alpha = alpha / (double)n;
	return n;
}

/* Returns how many times likelier the estimate is with a true change of `d` than without
 * a change. */
static double likelier(const struct log_change *c, double d)
{
	double a = c->log_ratio / c->se, b = (c->log_ratio - d) / c->se;

	return pow((c->df + a * a) / (c->df + b * b), (c->df + 1) / 2);
}

/* Returns the log ratio that the planned runs would report in 99 of 100 checks. */
static double certainly_found(const struct judge *j, double alpha, double se,
			      double df, double least)
{
	double d = log1p(j->o.margin) +
		   se * (stats_t_quantile(1 - alpha, df) + PLANNED_Z);

	return greater(d, log1p(least) + PLANNED_Z * se);
}

double judge_doubt(const struct judge *j, const bool *asked, size_t planned)
{
	double sum = 0, all = 0, alpha = judge_whole_alpha(&j->o);
	double scale = sqrt((double)j->nnew / (double)planned);
	const struct judge_total *t = &j->total;

	for (size_t f = 0; f < j->nfuncs; f++) {
		const struct judge_row *row = &j->rows[f];
		double least, d, w = sqrt(row->share);

		if (!(row->change.df > 0) || !(row->change.se > 0) || isnan(row->visible) ||
		    !(row->share > 0) || (asked && !asked[f]))
			continue;
		least = greater(j->o.threshold, j->o.min_impact / row->share);
		d = certainly_found(j, alpha / (double)j->tested,
				    row->change.se * scale, row->change.df, least);
		sum += w * likelier(&row->change, d);
		all += w;
	}
	if (t->tested && j->o.same_machine && j->o.total_threshold >= 0) {
		double d = certainly_found(j, alpha, t->change.se * scale, t->change.df,
					   j->o.total_threshold);

		/* as much as all functions together */
		sum += all * likelier(&t->change, d);
		all += all;
	}
	return all > 0 ? sum / all : 1;
}

enum judge_step judge_step(const struct judge *j, const bool *asked, double want,
			   size_t planned, size_t most)
{
	struct judge_sensitivity s;

	if (judge_doubt(j, asked, planned) > DOUBT_MOST)
		return JUDGE_MORE;
	s = judge_sensitivity(j, asked, want);
	if (s.mde <= want)
		return JUDGE_CERTAIN;
	return s.runs && s.runs <= most ? JUDGE_MORE : JUDGE_BLIND;
}
