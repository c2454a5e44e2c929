/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_APT_LISTS_H
#define TALLY_HINTS_APT_LISTS_H
/* Reads apt's package lists (private to src/hints). */
#include "image/image.h"

/* A build ID and the package that contains its debug files. */
struct apt_ask {
	struct build_id id;	/* len 0: not requested */
	char *package;		/* malloc'ed, or NULL */
	char *name;		/* likely package name, or NULL */
	bool known;		/* the lists contain a package `name`… */
	bool seen;		/* … and its build IDs were read */
};

/* Returns whether apt's sources include an archive of debug packages. */
bool apt_has_debug_archive(const char *root);
/* Searches all package lists for the build IDs.  Returns 0 or -ERR_NOMEM.  Sets
 * *read if all lists could be read.  Then a package that is not `known`, and
 * whose build ID was not found, is not available. */
int apt_find_build_ids(const char *root, struct apt_ask *ask, size_t n,
		       bool *read);

#endif
