/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_RUNS_INTERNAL_H
#define TALLY_CHECK_RUNS_INTERNAL_H
/* What the parts of runs.h share. */
#include "check/runs.h"

int runs_read_file(struct check_file *f,
		   const struct check_runs_options *o, struct error *err);
/* funcs.c: fills check_file.which, once all files were read. */
int runs_match_funcs(struct check_runs *c);
/* Functions and units of a file's frame keys. */
int runs_map_keys(struct check_runs *c, struct check_file *f, bool by_line);
uint32_t runs_unit(struct check_runs *c, const struct check_unit *u);
/* lines.c: matches lines of all recordings, of the files wanted (by str of their
 * base names; NULL: all).  0 or -ERR_NOMEM. */
int runs_match_lines(struct check_runs *c, const struct source_where *where,
		     const uint8_t *wanted, size_t nwanted);
/* renamed.c: pairs images of other names on both sides that hold the same
 * functions. */
int runs_pair_images(struct check_runs *c);
/* renamed_funcs.c: pairs functions of other names that have the same code. */
int runs_pair_functions(struct check_runs *c);

#endif
