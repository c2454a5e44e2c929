/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CPU_WATCH_H
#define TALLY_RECORD_SOURCE_CPU_WATCH_H
/* Which processors are online, as a list in sysfs tells ("0-3,8"), and when that
 * changes.  Asking costs one read of some bytes. */
#include <stdbool.h>
#include <stdint.h>

struct cpu_watch {
	int fd;			/* -1: nothing is known */
	char text[1024];	/* of the last time */
};

/* `path`: normally "/sys/devices/system/cpu/online". */
void cpu_watch_open(struct cpu_watch *w, const char *path);
void cpu_watch_close(struct cpu_watch *w);

/* Has the list changed since the last time this was asked, or opened? */
bool cpu_watch_changed(struct cpu_watch *w);
bool cpu_watch_has(const struct cpu_watch *w, uint32_t cpu);

#endif
