/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HISTORY_CHANGES_H
#define TALLY_HISTORY_CHANGES_H
/*
 * Where costs changed in a series, for good.
 *
 * As its batches come, the mean of a series' last 1, 2, 3, 5, 8, 13 or 20 batches is
 * compared with that of up to 40 before them, since the last change: five standard
 * errors and 3 % are a change.  It is at the place where the series falls most
 * clearly into two levels.  Its span are the places that explain the series nearly as
 * well (2 log likelihood within 10 of the best).  tests/history/simulate prints how
 * often changes are found, dated rightly and invented.
 *
 * Changes whose spans have a commit in common become one group, the commit with
 * most of them first: one cause is one line.  A cost that grew little by little,
 * for which a ramp is a better explanation than steps, is a slope.
 */
#include "history/series.h"

#define SERIES_TOTAL SIZE_MAX

struct change {
	size_t func;		/* in series.funcs; SERIES_TOTAL: what a run cost */
	size_t at;		/* the first batch with the new cost */
	size_t from, to;	/* … may be any of these; of a slope: where it
				 * begins and ends */
	double ratio, low, high;	/* 95 % */
	double impact;		/* of the program's time before: 0.02 is 2 % */
	bool slope;
	size_t group;
};

struct change_group {
	size_t at, from, to;
	size_t first, n;	/* in changes.v, most impact first */
	double impact;		/* together */
	bool slope;
};

struct changes {
	VEC(struct change) v;	/* by group */
	VEC(struct change_group) groups;	/* newest first, slopes last */
};

int changes_find(const struct cost_series *s, struct changes *out,
		 struct error *err);
void changes_fini(struct changes *c);

/* The places where one series of n values changes, which are written to `cuts`
 * (room for n); their number, or -ERR_NOMEM.  `edge` by value: a change may be
 * there; NULL: everywhere. */
long changes_cut(const double *y, size_t n, double noise, const bool *edge,
		 size_t *cuts);

#endif
