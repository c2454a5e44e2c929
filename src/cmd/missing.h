/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_MISSING_H
#define TALLY_CMD_MISSING_H
/* Finds out what would provide, on this machine, what a recording lacks. */
#include "hints/hints.h"
#include "views/quality/missing.h"

struct missing_help {
	struct hint *hints;
	size_t n;
};

/* Fills in the first n rows.  Free the help after showing the rows.  For `search`,
 * see hint_options.search_lists. */
int missing_help_find(struct missing *m, size_t n, bool search,
		      struct missing_help *out, struct error *err);
void missing_help_free(struct missing_help *h);

#endif
