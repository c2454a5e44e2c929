/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_DPKG_H
#define TALLY_HINTS_DPKG_H
/* Queries Debian's package database (private to src/hints). */
#include <stdbool.h>
#include <stddef.h>

/* A file and the package that owns it. */
struct dpkg_ask {
	const char *path;	/* NULL: not requested */
	char *owner;		/* name without architecture, malloc'ed, or NULL */
};

bool dpkg_is_here(const char *root);
/* Sets the owners.  Returns 0 or -ERR_NOMEM. */
int dpkg_find_owners(const char *root, struct dpkg_ask *ask, size_t n);
/* Returns whether a package with this name is installed. */
bool dpkg_has(const char *root, const char *package);
/* Returns whether the text is a valid package name (Debian Policy §5.6.7). */
bool dpkg_is_name(const char *s, size_t n);

#endif
