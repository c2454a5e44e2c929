/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_DPKG_H
#define TALLY_HINTS_DPKG_H
/* Debian's package database, as far as hints need it (private to src/hints). */
#include <stdbool.h>
#include <stddef.h>

/* A file and the package that owns it. */
struct dpkg_ask {
	const char *path;	/* NULL: not asked */
	char *owner;		/* malloc'ed name without architecture, or NULL */
};

bool dpkg_is_here(const char *root);
/* Fills in the owners; 0 or -ERR_NOMEM. */
int dpkg_find_owners(const char *root, struct dpkg_ask *ask, size_t n);
/* Whether a package of this name is installed. */
bool dpkg_has(const char *root, const char *package);
/* Debian Policy §5.6.7: what a package may be called. */
bool dpkg_is_name(const char *s, size_t n);

#endif
