// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Estimates changes of costs and their noise: see estimate.h.  The prior of variances is
 * fitted with medians, because a few functions (interrupts, the scheduler) vary a
 * hundred times more than the rest.
 */
#include "compare/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

#define REAL_Q 0.05	/* changes with a smaller q are significant */
enum { CHANGE_SAMPLES = 10 };	/* minimum samples of both sides together for a test */

static double greater(double a, double b)
{
	return a > b ? a : b;
}

double cost_share(const double sum[2], const double all[2])
{
	return (all[0] > 0 ? sum[0] / all[0] / 2 : 0) +
	       (all[1] > 0 ? sum[1] / all[1] / 2 : 0);
}

double sampling_variance(const double mean[2], size_t nold, size_t nnew,
			 double share)
{
	/* at least half a sample in all runs of a side */
	double least = 0.5 / (double)(nold < nnew ? nold : nnew);
	double samples = (greater(mean[0], least) + greater(mean[1], least)) / 2;

	/* at least a hundredth, in case one function has all samples */
	return (share < 0.99 ? 1 - share : 0.01) / samples;
}

double counting_variance(const double mean[2])
{
	double old = greater(mean[0], 1), now = greater(mean[1], 1);

	return (1 / (old * old) + 1 / (now * now)) / 12;
}

double weight_spread(double n, double sum, double squares)
{
	return sum > 0 ? greater(n * squares / (sum * sum), 1) : 1;
}

void log_change_ratio(const struct log_change *c, double *ratio, double *low,
		      double *high)
{
	double wide = stats_t_quantile(0.975, c->df) * c->se;

	*ratio = exp(c->log_ratio);
	*low = exp(c->log_ratio - wide);
	*high = exp(c->log_ratio + wide);
}

double log_change_p(const struct log_change *c, double margin, bool faster)
{
	double l = faster ? -c->log_ratio : c->log_ratio;

	return stats_t_above((l - log1p(margin)) / c->se, c->df);
}

/* Returns the distance at which an estimate exceeds a limit in four of five cases. */
static double power_of(const struct log_change *c)
{
	return stats_t_quantile(0.8, c->df) * c->se;
}

double log_change_visible(const struct log_change *c, double alpha, double margin)
{
	return log1p(margin) + power_of(c) +
	       stats_t_quantile(1 - alpha, c->df) * c->se;
}

double log_change_detectable(const struct log_change *c, double alpha, double margin,
			     double least)
{
	return expm1(greater(log_change_visible(c, alpha, margin),
			     log1p(least) + power_of(c)));
}

static struct log_change welch(const double *old, size_t nold, const double *now,
			       size_t nnew)
{
	double vo = stats_variance(old, nold), vn = stats_variance(now, nnew), s;
	double df = (double)(nold + nnew - 2);

	if (nold == 1 || nnew == 1) {
		s = (nold == 1 ? vn : vo) * (1 / (double)nold + 1 / (double)nnew);
	} else {
		double by_spread;

		vo /= (double)nold;
		vn /= (double)nnew;
		s = vo + vn;
		by_spread = s * s / (vo * vo / (double)(nold - 1) +
				     vn * vn / (double)(nnew - 1) + 1e-300);
		if (by_spread >= 1)
			df = by_spread;
	}
	return (struct log_change){ stats_mean(now, nnew) - stats_mean(old, nold),
				    sqrt(s + 1e-12), df };
}

struct log_change totals_change(const double *logs, size_t nold, size_t nnew,
				bool paired)
{
	const double *now = logs + nold;
	double by = stats_mean(now, nnew) - stats_mean(logs, nold), s = 0;

	if (!paired)
		return welch(logs, nold, now, nnew);
	for (size_t i = 0; i < nold; i++) {
		double d = now[i] - logs[i] - by;

		s += d * d;
	}
	s /= (double)(nold - 1) * (double)nold;
	return (struct log_change){ by, sqrt(s + 1e-12), (double)(nold - 1) };
}

int run_costs_init(struct run_costs *c, size_t n, size_t nold, size_t nnew)
{
	*c = (struct run_costs){ .n = n, .nold = nold, .nnew = nnew, .prior = n };
	c->y = arrays_new(&c->arrays, n, (nold + nnew) * sizeof(*c->y));
	c->v0 = arrays_new(&c->arrays, n, sizeof(*c->v0));
	c->change = arrays_new(&c->arrays, n, sizeof(*c->change));
	c->v = arrays_new(&c->arrays, n, sizeof(*c->v));
	c->bursty = arrays_new(&c->arrays, n, sizeof(*c->bursty));
	c->tmp = arrays_new(&c->arrays, n, sizeof(*c->tmp));
	return c->arrays.failed ? -ERR_NOMEM : 0;
}

