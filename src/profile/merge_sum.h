/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_MERGE_SUM_H
#define TALLY_PROFILE_MERGE_SUM_H
/* Shared by the parts of a merger: merge_sum.c adds recordings, merge_order.c
 * writes them in an order that does not depend on theirs. */
#include "base/cursor.h"
#include "profile/merge_internal.h"

/* The samples of a thread with one event and stack. */
struct merge_sum {
	uint32_t thread, event, stack;
	uint64_t weight, count;
};

/* Sums that are found by what they are of. */
struct merge_sums {
	VEC(struct merge_sum) v;
	struct idtab tab;
	uint32_t *last;		/* by stack: its last sum in `v` */
};

/* Returns 0 or -ERR_NOMEM. */
int merge_sums_init(struct merge_sums *s, size_t stacks);
void merge_sums_fini(struct merge_sums *s);
/* Returns the sum of a thread, event and stack; a new one is 0.  Returns NULL if out of
 * memory. */
struct merge_sum *merge_sums_find(struct merge_sums *s, uint32_t thread,
				  uint32_t event, uint32_t stack);

/* The sums of one run, in merger.sums. */
struct merge_run {
	size_t at, n;		/* offset, number of sums */
};

struct merger {
	struct profile p;
	struct strpool strings;	/* those of p */
	struct merge m;
	struct idtab images;
	struct buf sums;
	VEC(struct merge_run) runs;	/* by run of p */
	size_t symbol_rows;		/* after duplicates were removed */
};

/* Reads the next sum from merger.sums; `last` is the one before, initially all
 * 0. */
void merge_sum_next(struct cursor *c, struct merge_sum *last);
int merge_sum_compare(const void *x, const void *y);

#endif
