/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_SYSFS_FILES_H
#define TALLY_EVENTS_SYSFS_FILES_H
/*
 * Reads small files of sysfs.  `sysfs` is the mount point, /sys, or a simulated
 * tree in tests.  There are no error messages: a file that is missing or not
 * readable means that this kernel does not have the feature.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { SYSFS_PATH = 512 };	/* room for a path */

/* Returns whether a name may become a path component. */
bool sysfs_plain(const char *name);
/* Reads a regular file of at most 4 KB without trailing white space; NULL if
 * there is none.  The text is in `out` until its next use. */
const char *sysfs_read(struct buf *out, const char *path);
/* Does the same for a PMU's file DIR/NAME, or with an empty NAME its file DIR.
 */
const char *pmu_file(struct buf *out, const char *sysfs, const char *pmu,
		     const char *dir, const char *name);
/* Parses a text that is one number, decimal, octal or hexadecimal. */
bool sysfs_number(const char *s, uint64_t *v);
/* Returns whether a list such as "0-3,8" contains the CPU. */
bool cpu_list_has(const char *s, uint32_t cpu);

/* Lists the PMUs, cores first, then by name, like scandir(3).  Returns their
 * number or -1; free the list with sysfs_list_free in both cases. */
int sysfs_pmus(const char *sysfs, struct dirent ***out);
void sysfs_list_free(struct dirent **list, int n);
/* Filter for scandir: not hidden, and not a path. */
int sysfs_dir_plain(const struct dirent *d);

#endif
