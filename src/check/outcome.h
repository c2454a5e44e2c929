/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_OUTCOME_H
#define TALLY_CHECK_OUTCOME_H
/* Tells whether new runs are broken, and describes how.  The caller frees the
 * descriptions; NULL: out of memory. */
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
enum { OUTCOME_WAYS = 8 };	/* maximum number of ways that are listed */
struct outcome_ends {
	size_t n;		/* runs */
	struct buf ways;	/* "exit status 1 or signal 11" */
	int seen[OUTCOME_WAYS];
	size_t nseen;
};
void outcome_add(struct outcome_ends *e, int status);
/* Describes how these of `runs` new runs ended; `unlike`: no baseline run ended so. */
char *outcome_ended(struct outcome_ends *e, size_t runs, bool unlike);
/* Says that the new side did only this share of the baseline's work. */
char *outcome_less_work(double ratio);

#endif
