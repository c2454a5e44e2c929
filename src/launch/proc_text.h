/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PROC_TEXT_H
#define TALLY_LAUNCH_PROC_TEXT_H
/*
 * The text files of proc(5) that the recorder reads.  Pure: text goes in, rows
 * come out; a line that does not follow the document is left out.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/mapping.h"

/* False stops. */
typedef bool proc_map_cb(void *ctx, const struct mapping *m);
/* The executable mappings of /proc/PID/maps. */
void proc_maps_parse(const char *text, size_t n, proc_map_cb *cb, void *ctx);

struct proc_module {
	char name[64];
	uint64_t start, size;
};
typedef bool proc_module_cb(void *ctx, const struct proc_module *m);
/* /proc/modules; modules whose address is hidden are left out. */
void proc_modules_parse(const char *text, size_t n, proc_module_cb *cb,
			void *ctx);

/* The number after "KEY:" in /proc/PID/status; false when there is none. */
bool proc_status_number(const char *text, size_t n, const char *key,
			uint64_t *out);
/* The number that a process or thread has in its own pid namespace, by NSpid of its
 * status; 0: it is not told. */
uint32_t proc_status_own(const char *text, size_t n);
/* The time that the host took from all processors, in clock ticks, by the beginning of
 * /proc/stat; 0: it is not told. */
uint64_t proc_stat_stolen(const char *text, size_t n);

#endif