void run_costs_fini(struct run_costs *c)
{
	arrays_fini(&c->arrays);
	*c = (struct run_costs){ .n = 0 };
}

/* Returns the ratio of median to mean of a chi-square distribution with d
 * degrees of freedom (Wilson and Hilferty 1931). */
static double median_of_mean(size_t d)
{
	double q = 1 - 2 / (9.0 * (double)d);

	return q * q * q;
}

/* Returns the sum of squared deviations from the mean, relative to the mean
 * squared; 0 for a group without cost. */
static double squares(const double *y, size_t n)
{
	double mean = stats_mean(y, n), s = 0;
	double m = greater(mean, 1e-9);

	for (size_t i = 0; i < n; i++)
		s += (y[i] - mean) * (y[i] - mean);
	return s / (m * m);
}

/* Returns half the sum of squared deviations of the differences within pairs from
 * their mean.  Each side is relative to its own mean, so that mean is 0. */
static double pair_squares(const double *base, const double *now, size_t n)
{
	double mb = greater(stats_mean(base, n), 1e-9), s = 0;
	double mn = greater(stats_mean(now, n), 1e-9);

	for (size_t i = 0; i < n; i++) {
		double d = now[i] / mn - base[i] / mb;

		s += d * d;
	}
	return s / 2;
}

static size_t freedom(const struct run_costs *c)
{
	return c->paired ? c->nold - 1 : c->nold + c->nnew - 2;
}

/* Computes the variance between runs of a side, relative to its mean squared.  For
 * paired runs it is half the variance of the differences within pairs. */
static void own_variances(struct run_costs *c)
{
	size_t d = freedom(c) ? freedom(c) : 1;

	for (size_t f = 0; f < c->n; f++) {
		const double *y = run_costs_of(c, f), *now = y + c->nold;

		c->v[f] = c->paired ? pair_squares(y, now, c->nold)
				    : squares(y, c->nold) + squares(now, c->nnew);
		c->v[f] /= (double)d;
	}
}

/* Returns the variance beyond sampling, which is `kappa` times v0, that the first `n`
 * functions have in common. */
static double common_tau2(const struct run_costs *c, size_t n, const bool *use,
			  double kappa)
{
	double q = median_of_mean(freedom(c)), x;
	size_t k = 0;

	for (size_t f = 0; f < n; f++) {
		double v0 = kappa * c->v0[f];

		if (!use || use[f])
			c->tmp[k++] = (struct stats_weighted){
				c->v[f] / q - v0, 1 / (v0 + 1e-4) };
	}
	x = k ? stats_weighted_median(c->tmp, k) : 0;
	return greater(x, 0);
}

static bool is_bursty(double v, double prior, size_t d)
{
	return v > prior * (1 + 2.3 * sqrt(2.0 / (double)d));
}

/* Returns the fraction of the variance of independent samples that remains,
 * shrunk to 1 by 20 degrees of freedom.  A periodic timer samples a repetitive
 * program more evenly than chance. */
static double evenness(const struct run_costs *c)
{
	size_t d = freedom(c), n = c->prior;
	double weight = (double)(n * d), k;

	for (size_t f = 0; f < n; f++)
		c->tmp[f] = (struct stats_weighted){ c->v[f] / c->v0[f], 1 };
	/* mean of the two middle values, as for an unweighted sample */
	k = stats_weighted_median(c->tmp, n);
	if (n % 2 == 0)
		k = (c->tmp[n / 2 - 1].x + c->tmp[n / 2].x) / 2;
	k = (k / median_of_mean(d) * weight + 20) / (weight + 20);
	return k < 0.3 ? 0.3 : k > 1 ? 1 : k;
}

/* Returns the prior's degrees of freedom, from how much more the variances
 * differ than variances of samples from one distribution. */
static double prior_freedom(const struct run_costs *c)
{
	double mean = 0, sum = 0, extra;
	size_t d = freedom(c);

	if (c->prior < 10)
		return 4;
	for (int pass = 0; pass < 2; pass++)
		for (size_t f = 0; f < c->prior; f++) {
			double e = log(greater(c->v[f], 1e-12) /
				       (c->kappa * c->v0[f] + c->tau2));

			if (!pass)
				mean += e / (double)c->prior;
			else
				sum += (e - mean) * (e - mean);
		}
	extra = sum / (double)(c->prior - 1) - stats_trigamma((double)d / 2);
	extra = 2 * stats_trigamma_inverse(extra > 1e-3 ? extra : 1e-3);
	return extra < 2 ? 2 : extra > 50 ? 50 : extra;
}

/* Sets each function's standard error for one run per side, and its degrees of
 * freedom. */
