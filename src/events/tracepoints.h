/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_TRACEPOINTS_H
#define TALLY_EVENTS_TRACEPOINTS_H
/* Tracepoints, as tracefs below sysfs lists them. */
#include "events/event.h"

/* SYSTEM:NAME; 1 when it exists, 0 when not, or an error.
 * Fills type and config. */
int tracepoint_find(const char *sysfs, const char *system, const char *name,
		    struct event_spec *out, struct error *err);

/* Where a field of four bytes stands in its records, by its format; false when it is
 * not known. */
bool tracepoint_field(const char *sysfs, const char *system, const char *name,
		      const char *field, uint32_t *offset);

/*
 * All whose SYSTEM:NAME matches a pattern with * and ?, in order of their names.
 * The callback returns 0 or an error code; 0, or an error.
 */
typedef int tracepoint_cb(void *ctx, const char *name, uint64_t id);
int tracepoints_match(const char *sysfs, const char *pattern,
		      tracepoint_cb *cb, void *ctx, struct error *err);

/* Is there a list of tracepoints that we may read? */
bool tracepoints_readable(const char *sysfs);

#endif
