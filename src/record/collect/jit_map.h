/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_JIT_MAP_H
#define TALLY_RECORD_COLLECT_JIT_MAP_H
/*
 * The files in which a program names the code that it generates at run time.
 *
 * A perf map is /tmp/perf-PID.map.  While the program lives, tally looks in the
 * program's own /tmp, by the program's own number; afterwards in tally's /tmp.
 * Any user may write to /tmp, and process IDs are reused.  A file therefore counts
 * only if it is a regular file, belongs to the process's owner or root, and is not
 * older than the process.  For a recording made earlier (images.foreign_proc) it must
 * belong to tally's user and have existed during the recording.
 *
 * A jitdump file (symbolize/jitdump.h) may be in any folder, as "jit-PID.dump" with
 * the program's own process number.  The program maps its first page executable to
 * announce it, so tally finds it like the file of a program, even when it is empty.
 * It counts if it belongs to the process's owner or root, and its header has the
 * process number in its name.
 */
#include <sys/stat.h>

#include "record/collect/images.h"

/* Opens the image's file into r->fd, at its first sample and later until it exists, because
 * the program may be gone at the end. */
void jit_map_take(struct images *im, struct recorded_image *r);
/* Returns a descriptor that the caller closes, or -1.  Call it when recording has
 * ended. */
int jit_map_open(const struct images *im, const struct recorded_image *r);
/* Removes the perf maps of processes that have ended, if they were written for this
 * recording (images.own_maps): also of those without a sample in generated code.  Call
 * it when all names are read. */
void jit_maps_remove(struct images *im);

/* Returns whether a mapped file with this path is a jitdump file of the process that
 * counts.  Sets *why (malloc) if it is a jitdump file that does not.  `st` is the
 * file's. */
bool jit_dump_counts(const struct images *im, uint32_t pid, const char *path,
		     const struct stat *st, char **why);
/* Opens the jitdump file of the process whose memory is `r`.  Returns a descriptor
 * that the caller closes, or -1. */
int jit_dump_open(const struct images *im, const struct recorded_image *r);

#endif
