/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_EVENTS_SYSFS_H
#define TALLY_TESTS_EVENTS_SYSFS_H
/* A folder that looks like /sys to the event parser. */

struct sysfs {
	char root[64];
};

/* Makes it with the PMU files of an Intel Skylake, as its kernel shows them; 0
 * or -1. */
int sysfs_make(struct sysfs *s);
/* Writes one file below the root, with its folders. */
int sysfs_put(const struct sysfs *s, const char *path, const char *text);
void sysfs_drop(struct sysfs *s);

#endif
