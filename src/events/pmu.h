/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_PMU_H
#define TALLY_EVENTS_PMU_H
/*
 * PMUs as sysfs describes them (Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{format,events}): a type number, terms that are bit
 * ranges of config words, and named events that consist of terms.
 */
#include "events/event.h"

/* Parses pmu/TERM[=VALUE],…/ and sets type, config words, period, freq and text
 * (from name=).  `terms` has n bytes. */
int pmu_parse(const char *sysfs, const char *pmu, const char *terms, size_t n,
	      struct event_spec *out, struct error *err);

/* Finds an event that some PMU describes under this bare name.  Returns 1 if
 * found, 0 if not, or an error. */
int pmu_event_find(const char *sysfs, const char *name, struct event_spec *out,
		   struct error *err);

/*
 * Some units count for several processors.  Their events must be opened on only
 * one of these, which the unit's file "cpumask" names.  Returns true if an
 * event of this type (perf_event_attr.type) is to be opened on `cpu`, one of n
 * sorted `cpus`.
 */
bool pmu_counts_on(const char *sysfs, uint32_t type, uint32_t cpu,
		   const uint32_t *cpus, size_t n);
/* Returns whether `cpu` is the first of n sorted `cpus` in its package. */
bool cpu_first_of_package(const char *sysfs, uint32_t cpu,
			  const uint32_t *cpus, size_t n);

/* Calls cb for all named PMU events as pmu/event/. Returns false if cb stopped. */
bool pmu_each(const char *sysfs, event_info_cb *cb, void *ctx);
/* Calls cb with the names of the PMUs, each as event_info.name. */
bool pmu_names_each(const char *sysfs, event_info_cb *cb, void *ctx);

/*
 * Units of which a machine has several, each with its own counters (uncore_cbox_0,
 * uncore_cbox_1 …), and processors with several kinds of cores (cpu_core, cpu_atom),
 * as sysfs describes them.
 */
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

/* Lists FAMILY_0, FAMILY_1 … by number.  Returns 0 or -ERR_NOMEM. */
int pmu_units_of(const char *sysfs, const char *family, struct pmu_units *out);
/* Lists the kinds of cores if there is more than one.  Returns 0 or -ERR_NOMEM. */
int pmu_core_kinds(const char *sysfs, struct pmu_units *out);
/* Returns whether a processor is of this kind. */
bool pmu_kind_has(const char *sysfs, const struct pmu_unit *kind, uint32_t cpu);

/* Returns whether the event counts on any core it is opened for, so that it needs
 * a separate event for each kind of core. */
bool event_is_of_cores(const struct event_spec *s);
/* Returns the kind of cores whose own event this is (cpu_atom/…/), or NULL. */
const struct pmu_unit *event_own_kind(const struct event_spec *s,
				      const struct pmu_units *kinds);
/* Computes an event's type and config on one unit or one kind of core. */
void event_on_unit(const struct event_spec *s, const struct pmu_unit *u,
		   uint32_t *type, uint64_t *config);

/* Extracts the family from a unit's name, without the number.  Returns false if
 * there is none. */
bool pmu_family_name(const char *unit, char *family, size_t size);

#endif
