/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_HW_EVENT_H
#define TALLY_EVENTS_HW_EVENT_H
/* K8 and P6 events as perf_event_open(2) events. */
#include "events/events.h"

/*
 * Parses a specifier of events/hw_spec.h.  Returns 1 if it is one and this
 * machine belongs to its family, and 0 if it names no such event.  On another
 * machine it fails with an error that names the nearest kernel event.
 */
int hw_event_parse(const char *word, const char *sysfs, struct event_spec *e,
		   struct error *err);

/* Returns whether a word of a list names such an event, so that qualifiers may
 * follow. */
bool hw_event_is(const char *word, const char *sysfs);

#endif
