// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes distributions and small statistics: see stats.h. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/search.h"

enum { FRACTION_STEPS = 10000, BISECTIONS = 200 };

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Evaluates the continued fraction 26.5.8 of Abramowitz and Stegun with Lentz's
 * algorithm: an even and an odd term in each step. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) > tiny ? d : tiny);
	h = d;
	for (int m = 1; m < FRACTION_STEPS; m++) {
		double k[2] = {
			m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
			-(a + m) * (a + b + m) * x /
				((a + 2 * m) * (a + 2 * m + 1)),
		};

		for (int i = 0; i < 2; i++) {
			d = 1 + k[i] * d;
			d = 1 / (fabs(d) > tiny ? d : tiny);
			c = 1 + k[i] / c;
			c = fabs(c) > tiny ? c : tiny;
			h *= d * c;
		}
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

double stats_beta(double a, double b, double x)
{
	double front;

	if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1))
		return NAN;
	if (x == 0 || x == 1)
		return x;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) +
		    a * log(x) + b * log1p(-x));
	/* the fraction converges fast on this side of the mean */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_normal_above(double x)
{
	return 0.5 * erfc(x / M_SQRT2);
}

double stats_t_above(double x, double df)
{
	double p, xx = x * x;

	if (isnan(x) || !(df > 0))
		return NAN;
	if (df >= 1e6)
		return stats_normal_above(x);
	if (isinf(xx))
		return x > 0 ? 0 : 1;
	p = 0.5 * stats_beta(df / 2, 0.5, df / (df + xx));
	return x > 0 ? p : 1 - p;
}

double stats_t_quantile(double p, double df)
{
	double lo = 0, hi = 1, above = p < 0.5 ? p : 1 - p;

	if (!(p > 0) || !(p < 1) || !(df > 0))
		return NAN;
	while (hi < 1e300 && stats_t_above(hi, df) > above)
		hi *= 2;
	for (int i = 0; i < BISECTIONS && hi - lo > 1e-13 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (stats_t_above(mid, df) > above)
			lo = mid;
		else
			hi = mid;
	}
	return p < 0.5 ? -hi : hi;
}

/* Abramowitz and Stegun 6.4.12 for large x; 6.4.6 reduces small x to that. */
double stats_trigamma(double x)
{
	double s = 0, y;

	if (!(x > 0))
		return NAN;
	for (; x < 20; x++)
		s += 1 / (x * x);
	y = 1 / (x * x);
	return s + 1 / x + y / 2 +
	       y / x * (1 / 6. - y * (1 / 30. - y * (1 / 42. - y / 30.)));
}

double stats_trigamma_inverse(double y)
{
	double lo = 1e-10, hi = 1000;

	if (!(y > 0))
		return NAN;
	if (y <= stats_trigamma(hi))
		return hi;
	for (int i = 0; i < BISECTIONS && hi > lo * (1 + 1e-14); i++) {
		double mid = sqrt(lo * hi);

		if (stats_trigamma(mid) > y)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return ascending(*x, *y);
}

double stats_median(double *x, size_t n)
{
	if (!n)
		return NAN;
	sort_rows(x, n, by_value);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

double stats_mean(const double *x, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += x[i];
	return n ? s / (double)n : NAN;
}

double stats_variance(const double *x, size_t n)
{
	double m = stats_mean(x, n), s = 0;

	for (size_t i = 0; i < n; i++)
		s += (x[i] - m) * (x[i] - m);
	return n > 1 ? s / (double)(n - 1) : 0;
}

static int by_weighted(const void *a, const void *b)
{
	const struct stats_weighted *x = a, *y = b;

	return ascending(x->x, y->x) ?: ascending(x->weight, y->weight);
}

double stats_weighted_median(struct stats_weighted *v, size_t n)
{
	double all = 0, sum = 0;

	if (!n)
		return NAN;
	sort_rows(v, n, by_weighted);
	for (size_t i = 0; i < n; i++)
		all += v[i].weight;
	for (size_t i = 0; i < n; i++) {
		sum += v[i].weight;
		if (sum >= all / 2)
			return v[i].x;
	}
	return v[n - 1].x;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return ascending(x->p, y->p) ?: ascending(x->at, y->at);
}

int stats_adjust(const double *p, size_t n, double *adjusted)
{
	struct ranked *r = malloc((n + 1) * sizeof(*r));
	double least = 1;

	if (!r)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){ isnan(p[i]) ? 1 : p[i], i };
	sort_rows(r, n, by_p);
	for (size_t i = n; i-- > 0;) {
		double q = r[i].p * (double)n / (double)(i + 1);

		if (q < least)
			least = q;
		adjusted[r[i].at] = least;
	}
	free(r);
	return 0;
}
