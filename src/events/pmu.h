/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_PMU_H
#define TALLY_EVENTS_PMU_H
/*
 * PMUs as sysfs describes them (Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-{format,events}): a type number, terms that
 * are bit ranges of config words, and named events made of terms.
 */
#include "events/events.h"

/* pmu/TERM[=VALUE],…/ : fills type, config words, period, freq and text (of
 * name=). `terms` has n bytes. */
int pmu_parse(const char *sysfs, const char *pmu, const char *terms, size_t n,
	      struct event_spec *out, struct error *err);

/* An event that some PMU describes under this bare name; 1 when found, 0 when
 * not, or an error. */
int pmu_event_find(const char *sysfs, const char *name, struct event_spec *out,
		   struct error *err);

/*
 * Some units count for several processors: their events are to be opened on one
 * of them each, as the unit's file "cpumask" says.  True when an event of this
 * type (perf_event_attr.type) is to be opened on `cpu`, one of n sorted `cpus`.
 */
bool pmu_counts_on(const char *sysfs, uint32_t type, uint32_t cpu,
		   const uint32_t *cpus, size_t n);
/* Is `cpu` the first of n sorted `cpus` that share its package? */
bool cpu_first_of_package(const char *sysfs, uint32_t cpu,
			  const uint32_t *cpus, size_t n);

/* The PMU's type; false when there is none. */
bool pmu_type_number(const char *sysfs, const char *pmu, uint32_t *type);
bool pmu_has_file(const char *sysfs, const char *pmu, const char *file);
/* Does one of the PMU's files, a list of processors, have this one? */
bool pmu_lists_cpu(const char *sysfs, const char *pmu, const char *file,
		   uint32_t cpu);

/* All named PMU events as pmu/event/; false when cb stopped. */
bool pmu_each(const char *sysfs, event_info_cb *cb, void *ctx);
/* The names of the PMUs, each as event_info.name. */
bool pmu_names_each(const char *sysfs, event_info_cb *cb, void *ctx);

#endif
