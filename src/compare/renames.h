/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_RENAMES_H
#define TALLY_COMPARE_RENAMES_H
/*
 * Functions that have another name now: those of one side only, paired by what
 * they are made of, whatever they cost, so that a function which was renamed and
 * got slower is held against itself.  What is alike, the caller says: `tally diff`
 * and `tally check` keep functions in their own ways.
 */
#include <stddef.h>
#include <stdint.h>

#include "compare/code_overlap.h"

/* A function that only one side ran. */
struct rename_item {
	uint32_t func;		/* the caller's */
	double share;		/* of its side's cost */
	const char *image, *name;	/* as matched; name: linkage name */
	const char *file;	/* base name of where it is declared, "": not
				 * known */
	struct code_ngrams code;	/* owned by whoever made the item */
};

/* Below, chance says what ran: what has fewer samples, or costs less than this share
 * of its side (of which there are a thousand at most), is held against nothing. */
#define RENAME_LEAST_SHARE 0.001
enum { RENAME_LEAST_SAMPLES = 10 };

/* Each function of one side is held against each of the other, for so many
 * instructions together; what is left then, stays unpaired. */
enum { RENAME_WORK = 1 << 28 };

#define RENAME_NONE ((size_t)-1)
/* now[i]: which of `new` old[i] is today, or RENAME_NONE; nothing is paired twice.
 * What has most in common is paired first: its code, then name and image; of equals,
 * those whose shares are nearest.  0 or -ERR_NOMEM. */
int renames_find(const struct rename_item *old, size_t nold,
		 const struct rename_item *new, size_t nnew, size_t *now);

#endif
