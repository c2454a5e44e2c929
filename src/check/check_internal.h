/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_CHECK_INTERNAL_H
#define TALLY_CHECK_CHECK_INTERNAL_H
/* What the parts of a check share. */
#include "check/check.h"

/* Sets the message that memory ran out; -ERR_NOMEM. */
int check_nomem(struct error *err);
/* One line for the user about the check as a whole, cut at 1 KB.  -ERR_NOMEM. */
int check_note(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* comparable.c: refuses what cannot be compared; finds what makes absolute
 * costs incomparable, and whether both sides were interleaved. */
int check_comparable(struct check *c, struct error *err);
/* … and whether the new side ended otherwise or did far less: c->broken.  0 or
 * -ERR_NOMEM. */
int check_outcome(struct check *c);
/* matrix.c: rows and their costs by run. */
int check_matrix(struct check *c, struct error *err);
int check_matrix_inclusive(struct check *c, struct error *err);
/* evidence.c: lines and callers of the rows that changed. */
int check_evidence(struct check *c, struct error *err);
/* evidence_code.c: aligns instructions of rows that are shown to those of the new
 * code; runs: [part * nruns + run].  0 or -ERR_NOMEM. */
int check_align_code(struct check *c, double *runs, size_t nruns);
/* What parts know a build by; 0: it has no build-id. */
uint64_t check_build_of(const struct prof_image *im);
/* moved.c: slower rows whose cost came from related ones. */
int check_moved(struct check *c, struct error *err);

#endif
