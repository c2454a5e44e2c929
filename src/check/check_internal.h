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
/* evidence.c: finds lines and callers of the rows that changed. */
int check_evidence(struct check *c, struct error *err);

#endif
