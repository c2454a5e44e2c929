/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_INTERVAL_H
#define TALLY_VIEWS_QUERY_INTERVAL_H
/*
 * Confidence interval of a share of samples.  Each of n samples hit a line or
 * not, so the number of hits is binomial.  The interval is Wilson's 95 % score
 * interval (E.  B.  Wilson, JASA 22, 1927), which also holds for few hits.
 */
#include <stdbool.h>
#include <stdint.h>

#include "views/query/aggregate.h"

struct interval {
	double lo, hi;		/* bounds of the share, 0 to 1 */
};

struct interval interval_share(uint64_t hits, uint64_t n);
/*
 * Returns the interval of a row's share of an event's samples.  Waits are
 * measured, not sampled: their share is exact, and both ends equal it.  Samples
 * of wall-clock time differ in weight, so the number of hits is computed from
 * the share.
 */
struct interval interval_of(const struct prof_event *e, struct cell hits,
			    struct cell all);
/* Applies interval_is_noise to a row of an event. */
bool interval_hides(const struct prof_event *e, struct cell hits,
		    struct cell all);
/* Returns whether the hits are too few to distinguish from none, that is,
 * whether the intervals of `hits` and of 0 overlap. */
bool interval_is_noise(uint64_t hits, uint64_t n);

#endif
