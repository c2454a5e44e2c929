/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_INTERVAL_H
#define TALLY_VIEWS_QUERY_INTERVAL_H
/*
 * How sure a share of samples is.  Each of n samples either hit a line or did
 * not, so the number of hits is binomial; the interval is Wilson's score
 * interval of 95 % (E. B. Wilson, JASA 22, 1927), which holds for few hits, too.
 */
#include <stdbool.h>
#include <stdint.h>

#include "views/query/aggregate.h"

struct interval {
	double lo, hi;		/* shares, 0 to 1 */
};

struct interval interval_share(uint64_t hits, uint64_t n);
/* The interval of what a row has of an event's `all`.  Waits are no samples: the
 * share is exact, and both ends are the share.  Of wall-clock time, whose samples differ
 * in weight, as many of `all` count as the share says. */
struct interval interval_of(const struct prof_event *e, struct cell hits,
			    struct cell all);
/* interval_is_noise for that. */
bool interval_hides(const struct prof_event *e, struct cell hits,
		    struct cell all);
/* Whether so few hits say nothing: a line without any could cost as much, that
 * is, the intervals of `hits` and of 0 overlap. */
bool interval_is_noise(uint64_t hits, uint64_t n);

#endif
