/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_SPREAD_H
#define TALLY_COUNT_SPREAD_H
/* The spread of values over several runs. */
#include <stddef.h>

struct spread {
	size_t n;		/* number of values other than NaN */
	double mean, min, max;
	double stddev;		/* sample standard deviation (n - 1); 0 for one
				 * value */
	double ci95;		/* half width of the mean's 95 % confidence
				 * interval */
};

/* Computes the spread, ignoring NaN. Without any value, the mean is NaN. */
struct spread spread_of(const double *v, size_t n);

#endif
