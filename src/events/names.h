/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_NAMES_H
#define TALLY_EVENTS_NAMES_H
/*
 * The kernel's own event names: hardware, software and cache events, as
 * perf_event_open(2) and perf-list(1) spell them.
 */
#include "events/event.h"

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

#endif
