// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes mean, extremes and standard deviation of a few values. */
#include "count/spread.h"

#include <math.h>

#include "base/stats.h"

struct spread spread_of(const double *v, size_t n)
{
	struct spread s = { .mean = NAN, .min = NAN, .max = NAN };
	double squares = 0;

	/* Welford's method avoids differences of large sums. */
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
		s.ci95 = stats_t_quantile(0.975, (double)(s.n - 1)) * s.stddev /
			 sqrt((double)s.n);
	}
	return s;
}
