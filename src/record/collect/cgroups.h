/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_CGROUPS_H
#define TALLY_RECORD_COLLECT_CGROUPS_H
/*
 * Paths of control groups by the ID that the kernel adds to each sample
 * (PERF_SAMPLE_CGROUP, Linux 5.7).  The ID is that of the group at the time of the
 * sample, even if the process has moved or ended since, and /proc/PID/cgroup need not be
 * read for each process.
 *
 * IDs are used where perf events belong to version 2 of the hierarchy.  There the ID
 * is the inode of the group's folder.  ID 1, the root, counts as unknown: its members
 * may be in groups of version 1, or in groups that were created before the kernel
 * distinguished groups for perf events.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"

struct cgroups {
	bool looked, usable;	/* usable: valid once looked */
	bool own_paths;		/* records of new groups have paths that are valid in
				 * tally's namespace */
	struct buf mount;	/* path of the hierarchy.  It is opened for each new ID
				 * only, because files may be few. */
	struct u64map by_id;	/* offset in `paths` */
	struct buf paths;	/* each with its NUL; "" for the root of a namespace */
};

/* All-zero is a valid start. */
void cgroups_fini(struct cgroups *g);
/* Returns the path of a group, or NULL if it is unknown: then the process's own file
 * must be read.  `pid` is a process that was in the group.  Valid until the next
 * call. */
const char *cgroups_path(struct cgroups *g, const char *proc, uint64_t id,
			 uint32_t pid);
/* Appends the path of a process, or nothing if it cannot be read.  Returns whether the
 * process is in no hierarchy but version 2. */
bool cgroups_read(const char *proc, uint32_t pid, struct buf *path);
/* Notes a group that the kernel reports as new. */
void cgroups_made(struct cgroups *g, const char *proc, uint64_t id,
		  const char *path);

#endif
