/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_SEARCH_H
#define TALLY_BASE_SEARCH_H
/*
 * Binary search: sets the unsigned variable `at` to the first index in [from,
 * to) for which `before`, an expression of `at`, is false, or to `to` if there
 * is none.  Requires from <= to.  `before` must be true for a leading part of
 * the range only, as in sorted arrays:
 *
 *	size_t at;
 *
 *	lower_bound(at, 0, n, v[at].vaddr < vaddr);
 */
#include <stddef.h>
#include <stdint.h>

#define lower_bound(at, from, to, before)				\
	for (uint64_t low_ = (from), high_ = (to);			\
	     (at) = low_ + (high_ - low_) / 2, low_ < high_;) {		\
		if (before)						\
			low_ = (at) + 1;				\
		else							\
			high_ = (at);					\
	}

#endif
