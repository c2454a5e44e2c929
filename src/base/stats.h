/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_STATS_H
#define TALLY_BASE_STATS_H
/*
 * Statistical functions.  All are pure; arguments out of range give NaN.
 */
#include <stddef.h>

/* Returns I_x(a, b), the regularised incomplete beta function. */
double stats_beta(double a, double b, double x);
/* Returns P(T > x) of Student's t with df > 0 degrees of freedom, which may be
 * fractional.  From df = 1e6 on, uses the normal distribution. */
double stats_t_above(double x, double df);
/* Returns the x with P(T <= x) = p, 0 < p < 1. */
double stats_t_quantile(double p, double df);
/* Returns P(Z > x) of the normal distribution. */
double stats_normal_above(double x);
/* Returns the second derivative of ln Gamma, x > 0. */
double stats_trigamma(double x);
/* Returns the x with trigamma(x) = y; at most 1000. */
double stats_trigamma_inverse(double y);

/* Sorts x. */
double stats_median(double *x, size_t n);
double stats_mean(const double *x, size_t n);
/* Uses n - 1 degrees of freedom; returns 0 for fewer than two values. */
double stats_variance(const double *x, size_t n);

struct stats_weighted {
	double x, weight;
};
/* Returns the smallest x at which half of the weight is reached; sorts v. */
double stats_weighted_median(struct stats_weighted *v, size_t n);

/* Computes the adjusted p values of Benjamini and Hochberg (1995): the smallest
 * false discovery rate at which each would be rejected.  Returns 0 or
 * -ERR_NOMEM. */
int stats_adjust(const double *p, size_t n, double *adjusted);

#endif
