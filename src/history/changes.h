/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_CHANGES_H
#define TALLY_HISTORY_CHANGES_H
/*
 * Finds where the costs in a series changed permanently.
 *
 * After each batch, the means of the series' last 1, 2, 3, 5, 8, 13 and 20 batches
 * are compared with the mean of up to 40 batches before them.  The comparison does
 * not reach back beyond the last change.  Each batch counts by its samples.  A
 * difference of five standard errors and 3 % is a change.  Its position is where the
 * series divides most clearly into two levels.  Its span is the range of positions that
 * explain the series nearly as well
 * (2 log likelihood within 10 of the best). tests/history/simulate prints how often
 * changes are found, dated correctly and reported wrongly.
 *
 * Changes whose spans have a commit in common form one group, so that one cause is
 * one line.  The commit with most changes comes first.  A cost that grew gradually
 * is a slope, if a ramp explains it better than steps do.
 */
#include "history/series.h"

/* A new function, or one that is gone, has no samples on one side.  Its ratio means
 * nothing. */
enum change_kind { CHANGE_COST, CHANGE_NEW, CHANGE_GONE };

struct change {
	size_t func;		/* index in series.funcs; SERIES_TOTAL: the cost of
				 * a run */
	size_t at;		/* first batch with the new cost, most likely */
	size_t from, to;	/* range of possible values of `at`; for a slope:
				 * its begin and end */
	double ratio, low, high;	/* estimate and 95 % confidence interval */
	enum change_kind kind;
	double share;		/* of the program's time just before the change */
	double impact;		/* change as a share of that time, 0.02 for 2 %; of a new
				 * function its share of the time after it */
	bool slope;
	size_t group;
};

struct change_group {
	size_t at, from, to;
	size_t first, n;	/* range in changes.v, largest impact first */
	double impact;		/* sum over the group */
	bool slope;
};

struct changes {
	VEC(struct change) v;	/* sorted by group */
	VEC(struct change_group) groups;	/* newest first, slopes last */
};

/* Finds and groups the changes of a series.  Returns 0 or -ERR_NOMEM, after which
 * *out is empty. */
int changes_find(const struct cost_series *s, struct changes *out,
		 struct error *err);
void changes_fini(struct changes *c);

/* Writes the places where a series of n values with these variances changes to `cuts`,
 * which has room for n.  Returns their number, or -ERR_NOMEM. Changes are possible
 * only where `edge` (by value) is true; NULL: everywhere. */
long changes_cut(const double *y, size_t n, const double *variances,
		 const bool *edge, size_t *cuts);

#endif
