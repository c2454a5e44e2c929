/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_OUTWARD_H
#define TALLY_VIEWS_QUERY_OUTWARD_H
/*
 * Through a stack from the inside out, for those who want each of its locations
 * once, the nearest first: the time does not grow with the stack's depth, only
 * with the number of its different locations.
 *
 *	outward_init(&x, p);
 *	for (struct outward o = outward_begin(&x, node); outward_next(&x, &o, &loc);)
 *		...	// loc may be a mark; some come again
 *	outward_fini(&x);
 *
 * Deep stacks have a list now and then (at most two entries for each node of the
 * profile, all lists together) of all locations farther out, nearest first.
 */
#include <stdbool.h>

#include "base/vec.h"
#include "profile/model.h"

struct outward_list {
	uint32_t node;
	uint32_t start, n;	/* in locs */
};

struct outward_index {
	const struct profile *p;
	uint32_t *list_of;	/* by node: 1 + list, or 0 */
	VEC(struct outward_list) lists;
	VEC(uint32_t) locs;
};

struct outward {
	uint32_t node;		/* the next one; 0: the list's rest */
	uint32_t at, end;
};

/* 0 or -ERR_NOMEM.  p must not change while it is used. */
int outward_init(struct outward_index *x, const struct profile *p);
void outward_fini(struct outward_index *x);
struct outward outward_begin(const struct outward_index *x, uint32_t node);
/* False behind the outermost. */
bool outward_next(const struct outward_index *x, struct outward *o,
		  uint32_t *loc);

#endif
