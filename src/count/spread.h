/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_SPREAD_H
#define TALLY_COUNT_SPREAD_H
/* How much values of several runs differ. */
#include <stddef.h>

struct spread {
	size_t n;		/* values that are numbers */
	double mean, min, max;
	double stddev;		/* of the sample, n - 1; 0 for one value */
	double ci95;		/* half of the 95 % interval of the mean */
};

/* NaN among the values is left out; without any value mean is NaN. */
struct spread spread_of(const double *v, size_t n);

#endif
