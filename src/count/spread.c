// SPDX-License-Identifier: GPL-2.0-or-later
#include "count/spread.h"

#include <math.h>

/* Quantiles 0.975 of Student's t with 1 to 30 degrees of freedom. */
static double student(size_t df)
{
	static const double t[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
		2.228,	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101,
		2.093,	2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
		2.048,	2.045, 2.042,
	};

	if (df <= 30)
		return t[df - 1];
	/* The first terms of its series in 1/df: right to 4 digits here. */
	return 1.95996 + 2.37227 / (double)df +
	       2.8225 / ((double)df * (double)df);
}

struct spread spread_of(const double *v, size_t n)
{
	struct spread s = { .mean = NAN, .min = NAN, .max = NAN };
	double squares = 0;

	/* Welford: no difference of large sums. */
	for (size_t i = 0; i < n; i++) {
		double d;

		if (isnan(v[i]))
			continue;
		if (!s.n++) {
			s.mean = s.min = s.max = v[i];
			continue;
		}
		d = v[i] - s.mean;
		s.mean += d / (double)s.n;
		squares += d * (v[i] - s.mean);
		s.min = fmin(s.min, v[i]);
		s.max = fmax(s.max, v[i]);
	}
	if (s.n > 1) {
		s.stddev = sqrt(squares / (double)(s.n - 1));
		s.ci95 = student(s.n - 1) * s.stddev / sqrt((double)s.n);
	}
	return s;
}
