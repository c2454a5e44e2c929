/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_HINTS_H
#define TALLY_HINTS_HINTS_H
/*
 * Finds out how to get the debug information that an image lacks: the package
 * that contains it, the command that fetches it, or how to build.
 *
 * A package is named only if the file at the image's path has the image's build
 * ID and the package database knows its owner.  Otherwise only the build ID is
 * used.  All input (package database, package lists, os-release) is bounded and
 * may be wrong or hostile: every character that goes into a command is checked.
 */
#include <stdbool.h>
#include <stddef.h>

#include "image/image.h"

struct hint_ask {
	const char *path;	/* recorded path of the image */
	struct build_id id;
	const char *kernel;	/* release of the kernel, if the image is a kernel or
				 * module; else NULL */
	bool stripped;		/* the file lacks a symbol table */
};

/* Advice for one image.  Each text is "" if there is nothing to say. */
struct hint {
	char *package;		/* package with the debug information */
	char *command;		/* command that installs or fetches it */
	char *note;		/* further advice */
	char *fetch;		/* alternative command that fetches it */
};

struct hint_options {
	const char *root;	/* root of the file system; NULL: "" */
	const char *debuginfod;	/* $DEBUGINFOD_URLS or NULL */
	bool no_files;		/* do not open the files that `ask` names */
	bool search_lists;	/* also search apt's lists by build ID; slow, and may
				 * run apt-helper(1) */
};

/* Stores the advice for ask[i] in out[i].  Returns 0 or -ERR_NOMEM; call
 * hints_fini in both cases. */
int hints_find(const struct hint_options *o, const struct hint_ask *ask,
	       size_t n, struct hint *out);
void hints_fini(struct hint *h, size_t n);

#endif
