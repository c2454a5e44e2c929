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
	bool known;		/* that one is there… */
	bool seen;		/* … with other build-ids */
};

/* Whether an archive of debug packages is among apt's sources. */
bool apt_has_debug_archive(const char *root);
/* Looks for the build-ids in all lists of packages; 0 or -ERR_NOMEM.  *read is set
 * where all lists could be read: a name that is not known then, and whose build-id
 * was asked for in vain, is not to be had. */
int apt_find_build_ids(const char *root, struct apt_ask *ask, size_t n,
		       bool *read);

#endif
