/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_IDENTITY_H
#define TALLY_RECORD_COLLECT_IMAGE_IDENTITY_H
/*
 * Checks whether an opened file is the one that was mapped.  A wrong name is worse
 * than none, so a file counts only if it is shown to be the same.
 *
 * The kernel reports a mapping's build ID, or its device, inode and inode generation.
 * Device and inode from stat(2) can differ from those of a mapping (btrfs,
 * overlayfs).  In that case tally maps the file itself to see how the kernel reports
 * it.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "record/source/source.h"

/* The state of a file's contents, as recorded in its inode. */
struct file_stamp {
	uint64_t size;
	int64_t mtime_s;
	int64_t mtime_ns;
};

struct file_stamp file_stamp_of(const struct stat *st);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* Checks a mapping without a build ID.  `mapped_ns` is the time of the mapping on
 * CLOCK_MONOTONIC; 0 if unknown. */
bool is_mapped_inode(const struct mapping *m, uint64_t mapped_ns, int fd,
		     const struct stat *st);

/* Returns whether the file was written to since it was mapped.  The kernel prevents
 * that for programs that run, but not for libraries and programs that have ended. */
bool is_written_since(uint64_t mapped_ns, const struct stat *st);

/* The mapping of tally's own process that holds p. */
struct self_map {
	uint64_t start, end, dev, inode;
};
bool self_map_find(const void *p, struct self_map *out);

#endif
