/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_INTERVAL_H
#define TALLY_VIEWS_INTERVAL_H
/*
 * How sure a share of samples is.  Each of n samples either hit a line or did
 * not, so the number of hits is binomial; the interval is Wilson's score
 * interval of 95 % (E. B. Wilson, JASA 22, 1927), which holds for few hits, too.
 */
#include <stdbool.h>
#include <stdint.h>

struct interval {
	double lo, hi;		/* shares, 0 to 1 */
};

struct interval interval_share(uint64_t hits, uint64_t n);
/* Whether so few hits say nothing: a line without any could cost as much, that
 * is, the intervals of `hits` and of 0 overlap. */
bool interval_is_noise(uint64_t hits, uint64_t n);

#endif
