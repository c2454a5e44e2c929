/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_EDITS_H
#define TALLY_CHECK_EDITS_H
/*
 * Finds the functions and declarations that a diff changes, for slowdowns of code
 * that was not itself edited.  Reads what `git diff` prints (git-diff(1),
 * "Generating patch text with -p"), without trusting it: anything that is not a diff
 * has no edits.  With the whole files as context (-U and a large number) comments and
 * the ends of functions are known; with -U0 they are guessed.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum edit_kind {
	EDIT_CHANGED,
	EDIT_REMOVED,	/* a declaration that the new revision lacks */
	EDIT_SUBMODULE,	/* another commit of a submodule */
};

struct edit {
	enum edit_kind kind;
	char *path;	/* in the new revision, or if the file was deleted in the old
			 * one, as the diff has it without "b/" */
	uint32_t line;	/* first changed line of the new revision; EDIT_REMOVED: line
			 * of the old one */
	uint32_t at, to;	/* lines of the new revision whose history has the
				 * change; 0: that of the file has it */
	char *name;	/* function, variable, macro or type around or at the line;
			 * "" outside of all */
};

enum { EDITS_MAX = 1 << 18 };

struct edits {
	VEC(struct edit) v;	/* in the diff's order; each name once per file;
				 * at most EDITS_MAX */
	size_t all;		/* their number without that limit */
};

/* Adds the edits of a diff.  Comments and blank lines do not count.
 * Returns 0 or -ERR_NOMEM. */
int edits_parse(struct edits *e, const char *diff, size_t n);
void edits_fini(struct edits *e);

/* Returns the name that a line of source declares, such as "hash" for "static
 * unsigned hash(const char *s)", as a string to free: NULL without memory. */
char *edits_name(const char *line, size_t n);

#endif
