/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_RELATED_H
#define TALLY_PROFILE_RELATED_H
/*
 * Columns whose values follow, most of the time, from other columns: what
 * functions are inlined into one, where a function was declared, which symbol it
 * is (doc/tally-format.5, codes n, f, l and s).
 */
#include "profile/format.h"

/* What a column's next value is told from; all zero at its first row. */
struct related {
	const struct profile *p;
	const struct table *t;
	uint32_t *last;		/* by function + 1; see the codes */
	struct u64map symbols;	/* writing: by image and address */
	uint64_t prev;
	uint32_t max;
};

/* 0 or -ERR_NOMEM. */
int related_init(struct related *r, const struct profile *p,
		 const struct table *t, uint8_t code, bool writing);
void related_fini(struct related *r);

/* Row i's value of a column. */
void related_put(struct related *r, uint8_t code, size_t i, uint64_t v,
		 struct buf *out);
/* The columns before it must have been read. */
uint64_t related_get(struct related *r, uint8_t code, size_t i,
		     struct cursor *c);

#endif
