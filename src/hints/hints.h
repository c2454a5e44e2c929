/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_HINTS_H
#define TALLY_HINTS_HINTS_H
/*
 * What would bring the debug information that an image lacks: the package that
 * holds it, the command that fetches it, or the way to build.
 *
 * A package is named only where the very file (by build-id) lies at its path on
 * this machine and the package database says whose it is; elsewhere the build-id
 * alone must do.  Everything read here (the package database, lists of packages,
 * os-release) is bounded and may be wrong or hostile: what goes into a command is
 * checked letter by letter.
 */
#include <stdbool.h>
#include <stddef.h>

#include "image/image.h"

struct hint_ask {
	const char *path;	/* the image as it was recorded */
	struct build_id id;
	const char *kernel;	/* the release, where the image is a kernel or
				 * one of its modules; else NULL */
	bool stripped;		/* the file has no symbol table */
};

/* Each "" where there is nothing to say. */
struct hint {
	char *package;		/* holds the debug information */
	char *command;		/* installs or fetches it */
	char *note;		/* what else to know or to do */
	char *fetch;		/* another command that fetches it */
};

struct hint_options {
	const char *root;	/* of the file system; NULL: "" */
	const char *debuginfod;	/* $DEBUGINFOD_URLS or NULL */
	bool no_files;		/* do not open what `ask` names */
	bool search_lists;	/* find packages by build-id in apt's lists too;
				 * takes time, and may run apt-helper(1) */
};

/* Answers ask[i] in out[i].  0 or -ERR_NOMEM; hints_fini in both cases. */
int hints_find(const struct hint_options *o, const struct hint_ask *ask,
	       size_t n, struct hint *out);
void hints_fini(struct hint *h, size_t n);

#endif
