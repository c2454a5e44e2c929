/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_JIT_MAP_H
#define TALLY_RECORD_COLLECT_JIT_MAP_H
/*
 * The files in which a program names the code that it makes while it runs.
 *
 * A perf map is /tmp/perf-PID.map: in the program's own /tmp and by its own number
 * while it lives, else in ours.  Everybody may write to /tmp.  A file counts only when
 * it is a plain one, of the process's owner or root, and not older than the process:
 * numbers of processes come again.  Of a recording that was made before
 * (images.foreign_proc) it must be our user's own and have been there while that went
 * on.
 *
 * A jitdump file (symbolize/jitdump.h) is anywhere, as "jit-PID.dump" with the program's
 * own number for itself.  The program maps its first page executable, to tell of it,
 * so that the file is found as the files of programs are, empty or not.  It counts if
 * it is of the process's owner or root, and its header has the number of its name.
 */
#include <sys/stat.h>

#include "record/collect/images.h"

/* The images's file, kept in r->fd, when it first has a sample: later the
 * program may be gone. */
void jit_map_take(struct images *im, struct recorded_image *r);
/* When recording has ended: an fd that is the caller's, or -1. */
int jit_map_open(const struct images *im, const struct recorded_image *r);

/* Whether a file that a process maps, with this path, is its jitdump file; sets *why
 * (malloc) where it is one that does not count.  `st` is the
 * file's. */
bool jit_dump_counts(const struct images *im, uint32_t pid, const char *path,
		     const struct stat *st, char **why);
/* The jitdump file of the process whose memory `r` is: an fd that is the caller's, or
 * -1. */
int jit_dump_open(const struct images *im, const struct recorded_image *r);

#endif
