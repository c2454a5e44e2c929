/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_EVENTS_H
#define TALLY_EVENTS_EVENTS_H
/*
 * Event names and specifiers as the user writes them, turned into the numbers
 * of perf_event_open(2).  Pure: reads sysfs (or a copy of it), opens no event.
 *
 *	cycles  cycles:u  instructions:pp  cpu-clock  page-faults  r01c4
 *	cpu/event=0x3c,umask=0x0,name=foo/u   msr/tsc/   sched:sched_switch
 *	k8-dc-miss,usr   L2_LD:M+E   k8:0x76:0x00   (events/hw_spec.h)
 *	uncore_cbox/clockticks/   of uncore_cbox_0, uncore_cbox_1 …
 *	{cycles,instructions}   to be counted at the same time
 *	sched:*  syscalls:sys_enter_*:u   all tracepoints of that name
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { EVENT_NAME_MAX = 256, EVENT_UNIT_MAX = 64,
       /* what one pattern may mean; all system calls' beginnings fit */
       EVENTS_OF_PATTERN = 512 };

/* What one count of the event is. */
enum event_unit { EVENT_UNIT_COUNT, EVENT_UNIT_NS };

struct event_spec {
	char text[EVENT_NAME_MAX];	/* as the user wrote it */
	uint32_t type;			/* perf_event_attr.type */
	uint64_t config, config1, config2;
	enum event_unit unit;
	double scale;			/* of what sysfs describes; 0: none */
	char scaled[16];		/* unit of the scaled value, "Joules" */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_host,
		exclude_guest;
	uint8_t precise;		/* :p = 1 … :ppp = 3 */
	bool max_precise;		/* :P, and the default event */
	bool pinned;			/* :D */
	bool software;			/* a kernel software event */
	bool shared;			/* counts for a node, not a processor */
	uint32_t group;			/* of { }, from 1 on; or 0 */
	/* Units of one kind count it (units.h), `type` is the first one's; or
	 * "". */
	char family[EVENT_UNIT_MAX];
	uint64_t period;		/* period= or 0 */
	uint64_t freq;			/* freq= or 0 */
	const char *filter;		/* of a tracepoint, borrowed; or NULL */
};

struct event_list {
	struct event_spec *v;
	size_t n, cap;
};

/* Parses a comma-separated list (commas inside pmu/…/ belong to it) and
 * appends. `sysfs` is normally "/sys"; `pmu/term/` reads
 * SYSFS/bus/event_source/devices/PMU/{type,format,events}.  Errors name the
 * word and offer the nearest names. */
int events_parse(const char *text, const char *sysfs, struct event_list *out,
		 struct error *err);
/* Processor cycles, for which a clock may stand where nothing counts them. */
bool event_is_cycles(const struct event_spec *e);
bool event_is_tracepoint(const struct event_spec *e);
/* The event's modifiers of mode, ":u", ":k" or "", for another event. */
const char *event_mode(const struct event_spec *e);
void event_list_fini(struct event_list *l);

/* One event that exists by name; for `tally list`. */
struct event_info {
	const char *name;
	const char *alias;	/* other spelling or "" */
	const char *group;	/* "hardware", "software", "cache", PMU name */
	const char *summary;
};
typedef bool event_info_cb(void *ctx, const struct event_info *info);
void events_each(const char *sysfs, event_info_cb *cb, void *ctx);

#endif
