/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_STATS_H
#define TALLY_BASE_STATS_H
/*
 * The statistical functions that a check needs.  All are pure; arguments out of
 * range give NaN.
 */
#include <stddef.h>

/* I_x(a, b): the regularised incomplete beta function. */
double stats_beta(double a, double b, double x);
/* P(T > x) of Student's t with df > 0 degrees of freedom (not only whole
 * numbers); df >= 1e6: the normal distribution. */
double stats_t_above(double x, double df);
/* The x with P(T <= x) = p, 0 < p < 1. */
double stats_t_quantile(double p, double df);
/* P(Z > x) of the normal distribution. */
double stats_normal_above(double x);
/* The second derivative of ln Gamma, x > 0. */
double stats_trigamma(double x);
/* The x with trigamma(x) = y; at most 1000. */
double stats_trigamma_inverse(double y);

/* Sorts x. */
double stats_median(double *x, size_t n);
double stats_mean(const double *x, size_t n);
/* With n - 1 degrees of freedom; 0 for fewer than two values. */
double stats_variance(const double *x, size_t n);

struct stats_weighted {
	double x, weight;
};
/* The least x at which half of the weight is reached; sorts v. */
double stats_weighted_median(struct stats_weighted *v, size_t n);

/* Benjamini and Hochberg's adjusted p (1995): the smallest false discovery rate
 * at which each would be rejected.  0 or -ERR_NOMEM. */
int stats_adjust(const double *p, size_t n, double *adjusted);

#endif
