/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COMPARE_IDENTITY_H
#define TALLY_COMPARE_IDENTITY_H
/*
 * Which rows of a profile's tables are one function, or one image.  Equal names
 * do not make one function, and one function may have several rows: one for
 * where it was inlined, one for its own code.
 *
 * Two images are one when path and build-id are equal; code without a file
 * (JIT, BPF) when the path is.  Within an image two functions are one when their
 * names are equal and
 *	- the name is visible to other source files (a mangled one, not local), or
 *	- both are declared at the same line of the same file, or
 *	- where no declaration is known, both begin at the same address, or
 *	- the code has no file, nor the source: what is compiled again and again is
 *	  one function, or
 *	- it is a stub of the linker.
 * Rows of which nothing but the name is known (inlined functions of units with
 * line tables only) belong to the only function of that name, if there is one,
 * or to the one whose source file they were in.
 */
#include "profile/model.h"

struct identity {
	uint32_t *func;		/* by func: the row that stands for all rows of
				 * the same function */
	uint32_t *image;	/* by image: likewise */
};

/* `across`: functions that are declared at one place are one in all images, too.
 * 0 or -ERR_NOMEM. */
int identity_init(struct identity *x, const struct profile *p, bool across);
void identity_fini(struct identity *x);

/* Whether a linkage name means one function in all of an image: it is mangled and
 * visible to other source files. */
bool identity_global(const char *name);

/* Appends a path without "//", "/./" and "dir/../". */
void path_normal(const char *path, struct buf *out);
/* How many of the last parts of two paths are equal: 2 for a/b/c.h, x/b/c.h. */
size_t path_common_end(const char *a, const char *b);
/* The last n parts of a path. */
const char *path_end(const char *path, size_t n);
/* Whether `path` ends with `end`, whole parts only. */
bool path_ends_with(const char *path, const char *end);
/* Whether a file of this name is the program that the first run started. */
bool path_is_program(const struct profile *p, const char *base);
/* The last part of a path; names in [brackets] stay whole. */
const char *path_base(const char *path);

#endif
