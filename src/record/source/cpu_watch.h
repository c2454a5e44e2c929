/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CPU_WATCH_H
#define TALLY_RECORD_SOURCE_CPU_WATCH_H
/* Tracks which CPUs are online, from a list in sysfs ("0-3,8"), and when that list
 * changes.  A check costs one read of a few bytes. */
#include <stdbool.h>
#include <stdint.h>

struct cpu_watch {
	int fd;			/* file descriptor; -1: nothing is known */
	char text[1024];	/* list as last read */
};

/* Opens the list at `path`, normally "/sys/devices/system/cpu/online". */
void cpu_watch_open(struct cpu_watch *w, const char *path);
void cpu_watch_close(struct cpu_watch *w);

/* Returns whether the list has changed since the last check or since it was opened. */
bool cpu_watch_changed(struct cpu_watch *w);
bool cpu_watch_has(const struct cpu_watch *w, uint32_t cpu);

#endif
