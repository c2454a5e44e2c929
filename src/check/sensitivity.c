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

double judge_row_visible(const struct judge *j, const struct judge_row *row)
{
	double least = judge_threshold(j);

	if (row->share > 0)
		least = greater(least, j->o.min_impact / row->share);
	return log_change_detectable(&row->change, j->o.alpha / (double)j->tested,
				     j->o.margin, least);
}

double judge_total_visible(const struct judge *j)
{
	return log_change_detectable(&j->total.change, j->o.alpha, j->o.margin,
				     judge_total_least(&j->o));
}

/* Returns a row's change with `more` runs, with which the standard error of the runs
 * alone is `times` as large.  They show neither how the machine changed between the
 * sides nor costs of less than a sample. */
static struct log_change row_change(const struct judge *j, const struct judge_row *row,
				    double times, double more)
{
	double fixed = judge_counting(row->base, row->now) +
		       (row->absolute ? judge_session(j) : 0);
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
	double fixed = judge_counting(j->total.base, j->total.now), total;
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
