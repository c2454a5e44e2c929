/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_OUTWARD_H
#define TALLY_VIEWS_QUERY_OUTWARD_H
/*
 * Walks a stack from the inside out for callers that need each location once,
 * the innermost first.  The time grows with the number of different locations,
 * not with the depth of the stack.  Beyond OUTWARD_MOST locations the outer ones are
 * left out, as by exports (EXPORT_DEPTH): without that, one stack of n locations with a
 * sample at each would take time n².
 *
 *	outward_init(&x, p);
 *	for (struct outward o = outward_begin(&x, node); outward_next(&x, &o, &loc);)
 *		...	// loc may be a mark; some are repeated
 *	outward_fini(&x);
 *
 * Some nodes of deep stacks have a list of all locations farther out, innermost
 * first.  All lists together have at most two entries per node of the profile.
 */
#include <stdbool.h>

#include "base/vec.h"
#include "profile/model.h"

enum { OUTWARD_MOST = 1024 };

struct outward_list {
	uint32_t node;
	uint32_t start, n;	/* range in outward_index.locs */
};

struct outward_index {
	const struct profile *p;
	uint32_t *list_of;	/* by node: 1 + list, or 0 */
	VEC(struct outward_list) lists;
	VEC(uint32_t) locs;
};

struct outward {
	uint32_t node;		/* the next node; 0: read the rest of the list */
	uint32_t at, end;
	uint32_t passed;	/* locations so far */
};

/* Returns 0 or -ERR_NOMEM.  `p` must not change while `x` is in use. */
int outward_init(struct outward_index *x, const struct profile *p);
void outward_fini(struct outward_index *x);
struct outward outward_begin(const struct outward_index *x, uint32_t node);
/* Returns false after the outermost location. */
bool outward_next(const struct outward_index *x, struct outward *o,
		  uint32_t *loc);

#endif
