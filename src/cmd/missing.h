/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_MISSING_H
#define TALLY_CMD_MISSING_H
/* Asks this machine what would help against what a recording lacks. */
#include "hints/hints.h"
#include "views/quality/missing.h"

struct missing_help {
	struct hint *hints;
	size_t n;
};

/* Fills in the first n rows; free the help after the rows were shown.  `search`:
 * see hint_options.search_lists. */
int missing_help_find(struct missing *m, size_t n, bool search,
		      struct missing_help *out, struct error *err);
void missing_help_free(struct missing_help *h);

#endif
