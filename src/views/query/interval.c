// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes confidence intervals of shares. */
#include "views/query/interval.h"

#include <math.h>

/* 97.5 % quantile of the normal distribution */
static const double z = 1.959963984540054;

struct interval interval_share(uint64_t hits, uint64_t n)
{
	double k = (double)hits, m = (double)n, mid, half;

	if (!n)
		return (struct interval){ 0, 0 };
	if (hits > n)
		k = m;
	mid = (k + z * z / 2) / (m + z * z);
	half = z / (m + z * z) * sqrt(k * (m - k) / m + z * z / 4);
	return (struct interval){ k > 0 && mid > half ? mid - half : 0,
				  k < m ? mid + half : 1 };
}

bool interval_is_noise(uint64_t hits, uint64_t n)
{
	return hits < n &&
	       interval_share(hits, n).lo <= interval_share(0, n).hi;
}

static double share_of(struct cell hits, struct cell all)
{
	return all.weight ? (double)hits.weight / (double)all.weight : 0;
}

struct interval interval_of(const struct prof_event *e, struct cell hits,
			    struct cell all)
{
	double share = share_of(hits, all);

	if (prof_is_wait(e) && !prof_is_sampled_wait(e))
		return (struct interval){ share, share };
	if (prof_is_wait(e) || prof_is_latency(e) || prof_is_waking(e))
		return interval_share((uint64_t)(share * (double)all.count + 0.5),
				      all.count);
	return interval_share(hits.count, all.count);
}

bool interval_hides(const struct prof_event *e, struct cell hits,
		    struct cell all)
{
	return !prof_is_wait(e) && interval_is_noise(hits.count, all.count);
}
