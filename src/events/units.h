/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_UNITS_H
#define TALLY_EVENTS_UNITS_H
/*
 * Units that a machine has several of, each with counters of its own
 * (uncore_cbox_0, uncore_cbox_1 …), and processors with several kinds of cores
 * (cpu_core, cpu_atom), as sysfs tells of them.
 */
#include "events/events.h"

enum { UNITS_MAX = 1024 };

struct pmu_unit {
	char name[EVENT_UNIT_MAX];
	uint32_t type;		/* perf_event_attr.type of its events */
};

struct pmu_units {
	struct pmu_unit *v;
	size_t n, cap;
};
void pmu_units_fini(struct pmu_units *u);

/* FAMILY_0, FAMILY_1 …, by their numbers.  0 or -ERR_NOMEM. */
int pmu_units_of(const char *sysfs, const char *family, struct pmu_units *out);
/* The kinds of cores, where there is more than one.  0 or -ERR_NOMEM. */
int pmu_core_kinds(const char *sysfs, struct pmu_units *out);
/* Is the processor of this kind? */
bool pmu_kind_has(const char *sysfs, const struct pmu_unit *kind, uint32_t cpu);

/* Does the event count on whatever core it is opened for, so that it is another
 * one on each kind? */
bool event_is_of_cores(const struct event_spec *s);
/* The numbers of an event on one unit: of its kind, or of its kind of cores. */
void event_on_unit(const struct event_spec *s, const struct pmu_unit *u,
		   uint32_t *type, uint64_t *config);

/* The family of a unit's name, without its number; false when it has none. */
bool pmu_family_name(const char *unit, char *family, size_t size);

#endif
