/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_RENAMES_H
#define TALLY_COMPARE_RENAMES_H
/*
 * Finds renamed functions: functions that exist on one side only are paired by
 * their code, whatever they cost, so that a function that was renamed and got
 * slower is compared with its old self.  The caller supplies the similarity
 * measure, because `tally diff` and `tally check` represent functions
 * differently.
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

/* Functions with fewer samples or a smaller share of their side (there are at
 * most a thousand above it) are not compared, because chance decides whether
 * they are sampled. */
#define RENAME_LEAST_SHARE 0.001
enum { RENAME_LEAST_SAMPLES = 10 };

/* Maximum total number of instructions that are compared; functions beyond it
 * stay unpaired. */
enum { RENAME_WORK = 1 << 28 };

#define RENAME_NONE ((size_t)-1)
/* Sets now[i] to the element of `new` that old[i] became, or RENAME_NONE; each
 * is paired at most once.  Pairs with the most similar code come first, then
 * with similar names and images, then with similar shares.  Returns 0 or
 * -ERR_NOMEM. */
int renames_find(const struct rename_item *old, size_t nold,
		 const struct rename_item *new, size_t nnew, size_t *now);

#endif
