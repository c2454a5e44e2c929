/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_PLAN_H
#define TALLY_COUNT_PLAN_H
/*
 * Selects what to count: events, the metrics derived from them, and which events
 * must be counted at the same time.  A ratio of events that were counted at
 * different times is misleading.  The events of a metric therefore form one group,
 * which the kernel puts on the processor's counters together or not at all.  The
 * kernel's software events are always counted and need no group.
 */
#include "base/vec.h"
#include "events/events.h"
#include "events/metrics.h"
#include "events/pmu.h"
#include "record/perf/perf_open.h"

struct plan_event {
	struct perf_event ev;
	uint32_t group;		/* from 1; 0: none */
	bool optional;		/* not requested by the user, so it may be missing */
	bool missing;		/* could not be opened */
	bool hidden;		/* missing because the kernel's part may not be
				 * counted */
	bool split;		/* could not be counted with its group */
	/* The units that count the event, if there are several of a kind (their
	 * counts are added), or the kinds of cores (`cores`). */
	struct pmu_units units;
	bool cores;		/* `units` are kinds of cores, or `kind` is one of
				 * them */
	struct pmu_unit kind;
	uint32_t twins;		/* equal for all kinds of cores of an event; 0:
				 * none */
};

struct plan_events {
	struct plan_event *v;
	size_t n, cap;
};

struct plan_metric {
	struct metric_use use;
	uint32_t event[METRIC_EVENTS_MAX];
	char mode[4];		/* mode of its events: ":u", ":k" or "" */
};

struct plan {
	struct plan_events events;
	VEC(struct plan_metric) metrics;
	size_t units_max;	/* most units of one event */
	size_t group_max;	/* most events that a metric adds to a group */
};

struct plan_options {
	const struct event_list *events;	/* requested events */
	const struct metric_use *metrics;
	size_t nmetrics;
	bool no_metrics;	/* show only requested metrics */
	bool no_group;		/* count each event alone */
	bool by_mode;		/* count user and kernel mode separately */
	bool no_merge;		/* show units of a kind, and kinds of cores,
				 * separately */
	const char *sysfs;
};

/* Makes a plan.  Without requested events and metrics, it contains the default
 * ones. */
int plan_make(struct plan *p, const struct plan_options *o, struct error *err);
/* Drops the metrics that need missing events. */
void plan_forget(struct plan *p);
void plan_fini(struct plan *p);

#endif
