/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PROC_TEXT_H
#define TALLY_LAUNCH_PROC_TEXT_H
/*
 * The text files of proc(5) that the recorder reads.  The functions are pure: text
 * goes in, rows come out.  Lines that do not follow the document are ignored.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launch/mapping.h"

/* Receives a mapping.  A false result stops. */
typedef bool proc_map_cb(void *ctx, const struct mapping *m);
/* Parses the executable mappings of /proc/PID/maps. */
void proc_maps_parse(const char *text, size_t n, proc_map_cb *cb, void *ctx);

struct proc_module {
	char name[64];
	uint64_t start, size;
};
typedef bool proc_module_cb(void *ctx, const struct proc_module *m);
/* Parses /proc/modules.  Modules whose address is hidden are ignored. */
void proc_modules_parse(const char *text, size_t n, proc_module_cb *cb,
			void *ctx);

/* Sets *out to the number after "KEY:" in /proc/PID/status.  Returns false if there
 * is none. */
bool proc_status_number(const char *text, size_t n, const char *key,
			uint64_t *out);
/* Returns the number of a process or thread in its own pid namespace, from NSpid in
 * its status; 0 if there is none. */
uint32_t proc_status_own(const char *text, size_t n);
/* Returns the time that the host took from all CPUs, in clock ticks, from the
 * beginning of /proc/stat; 0 if there is none. */
uint64_t proc_stat_stolen(const char *text, size_t n);

#endif
