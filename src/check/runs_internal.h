/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_RUNS_INTERNAL_H
#define TALLY_CHECK_RUNS_INTERNAL_H
/* What the parts of runs.h share. */
#include "check/runs.h"

/* lines.c: matches lines of all recordings, of the files wanted (by str of their
 * base names; NULL: all).  0 or -ERR_NOMEM. */
int runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted);

#endif
