/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_EVENT_H
#define TALLY_EVENTS_EVENT_H
/* An event as perf_event_open(2) takes it, and an entry of the list of events. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { EVENT_NAME_MAX = 256, EVENT_UNIT_MAX = 64,
       /* most events that one pattern may match; enough for all sys_enter
        * tracepoints */
       EVENTS_OF_PATTERN = 512 };

/* The unit of a count. */
enum event_unit { EVENT_UNIT_COUNT, EVENT_UNIT_NS };

struct event_spec {
	char text[EVENT_NAME_MAX];	/* as the user wrote it */
	uint32_t type;			/* perf_event_attr.type */
	uint64_t config, config1, config2;
	enum event_unit unit;
	double scale;			/* scale from sysfs; 0: none */
	char scaled[16];		/* unit of the scaled value, such as
					 * "Joules" */
	bool exclude_user, exclude_kernel, exclude_hv, exclude_host,
		exclude_guest;
	uint8_t precise;		/* :p = 1 … :ppp = 3 */
	bool max_precise;		/* :P, and the default event */
	bool pinned;			/* :D */
	bool software;			/* a kernel software event */
	bool shared;			/* counts for a node instead of a processor */
	bool of_pmu;			/* one PMU's own event, as sysfs describes it */
	uint32_t group;			/* number of its { } group, from 1; 0: none */
	/* Family name if several units of one kind count it (pmu.h), with `type`
	 * of the first; otherwise "". */
	char family[EVENT_UNIT_MAX];
	uint64_t period;		/* value of period=, or 0 */
	uint64_t freq;			/* value of freq=, or 0 */
	const char *filter;		/* filter of a tracepoint, borrowed; or
					 * NULL */
};

/* One event that exists by name. */
struct event_info {
	const char *name;
	const char *alias;	/* other spelling or "" */
	const char *group;	/* "hardware", "software", "cache", PMU name */
	const char *summary;
};
typedef bool event_info_cb(void *ctx, const struct event_info *info);

#endif
