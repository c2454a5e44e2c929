/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_EVENT_H
#define TALLY_EVENTS_EVENT_H
/* One event as perf_event_open(2) takes it, and one that exists by name. */
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
	/* Units of one kind count it (pmu.h), `type` is the first one's; or
	 * "". */
	char family[EVENT_UNIT_MAX];
	uint64_t period;		/* period= or 0 */
	uint64_t freq;			/* freq= or 0 */
	const char *filter;		/* of a tracepoint, borrowed; or NULL */
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
