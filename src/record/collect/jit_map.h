/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_JIT_MAP_H
#define TALLY_RECORD_COLLECT_JIT_MAP_H
/*
 * The file in which a program names the code that it makes while it runs,
 * /tmp/perf-PID.map: in the program's own /tmp and by its own number while it
 * lives, else in ours.
 *
 * Everybody may write to /tmp.  A file counts only when it is a plain one, of
 * the process's owner or root, and not older than the process: numbers of
 * processes come again.  Of a recording that was made before (images.foreign_proc)
 * it must be our user's own and have been there while that went on.
 */
#include "record/collect/images.h"

/* The images's file, kept in r->fd, when it first has a sample: later the
 * program may be gone. */
void jit_map_take(struct images *im, struct recorded_image *r);
/* When recording has ended: an fd that is the caller's, or -1. */
int jit_map_open(const struct images *im, const struct recorded_image *r);

#endif
