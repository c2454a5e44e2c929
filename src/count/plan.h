/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_PLAN_H
#define TALLY_COUNT_PLAN_H
/*
 * What is to be counted: events, the metrics derived from them, and which events
 * must count at the same time.  A ratio of events that were counted at different
 * times is misleading, so the events of a metric are one group, which the kernel
 * puts on the processor's counters together or not at all.  Events of the kernel
 * itself always count and need none.
 */
#include "base/vec.h"
#include "events/events.h"
#include "events/metrics.h"
#include "events/pmu.h"
#include "record/perf/perf_open.h"

struct plan_event {
	struct perf_event ev;
	uint32_t group;		/* from 1 on; 0: alone */
	bool optional;		/* nobody asked: may be missing */
	bool missing;		/* … and is */
	bool hidden;		/* missing, as the kernel's part is not visible */
	bool split;		/* could not be counted with its group */
	/* What counts it, when that is several units of a kind (their counts are
	 * added) or, with `cores`, kinds of cores. */
	struct pmu_units units;
	bool cores;		/* … or one of them: `kind` */
	struct pmu_unit kind;
	uint32_t twins;		/* the same for all kinds of an event; 0: none */
};

struct plan_events {
	struct plan_event *v;
	size_t n, cap;
};

struct plan_metric {
	struct metric_use use;
	uint32_t event[METRIC_EVENTS_MAX];
	char mode[4];		/* ":u", ":k" of its events, or "" */
};

struct plan {
	struct plan_events events;
	VEC(struct plan_metric) metrics;
	size_t units_max;	/* of one event */
	size_t group_max;	/* events that a metric may bring into a group */
};

struct plan_options {
	const struct event_list *events;	/* what was asked for */
	const struct metric_use *metrics;
	size_t nmetrics;
	bool no_metrics;	/* show none that was not asked for */
	bool no_group;		/* each event alone */
	bool by_mode;		/* user and kernel apart */
	bool no_merge;		/* units of a kind, kinds of cores: apart */
	const char *sysfs;
};

/* Without events and metrics: the usual ones. */
int plan_make(struct plan *p, const struct plan_options *o, struct error *err);
/* Drops the metrics that need missing events. */
void plan_forget(struct plan *p);
void plan_fini(struct plan *p);

#endif
