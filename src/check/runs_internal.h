/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_RUNS_INTERNAL_H
#define TALLY_CHECK_RUNS_INTERNAL_H
/* Functions that the files behind runs.h share. */
#include "check/runs.h"

/* lines.c: matches the lines of all recordings in the wanted files, which are
 * given by the str of their base names; NULL: all files.  Returns 0 or -ERR_NOMEM. */
int runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted);

#endif
