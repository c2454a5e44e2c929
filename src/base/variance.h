/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_VARIANCE_H
#define TALLY_BASE_VARIANCE_H
/* Log ratios of the costs of many functions, with moderated variances. */
#include <stdbool.h>
#include <stddef.h>

#include "base/stats.h"

/* Costs of n functions in each run: function by function, baseline runs
 * first. */
struct series {
	size_t n, nbase, nnew;
	size_t prior;		/* number of leading functions that determine the
				 * prior; the others are sums of functions */
	bool paired;		/* run i of both sides ran side by side: what both
				 * runs of a pair have in common is no noise; needs
				 * nbase == nnew > 1 */
	double *y;		/* [function * (nbase + nnew) + run] */
	double *v0;		/* by function: relative sampling variance of
				 * one run, for independent samples */
};

struct moderated {
	double *log_ratio, *se, *df;	/* by function */
	double *v;		/* own variance, relative */
	bool *bursty;
	double kappa, tau2;
	struct stats_weighted *tmp;	/* room for n */
};

/* Standard deviation between runs that is assumed if it cannot be measured,
 * that is, with one run on each side. */
#define ASSUMED_TAU 0.02

static inline double *series_of(const struct series *s, size_t f)
{
	return s->y + f * (s->nbase + s->nnew);
}

/* The caller owns the arrays of `m`. */
void shrink_variances(const struct series *s, struct moderated *m);
/* Computes the variance between runs of a side, relative to its mean squared.  For
 * paired runs it is half the variance of the differences within pairs. */
void series_variance(const struct series *s, double *v);
/* Returns the variance beyond sampling that the functions have in common. */
double common_tau2(const double *v, const double *v0, const bool *use,
		   size_t n, size_t d, struct stats_weighted *tmp);
bool is_bursty(double v, double prior, size_t d);
/* Returns the predicted variance between runs, like the prior of moderation but
 * without kappa. */
double series_tau2(const struct series *s, struct moderated *m);

#endif
