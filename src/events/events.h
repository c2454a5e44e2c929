/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_EVENTS_H
#define TALLY_EVENTS_EVENTS_H
/*
 * Parses the user's event names and specifiers into perf_event_open(2) attributes.
 * Reads sysfs (or a copy of it) but opens no events.
 *
 *	cycles  cycles:u  instructions:pp  cpu-clock  page-faults  r01c4
 *	cpu/event=0x3c,umask=0x0,name=foo/u   msr/tsc/   sched:sched_switch
 *	k8-dc-miss,usr   L2_LD:M+E   k8:0x76:0x00   (events/hw.h)
 *	uncore_cbox/clockticks/   of uncore_cbox_0, uncore_cbox_1 …
 *	{cycles,instructions}   to be counted at the same time
 *	sched:*  syscalls:sys_enter_*:u   all tracepoints of that name
 */
#include "events/event.h"

struct event_list {
	struct event_spec *v;
	size_t n, cap;
};

/* Parses a comma-separated list and appends the events.  Commas inside pmu/…/
 * belong to the event.  `sysfs` is normally "/sys"; `pmu/term/` reads
 * SYSFS/bus/event_source/devices/PMU/{type,format,events}. Errors name the word
 * and suggest the nearest names. */
int events_parse(const char *text, const char *sysfs, struct event_list *out,
		 struct error *err);
/* Returns whether the event is processor cycles, which a clock may replace if
 * there is no counter. */
bool event_is_cycles(const struct event_spec *e);
/* Returns whether a raw event has the bit that drives a pin at each overflow.  The
 * kernel drops it without an error (x86_pmu_hw_config). */
bool event_pin_control(const struct event_spec *e);
bool event_is_tracepoint(const struct event_spec *e);
/* Returns the mode modifiers of the event, ":u", ":k" or "", to append them to
 * another event. */
const char *event_mode(const struct event_spec *e);
void event_list_fini(struct event_list *l);

/* Calls cb for all events that exist by name; for `tally list`. */
void events_each(const char *sysfs, event_info_cb *cb, void *ctx);

/*
 * names.c: the kernel's own event names: hardware, software and cache events, as
 * perf_event_open(2) and perf-list(1) spell them.
 */
/* A generic event. */
struct event_name {
	const char *name, *alias;	/* alias may be "" */
	uint32_t type;			/* PERF_TYPE_* */
	uint64_t config;
	const char *summary;
};

/* The hardware and software events; the table ends with name == NULL. */
extern const struct event_name event_names[];

/* Sets type, config, unit and software; returns false if the name (n bytes) is
 * unknown. */
bool event_name_find(const char *s, size_t n, struct event_spec *out);

/* Calls cb for each name that events_parse supports without sysfs. */
bool event_names_each(event_info_cb *cb, void *ctx);

/* --- tracepoints.c: tracepoints, as tracefs below sysfs lists them. */

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