static void shrink_variances(struct run_costs *c)
{
	size_t d = freedom(c);
	double d0;

	own_variances(c);
	c->kappa = evenness(c);
	c->tau2 = common_tau2(c, c->prior, NULL, c->kappa);
	d0 = prior_freedom(c);
	for (size_t f = 0; f < c->n; f++) {
		double v0 = c->kappa * c->v0[f], prior = v0 + c->tau2;
		double v = (d0 * prior + (double)d * c->v[f]) / (d0 + (double)d);

		v = greater(v, v0);
		c->change[f].df = d0 + (double)d;
		c->bursty[f] = is_bursty(c->v[f], prior, d);
		if (c->bursty[f]) {
			v = greater(c->v[f], v);
			c->change[f].df = (double)d;
		}
		c->change[f].se = sqrt(v);
	}
}

static void assume_variances(struct run_costs *c)
{
	for (size_t f = 0; f < c->n; f++) {
		c->v[f] = c->v0[f] + c->tau2;
		c->bursty[f] = false;
		c->change[f].se = sqrt(c->v[f]);
		c->change[f].df = 1e6;
	}
}

void run_costs_estimate(struct run_costs *c)
{
	double runs = 1.0 / (double)c->nold + 1.0 / (double)c->nnew;
	size_t most = c->nold > c->nnew ? c->nold : c->nnew;

	c->kappa = 1;
	c->tau2 = ASSUMED_TAU * ASSUMED_TAU;
	if (!c->n)
		return;
	if (freedom(c))
		shrink_variances(c);
	else
		assume_variances(c);
	for (size_t f = 0; f < c->n; f++) {
		const double *y = run_costs_of(c, f);
		double old = stats_mean(y, c->nold);
		double now = stats_mean(y + c->nold, c->nnew);
		/* about half a sample, to avoid division by 0 */
		double half = 0.5 * greater(old + now, 1e-12) * c->v0[f] /
			      (double)most;

		c->change[f].log_ratio = log(greater(now, half) /
					     greater(old, half));
		c->change[f].se *= sqrt(runs);
	}
}

double run_costs_tau2(struct run_costs *c)
{
	if (!freedom(c))
		return ASSUMED_TAU * ASSUMED_TAU;
	own_variances(c);
	return common_tau2(c, c->prior, NULL, 1);
}

void run_costs_bursty(struct run_costs *c, const bool *use, double times)
{
	double tau2;

	own_variances(c);
	tau2 = common_tau2(c, c->n, use, 1);
	for (size_t f = 0; f < c->n; f++)
		c->bursty[f] = use[f] && is_bursty(c->v[f],
						   times * (c->v0[f] + tau2),
						   freedom(c));
}

static const double z975 = 1.959963984540054;

double change_quantile(double df)
{
	return df >= 1e6 ? z975 : stats_t_quantile(0.975, df);
}

/* Computes the distances from a side's cost to the ends of its interval. */
static void side_interval(const struct cost_pair *s, int side, double *below,
			  double *above)
{
	double c = s->count[side], k = s->wide[side] * s->t / z975;
	double mid = z975 * z975 / 2;
	double half = z975 * sqrt(c + z975 * z975 / 4);

	*below = (half - mid) * s->unit[side] * k;
	*above = (half + mid) * s->unit[side] * k;
	if (*below > s->cost[side])
		*below = s->cost[side];
}

void cost_change_set(struct cost_change *to, const struct cost_pair *from)
{
	double below[2], above[2], half;

	for (int i = 0; i < 2; i++) {
		to->cost[i] = from->cost[i];
		side_interval(from, i, &below[i], &above[i]);
	}
	to->change = to->cost[1] - to->cost[0];
	to->low = to->change - hypot(below[1], above[0]);
	to->high = to->change + hypot(above[1], below[0]);
	half = to->change > 0 ? to->change - to->low : to->high - to->change;
	to->p = 1;
	if (to->change != 0 && half > 0)
		to->p = 2 * stats_t_above(fabs(to->change) / half * from->t,
					  from->df);
	if (!(to->p <= 1))
		to->p = 1;
	to->q = to->p;
	to->tested = from->count[0] + from->count[1] >= CHANGE_SAMPLES;
	to->real = to->tested && to->q <= REAL_Q;
}

long cost_changes_adjust(struct cost_change *v, size_t n, size_t stride)
{
	double *p = calloc(n + 1, 2 * sizeof(*p)), *q;
	size_t tested = 0;

	if (!p)
		return -ERR_NOMEM;
	q = p + n;
	for (size_t i = 0; i < n; i++)
		if (v[i * stride].tested)
			p[tested++] = v[i * stride].p;
	if (stats_adjust(p, tested, q) < 0) {
		free(p);
		return -ERR_NOMEM;
	}
	tested = 0;
	for (size_t i = 0; i < n; i++) {
		struct cost_change *c = &v[i * stride];

		if (!c->tested)
			continue;
		c->q = q[tested++];
		c->real = c->q <= REAL_Q;
	}
	free(p);
	return (long)tested;
}
