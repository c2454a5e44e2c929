/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_ROTATE_H
#define TALLY_RECORD_ROTATE_H
/*
 * A recording in several files, one after the other (--switch-output).  Each
 * opens by itself: it has all tables, and its samples' names.
 *
 * At a switch the file gets its final name, FILE.TIME, at once, and the next one
 * is begun; the names of the finished one are looked up by a child process,
 * which has the profile as it was, so that sampling goes on.
 */
#include "record/run.h"

/* Before the run: what is needed to switch.  0 or an error. */
int rotate_begin(struct session *s, struct error *err);
/* Is a switch due, by size, time or signal? */
bool rotate_due(struct session *s, uint64_t now);
/* The file that is written is finished, and the next begun. */
int rotate_now(struct run *r, struct error *err);
/* The last file was finished: its name; waits for those before. */
int rotate_end(struct session *s, struct error *err);
void rotate_fini(struct session *s);

#endif
