/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_RANGE_INDEX_H
#define TALLY_SYMBOLIZE_DWARF_RANGE_INDEX_H
/*
 * Looks up address ranges, which may overlap, by address.  Ranges are sorted by
 * lo; those with equal lo by descending width, then by id.  `max_hi` is the
 * running maximum of hi, so that a backward scan knows when to stop.  `block`
 * is the maximum of each RANGE_BLOCK ranges, so that a wide range at a much
 * lower address is found fast.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct range {
	uint64_t lo, hi, max_hi;
	uint64_t id;
};

struct range_index {
	struct range *v;
	size_t n, cap;
	uint64_t *block;
	size_t nblocks;
};

enum { RANGE_NONE = -1, RANGE_BLOCK = 64, RANGE_NEAR = 8 };

/* Adds a range.  Returns 0 or -ERR_NOMEM.  Call range_index_sort before the
 * next lookup. */
int range_index_add(struct range_index *x, uint64_t lo, uint64_t hi,
		    uint64_t id);
int range_index_sort(struct range_index *x);
void range_index_fini(struct range_index *x);
/* Returns the last range with lo <= addr, whether or not it covers addr;
 * RANGE_NONE if there is none. */
ptrdiff_t range_index_last(const struct range_index *x, uint64_t addr);

ptrdiff_t range_index_far(const struct range_index *x, ptrdiff_t i,
			  uint64_t addr);

/* Returns the next range that covers addr, from position i (included)
 * downwards: innermost first. */
static inline ptrdiff_t range_index_down(const struct range_index *x,
					 ptrdiff_t i, uint64_t addr)
{
	ptrdiff_t near = i - RANGE_NEAR;

	for (; i >= 0 && x->v[i].max_hi > addr; i--) {
		if (x->v[i].hi > addr)
			return i;
		if (i == near)
			return range_index_far(x, i, addr);
	}
	return RANGE_NONE;
}

static inline ptrdiff_t range_index_find(const struct range_index *x,
					 uint64_t addr)
{
	return range_index_down(x, range_index_last(x, addr), addr);
}

#endif
