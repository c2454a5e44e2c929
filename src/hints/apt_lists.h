/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_HINTS_APT_LISTS_H
#define TALLY_HINTS_APT_LISTS_H
/* What apt knows of the archives (private to src/hints). */
#include "image/image.h"

/* A build-id and the package whose debug files it is among. */
struct apt_ask {
	struct build_id id;	/* len 0: not asked */
	char *package;		/* malloc'ed, or NULL */
	char *name;		/* a package that might have been it, or NULL */
	bool seen;		/* that one is there, with other build-ids */
};

/* Whether an archive of debug packages is among apt's sources. */
bool apt_has_debug_archive(const char *root);
/* Looks for the build-ids in all lists of packages; 0 or -ERR_NOMEM. */
int apt_find_build_ids(const char *root, struct apt_ask *ask, size_t n);

#endif
