/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_ROTATE_H
#define TALLY_RECORD_ROTATE_H
/*
 * A recording in several consecutive files (--switch-output).  Each file can be
 * opened by itself: it has all tables, and its samples' names.
 *
 * At a switch, the file gets its final name, FILE.TIME, at once, and the next one is
 * begun.  A child process, which has the profile as it was, looks up the names of the
 * finished file, so sampling continues.
 */
#include "record/run.h"

/* Prepares for switches before the run.  Returns 0 or an error. */
int rotate_begin(struct session *s, struct error *err);
/* Returns whether a switch is due: by size, time or signal, or because the tables need
 * more memory than they may. */
bool rotate_due(struct session *s, uint64_t now);
/* Finishes the current file and begins the next. */
int rotate_now(struct run *r, struct error *err);
/* Names the last file after it was finished, and waits for the earlier ones. */
int rotate_end(struct session *s, struct error *err);
/* Also waits for the helpers after an error. */
void rotate_fini(struct session *s);

#endif
