/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_SYSFS_FILES_H
#define TALLY_EVENTS_SYSFS_FILES_H
/*
 * Reading small files of sysfs.  `sysfs` is where it is mounted: /sys, or a
 * made-up tree in tests.  Nothing here fails with words: a file that is not there
 * or not readable is one that this kernel does not have.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum { SYSFS_PATH = 512 };	/* room for a path */

/* A name that may become a path component. */
bool sysfs_plain(const char *name);
/* Reads a regular file of at most 4 KB without its white space at the end; NULL
 * when there is none.  The text is in `out`, until it is used again. */
const char *sysfs_read(struct buf *out, const char *path);
/* The same for a PMU's file DIR/NAME, or with NAME "" its file DIR. */
const char *pmu_file(struct buf *out, const char *sysfs, const char *pmu,
		     const char *dir, const char *name);
/* The whole text is a number, decimal, octal or hexadecimal. */
bool sysfs_number(const char *s, uint64_t *v);

/* The PMUs, cores first, then by name, as scandir(3) gives them: their number,
 * or -1.  To be freed by sysfs_list_free, also when it is -1. */
int sysfs_pmus(const char *sysfs, struct dirent ***out);
void sysfs_list_free(struct dirent **list, int n);
/* For scandir: not hidden, and no path. */
int sysfs_dir_plain(const struct dirent *d);

#endif
