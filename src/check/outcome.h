/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_OUTCOME_H
#define TALLY_CHECK_OUTCOME_H
/* When new runs are broken, and the words for it.  The caller frees the words; NULL:
 * memory ran out. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* The costs of the sides are not comparable if one side certainly does less than
 * this share of the other's work. */
#define OUTCOME_WORK_MIN 0.2

/* Returns whether two runs ended alike, by their wait statuses.  Whether a core was
 * dumped depends on the machine's limits. */
bool outcome_alike(int a, int b);

/* The ways in which some runs ended.  Zero-initialize; release `ways` by buf_fini. */
enum { OUTCOME_WAYS = 8 };	/* that are distinguished */
struct outcome_ends {
	size_t n;		/* runs */
	struct buf ways;	/* "exit status 1 or signal 11" */
	int seen[OUTCOME_WAYS];
	size_t nseen;
};
void outcome_add(struct outcome_ends *e, int status);
/* Of `runs` new runs these ended like this, `unlike` all of the baseline. */
char *outcome_ended(struct outcome_ends *e, size_t runs, bool unlike);
/* The new side did this share of the baseline's work. */
char *outcome_less_work(double ratio);

#endif
