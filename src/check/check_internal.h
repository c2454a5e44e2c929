/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_CHECK_INTERNAL_H
#define TALLY_CHECK_CHECK_INTERNAL_H
/* Functions that the files of a check share. */
#include "check/check.h"

/* Adds a note of one line about the whole check, cut at 1 KB. Returns 0 or
 * -ERR_NOMEM. */
int check_note(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* comparable.c: refuses recordings that cannot be compared.  Finds differences
 * that make absolute costs incomparable, and whether the two sides were
 * interleaved. */
int check_comparable(struct check *c, struct error *err);
/* outcome.c: sets c->broken if the new side ended differently or did far less work.
 * Returns 0 or -ERR_NOMEM. */
int check_outcome(struct check *c);
/* Returns the wait status of a run; negative if unknown. */
int check_run_status(const struct check *c, size_t run);
/* matrix.c: builds the rows and their costs by run. */
int check_matrix(struct check *c, struct error *err);
int check_matrix_inclusive(struct check *c, struct error *err);
/* evidence.c: finds lines and callers of the rows that changed. */
int check_evidence(struct check *c, struct error *err);
/* evidence_code.c: aligns instructions of the shown rows with the new code; runs:
 * [part * nruns + run]. Returns 0 or -ERR_NOMEM. */
int check_align_code(struct check *c, double *runs, size_t nruns);
/* moved.c: finds slower rows whose cost came from related rows. */
int check_moved(struct check *c, struct error *err);

#endif
