// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shrinks variances between runs.  The variance of a few runs is uncertain, but
 * there are many functions.  Each function's variance is shrunk towards the
 * value predicted from sampling and a common spread between runs (Smyth 2004).
 * The prior is fitted with medians, because a few functions (interrupts, the
 * scheduler) vary a hundred times more than the rest.
 */
#include "base/variance.h"

#include <math.h>

/* Returns the ratio of median to mean of a chi-square distribution with d
 * degrees of freedom (Wilson and Hilferty 1931). */
static double median_of_mean(size_t d)
{
	double q = 1 - 2 / (9.0 * (double)d);

	return q * q * q;
}

static double mean_at_least(const double *y, size_t n, double least)
{
	double m = stats_mean(y, n);

	return m > least ? m : least;
}

/* Returns the sum of squared deviations from the mean, relative to the mean
 * squared; 0 for a group without cost. */
static double squares(const double *y, size_t n)
{
	double mean = stats_mean(y, n), s = 0;
	double m = mean_at_least(y, n, 1e-9);

	for (size_t i = 0; i < n; i++)
		s += (y[i] - mean) * (y[i] - mean);
	return s / (m * m);
}

/* Returns half the sum of squared deviations of the differences within pairs from
 * their mean.  Each side is relative to its own mean, so that mean is 0. */
static double pair_squares(const double *base, const double *now, size_t n)
{
	double mb = mean_at_least(base, n, 1e-9), s = 0;
	double mn = mean_at_least(now, n, 1e-9);

	for (size_t i = 0; i < n; i++) {
		double d = now[i] / mn - base[i] / mb;

		s += d * d;
	}
	return s / 2;
}

static size_t freedom(const struct series *s)
{
	return s->paired ? s->nbase - 1 : s->nbase + s->nnew - 2;
}

void series_variance(const struct series *s, double *v)
{
	size_t d = freedom(s) ? freedom(s) : 1;

	for (size_t f = 0; f < s->n; f++) {
		const double *y = series_of(s, f), *now = y + s->nbase;

		v[f] = s->paired ? pair_squares(y, now, s->nbase)
				 : squares(y, s->nbase) + squares(now, s->nnew);
		v[f] /= (double)d;
	}
}

double common_tau2(const double *v, const double *v0, const bool *use,
		   size_t n, size_t d, struct stats_weighted *tmp)
{
	double q = median_of_mean(d), x;
	size_t k = 0;

	for (size_t f = 0; f < n; f++)
		if (!use || use[f])
			tmp[k++] = (struct stats_weighted){
				v[f] / q - v0[f], 1 / (v0[f] + 1e-4) };
	x = k ? stats_weighted_median(tmp, k) : 0;
	return x > 0 ? x : 0;
}

bool is_bursty(double v, double prior, size_t d)
{
	return v > prior * (1 + 2.3 * sqrt(2.0 / (double)d));
}

/* Returns the fraction of the variance of independent samples that remains,
 * shrunk to 1 by 20 degrees of freedom.  A periodic timer samples a repetitive
 * program more evenly than chance. */
static double evenness(const struct series *s, const struct moderated *m)
{
	size_t d = freedom(s);
	double weight = (double)(s->prior * d), k;
	size_t n = s->prior;

	for (size_t f = 0; f < n; f++)
		m->tmp[f] = (struct stats_weighted){ m->v[f] / s->v0[f], 1 };
	/* mean of the two middle values, as for an unweighted sample */
	k = stats_weighted_median(m->tmp, n);
	if (n % 2 == 0)
		k = (m->tmp[n / 2 - 1].x + m->tmp[n / 2].x) / 2;
	k = (k / median_of_mean(d) * weight + 20) / (weight + 20);
	return k < 0.3 ? 0.3 : k > 1 ? 1 : k;
}

/* Returns the prior's degrees of freedom, from how much more the variances
 * differ than variances of samples from one distribution. */
static double prior_freedom(const struct series *s, const struct moderated *m)
{
	double mean = 0, sum = 0, extra;
	size_t d = freedom(s);

	if (s->prior < 10)
		return 4;
	for (int pass = 0; pass < 2; pass++)
		for (size_t f = 0; f < s->prior; f++) {
			double v = m->v[f] > 1e-12 ? m->v[f] : 1e-12;
			double e = log(v / (m->kappa * s->v0[f] + m->tau2));

			if (!pass)
				mean += e / (double)s->prior;
			else
				sum += (e - mean) * (e - mean);
		}
	extra = sum / (double)(s->prior - 1) - stats_trigamma((double)d / 2);
	extra = 2 * stats_trigamma_inverse(extra > 1e-3 ? extra : 1e-3);
	return extra < 2 ? 2 : extra > 50 ? 50 : extra;
}

static void shrink(const struct series *s, struct moderated *m, double *vt)
{
	size_t d = freedom(s);
	double d0;

	series_variance(s, m->v);
	m->kappa = evenness(s, m);
	for (size_t f = 0; f < s->n; f++)
		vt[f] = m->kappa * s->v0[f];
	m->tau2 = common_tau2(m->v, vt, NULL, s->prior, d, m->tmp);
	d0 = prior_freedom(s, m);
	for (size_t f = 0; f < s->n; f++) {
		double v0 = m->kappa * s->v0[f], prior = v0 + m->tau2;
		double x = (d0 * prior + (double)d * m->v[f]) /
			   (d0 + (double)d);

		vt[f] = x > v0 ? x : v0;
		m->df[f] = d0 + (double)d;
		m->bursty[f] = is_bursty(m->v[f], prior, d);
		if (m->bursty[f]) {
			vt[f] = m->v[f] > vt[f] ? m->v[f] : vt[f];
			m->df[f] = (double)d;
		}
	}
}

void shrink_variances(const struct series *s, struct moderated *m)
{
	double runs = 1.0 / (double)s->nbase + 1.0 / (double)s->nnew;
	size_t most = s->nbase > s->nnew ? s->nbase : s->nnew;

	m->kappa = 1;
	m->tau2 = ASSUMED_TAU * ASSUMED_TAU;
	if (!s->n)
		return;
	if (freedom(s))
		shrink(s, m, m->se);
	for (size_t f = 0; f < s->n; f++) {
		const double *y = series_of(s, f);
		double b = stats_mean(y, s->nbase);
		double w = stats_mean(y + s->nbase, s->nnew);
		double all = b + w > 1e-12 ? b + w : 1e-12;
		/* about half a sample, to avoid division by 0 */
		double half = 0.5 * all * s->v0[f] / (double)most;

		m->log_ratio[f] = log((w > half ? w : half) /
				      (b > half ? b : half));
		if (!freedom(s)) {
			m->se[f] = s->v0[f] + m->tau2;
			m->v[f] = m->se[f];
			m->df[f] = 1e6;
			m->bursty[f] = false;
		}
		m->se[f] = sqrt(m->se[f] * runs);
	}
}

double series_tau2(const struct series *s, struct moderated *m)
{
	if (!freedom(s))
		return ASSUMED_TAU * ASSUMED_TAU;
	series_variance(s, m->v);
	return common_tau2(m->v, s->v0, NULL, s->prior, freedom(s),
			   m->tmp);
}
