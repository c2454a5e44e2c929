/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_UNITS_H
#define TALLY_EVENTS_UNITS_H
/*
 * Units with several instances, each with its own counters (uncore_cbox_0,
 * uncore_cbox_1 …), and processors with several kinds of cores (cpu_core,
 * cpu_atom), as described in sysfs.
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

/* Lists FAMILY_0, FAMILY_1 …, by number.  Returns 0 or -ERR_NOMEM. */
int pmu_units_of(const char *sysfs, const char *family, struct pmu_units *out);
/* Lists the kinds of cores if there is more than one.  Returns 0 or -ERR_NOMEM.
 */
int pmu_core_kinds(const char *sysfs, struct pmu_units *out);
/* Returns whether the processor is of this kind. */
bool pmu_kind_has(const char *sysfs, const struct pmu_unit *kind, uint32_t cpu);

/* Returns whether the event counts on any core it is opened for, so that it is
 * a different event on each kind. */
bool event_is_of_cores(const struct event_spec *s);
/* Sets the attributes of an event for one unit: of its kind, or of its kind of
 * core. */
void event_on_unit(const struct event_spec *s, const struct pmu_unit *u,
		   uint32_t *type, uint64_t *config);

/* Returns the family of a unit's name, without its number; false if it has
 * none. */
bool pmu_family_name(const char *unit, char *family, size_t size);

#endif
