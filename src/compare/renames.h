/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_RENAMES_H
#define TALLY_COMPARE_RENAMES_H
/*
 * Finds renamed functions.  Functions that exist on one side only are paired by
 * their code, regardless of their cost.  A function that was renamed and got
 * slower is thus compared with its old version.  The caller supplies the
 * similarity measure, because `tally diff` and `tally check` represent
 * functions differently.
 */
#include <stddef.h>
#include <stdint.h>

#include "compare/code_overlap.h"

/* A function with samples on one side only. */
struct rename_item {
	uint32_t func;		/* the caller's number of the function */
	double share;		/* share of its side's cost, 0 to 1 */
	const char *image, *name;	/* as matched; name: linkage name */
	/* base name of the file that declares it; "": unknown */
	const char *file;
	struct code_ngrams code;	/* owned by the caller */
};

/* Minimum share and minimum samples of a function that is compared.  At most a
 * thousand functions of a side exceed the share.  Below these limits, chance
 * decides whether a function is sampled. */
#define RENAME_MIN_SHARE 0.001
enum { RENAME_MIN_SAMPLES = 10 };

/* Maximum total number of instructions that are compared; functions beyond it
 * stay unpaired. */
enum { RENAME_WORK = 1 << 28 };

#define RENAME_NONE ((size_t)-1)
/*
 * Sets now[i] to the element of `new` that old[i] became, or RENAME_NONE.  Each
 * element is paired at most once.  Pairs with the most similar code come first,
 * then those with similar names and images, then those with similar shares.
 * Returns 0 or -ERR_NOMEM.
 */
int renames_find(const struct rename_item *old, size_t nold,
		 const struct rename_item *new, size_t nnew, size_t *now);

#endif
