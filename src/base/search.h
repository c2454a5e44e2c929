/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_SEARCH_H
#define TALLY_BASE_SEARCH_H
/*
 * Order, binary search and sorting.
 *
 * ascending and descending compare two numbers for qsort: the result is
 * negative if `a` comes first, positive if `b` does, and 0 if they are equal.
 * Evaluates its arguments twice.  The next criterion follows "?:":
 *
 *	return descending(x->weight, y->weight) ?: ascending(x->id, y->id);
 */
#define ascending(a, b) (((a) > (b)) - ((a) < (b)))
#define descending(a, b) ascending(b, a)

/*
 * Binary search: sets the unsigned variable `at` to the first index in [from,
 * to) for which `before`, an expression of `at`, is false.  Sets it to `to` if
 * there is none.  Requires from <= to.  `before` must be true for a leading
 * part of the range only, as in sorted arrays:
 *
 *	size_t at;
 *
 *	lower_bound(at, 0, n, v[at].vaddr < vaddr);
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define lower_bound(at, from, to, before)				\
	for (uint64_t low_ = (from), high_ = (to);			\
	     (at) = low_ + (high_ - low_) / 2, low_ < high_;) {		\
		if (before)						\
			low_ = (at) + 1;				\
		else							\
			high_ = (at);					\
	}

/*
 * Sets the size_t `at` to the last index below n for which `holds`, an
 * expression of `at`, is true.  Sets it to 0 if there is none or n is 0.
 * `holds` must be true for a leading part only.  No branch depends on the data,
 * which is faster than lower_bound if the branches are unpredictable:
 *
 *	last_where(at, n, v[at].start <= addr);
 */
#define last_where(at, n, holds)					\
	for (size_t left_ = (n), base_ = (at) = 0, half_ = left_ / 2;	\
	     left_ > 1; left_ -= half_, half_ = left_ / 2) {		\
		(at) = base_ + half_;					\
		(at) = base_ = (holds) ? (at) : base_;			\
	}

/*
 * Sort n rows, or a vector, as qsort and qsort_r do, which may not be called for rows
 * that do not exist; here v may be NULL if n is 0.  Evaluate v and n twice.
 */
#define sort_rows(v, n, compare) \
	((n) ? qsort((v), (n), sizeof(*(v)), (compare)) : (void)0)
#define sort_rows_r(v, n, compare, ctx) \
	((n) ? qsort_r((v), (n), sizeof(*(v)), (compare), (ctx)) : (void)0)
#define vec_sort(vec, compare) sort_rows((vec)->v, (vec)->n, compare)
#define vec_sort_r(vec, compare, ctx) sort_rows_r((vec)->v, (vec)->n, compare, ctx)

#endif
