/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_TRACEPOINTS_H
#define TALLY_EVENTS_TRACEPOINTS_H
/* Tracepoints, as tracefs below sysfs lists them. */
#include "events/event.h"

/* Looks up SYSTEM:NAME and sets type and config.  Returns 1 if it exists, 0 if
 * not, or an error. */
int tracepoint_find(const char *sysfs, const char *system, const char *name,
		    struct event_spec *out, struct error *err);

/* Returns the offset of a four-byte field in the records, from its format;
 * false if unknown. */
bool tracepoint_field(const char *sysfs, const char *system, const char *name,
		      const char *field, uint32_t *offset);

/*
 * Calls cb for all tracepoints whose SYSTEM:NAME matches a pattern with * and
 * ?, in order of their names.  The callback returns 0 or an error code.
 * Returns 0 or an error.
 */
typedef int tracepoint_cb(void *ctx, const char *name, uint64_t id);
int tracepoints_match(const char *sysfs, const char *pattern,
		      tracepoint_cb *cb, void *ctx, struct error *err);

/* Returns whether the list of tracepoints can be read. */
bool tracepoints_readable(const char *sysfs);

#endif
