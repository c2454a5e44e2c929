// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the sensitivity of a check: the slowdowns that it would report as
 * regressions in four checks of five, and the number of runs that would show
 * smaller ones. */
#include <math.h>

#include "check/judge_internal.h"

enum { RUNS_LIMIT = 1000 };

double judge_threshold(const struct judge *j)
{
	return j->single && j->o.single_threshold > j->o.threshold
		       ? j->o.single_threshold : j->o.threshold;
}

/* Returns the logarithm of the change that four checks of five would find to
 * exceed the margin. */
static double sure(const struct judge *j, double alpha, double se, double df)
{
	return log1p(j->o.margin) + se * (stats_t_quantile(0.8, df) +
					  stats_t_quantile(1 - alpha, df));
}

double judge_row_visible(const struct judge *j, const struct judge_row *row)
{
	double power = stats_t_quantile(0.8, row->df) * row->se;
	double x = sure(j, j->o.alpha / (double)j->tested, row->se, row->df);

	x = greater(x, log1p(judge_threshold(j)) + power);
	if (row->share > 0)
		x = greater(x, log1p(j->o.min_impact / row->share) + power);
	return expm1(x);
}

double judge_total_visible(const struct judge *j)
{
	const struct judge_total *t = &j->total;

	return expm1(greater(sure(j, j->o.alpha, t->se, t->df),
			     judge_total_floor(&j->o) +
				     stats_t_quantile(0.8, t->df) * t->se));
}

/* Returns a row's standard error with more runs, where that of the runs alone is
 * `times` as large.  They do not show how the machine changed between the sides. */
static double row_se(const struct judge *j, const struct judge_row *row, double times)
{
	double session = row->absolute ? judge_session(j) : 0;

	return sqrt(greater(row->se * row->se - session, 0) * times * times +
		    session);
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
	double total = expm1(sure(j, alpha, j->total.se * times,
				  j->total.df + more));

	for (size_t f = 0; f < j->nfuncs; f++) {
		const struct judge_row *row = &j->rows[f];
		double x;

		if (!(row->df > 0) || !(row->se > 0) || isnan(row->visible) ||
		    (asked && !asked[f]))
			continue;
		x = expm1(sure(j, alpha / (double)j->tested,
			       row_se(j, row, times), row->df + more)) *
		    row->share;
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
