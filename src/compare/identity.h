/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_IDENTITY_H
#define TALLY_COMPARE_IDENTITY_H
/*
 * Decides which rows of a profile's tables are the same function or image.
 * Functions with equal names may differ.  One function may have several rows:
 * one for each place where it was inlined, and one for its own code.
 *
 * Two images are the same if path and build ID are equal, or, for code without
 * a file (JIT, BPF), if the path is.  Within an image two functions are the
 * same if their names are equal and
 *	- the name is visible to other source files (mangled, not local), or
 *	- both are declared at the same line of the same file, or
 *	- no declaration is known and both start at the same address, or
 *	- the code has no file and no source: code that is compiled repeatedly is
 *	  one function, or
 *	- it is a stub of the linker.
 * Rows with only a name are inlined functions of units with line tables only.
 * Such a row belongs to the only function of that name, or else to the one in
 * the same source file.
 */
#include "base/arrays.h"
#include "base/path.h"
#include "profile/model.h"

struct identity {
	/* by func: the row that represents all rows of the same function */
	uint32_t *func;
	/* by image: the row that represents all rows of the same image */
	uint32_t *image;
	struct arrays arrays;	/* both */
};

/* Fills `x` for a profile.  `across`: functions declared at the same place are
 * also the same across images.  Returns 0 or -ERR_NOMEM. */
int identity_init(struct identity *x, const struct profile *p, bool across);
void identity_fini(struct identity *x);

/* Returns whether a linkage name identifies one function in an image, that is,
 * whether it is mangled and visible to other source files. */
bool identity_global(const char *name);

/* Returns whether `base` is the file name of the program that the first run
 * started. */
bool path_is_program(const struct profile *p, const char *base);

#endif
