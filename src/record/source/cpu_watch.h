/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CPU_WATCH_H
#define TALLY_RECORD_SOURCE_CPU_WATCH_H
/*
 * Tracks which CPUs are online, from a list in sysfs ("0-3,8"), and which went
 * offline in between.  The list does not show a CPU that is back already, but the
 * kernel's device events do, and the clocks show that the machine slept, which takes
 * CPUs offline, too.  A check costs two small reads.
 */
#include <stdbool.h>
#include <stdint.h>

enum { CPU_WATCH_MAX = 8192 };

struct cpu_watch {
	int fd;			/* file descriptor; -1: nothing is known */
	int device_fd;		/* device events of the kernel, or -1 */
	uint64_t slept_ns;	/* time that the machine slept */
	bool all_went;		/* any CPU may have gone */
	uint64_t went[CPU_WATCH_MAX / 64];	/* bitmap */
	char text[1024];	/* list as last read */
};

/* Opens the list at `path`, normally "/sys/devices/system/cpu/online". */
void cpu_watch_open(struct cpu_watch *w, const char *path);
void cpu_watch_close(struct cpu_watch *w);

/* Returns whether CPUs have come or gone since the last check or since the list was
 * opened. */
bool cpu_watch_changed(struct cpu_watch *w);
bool cpu_watch_has(const struct cpu_watch *w, uint32_t cpu);
/* Returns whether the CPU was offline between the last two checks, even if it is back.
 * After a sleep of the machine that is so for all. */
bool cpu_watch_went(const struct cpu_watch *w, uint32_t cpu);

#endif
