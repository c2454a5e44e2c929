/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_EDITS_H
#define TALLY_CHECK_EDITS_H
/*
 * Finds the functions and declarations that a diff changes, for slowdowns of code
 * that was not itself edited.  Reads what `git diff -U0` prints (git-diff(1),
 * "Generating patch text with -p"), without trusting it: anything that is not a diff
 * has no edits.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct edit {
	char *path;	/* in the new revision, as the diff has it without "b/" */
	uint32_t line;	/* first changed line of the new revision */
	char *name;	/* function, variable, macro or type around or at the line;
			 * "" at the head of a file */
};

enum { EDITS_MAX = 2000 };

struct edits {
	VEC(struct edit) v;	/* in the diff's order; each name once per file;
				 * at most EDITS_MAX */
};

/* Adds the edits of a diff.  Comments, blank lines and deleted files do not count.
 * Returns 0 or -ERR_NOMEM. */
int edits_parse(struct edits *e, const char *diff, size_t n);
void edits_fini(struct edits *e);

/* Returns the name that a line of source declares, such as "hash" for "static
 * unsigned hash(const char *s)", as a string to free: NULL without memory. */
char *edits_name(const char *line, size_t n);

#endif
