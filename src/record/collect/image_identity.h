/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_IDENTITY_H
#define TALLY_RECORD_COLLECT_IMAGE_IDENTITY_H
/*
 * Is an opened file the one that was mapped?  A wrong name is worse than none,
 * so what cannot be shown to be the same counts as another.
 *
 * The kernel tells a mapping's build-id, or else device, inode and the inode's
 * generation.  Device and inode of stat(2) are not always those of a mapping
 * (btrfs, overlayfs): then the file is mapped here to see what the kernel calls
 * it.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "record/source/source.h"

/* The content of a file, as far as its inode tells. */
struct file_stamp {
	uint64_t size;
	int64_t mtime_s;
	int64_t mtime_ns;
};

struct file_stamp file_stamp_of(const struct stat *st);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/* For mappings without build-id.  `mapped_ns`: when, on CLOCK_MONOTONIC; 0: not
 * known. */
bool is_mapped_inode(const struct mapping *m, uint64_t mapped_ns, int fd,
		     const struct stat *st);

/* The mapping of this process that holds p. */
struct self_map {
	uint64_t start, end, dev, inode;
};
bool self_map_find(const void *p, struct self_map *out);

#endif
