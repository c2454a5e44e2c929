/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_HW_EVENT_H
#define TALLY_EVENTS_HW_EVENT_H
/* K8 and P6 events as events of perf_event_open(2). */
#include "events/events.h"

/*
 * A specifier of events/hw_spec.h: 1 when it is one and this machine is of its
 * family, 0 when it names no such event, or an error; on another machine that
 * says which of the kernel's events is nearest.
 */
int hw_event_parse(const char *word, const char *sysfs, struct event_spec *e,
		   struct error *err);

/* Does a list's word name such an event, so that qualifiers may follow? */
bool hw_event_is(const char *word, const char *sysfs);

#endif
