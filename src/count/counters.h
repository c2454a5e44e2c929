/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_COUNTERS_H
#define TALLY_COUNT_COUNTERS_H
/* Opens the events of a plan on threads or processors and reads their counts. */
#include "count/plan.h"
#include "launch/target.h"

/* An event's count, the time it was enabled and the time it was on a counter. */
struct count_value {
	uint64_t value, enabled_ns, running_ns;
};

struct counters_options {
	const uint32_t *tids;	/* threads; NULL: all threads on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	bool some_cpus;		/* restrict the threads to these CPUs */
	int cgroup_fd;		/* cgroup, only if tids is NULL; or -1 */
	bool inherit, enable_on_exec;
	bool user_only, kernel_only;
	const char *sysfs;
};

struct counters;

/* Opens the counters.  Events that the user did not request may be missing, and
 * events that do not fit into their group are opened alone.  Both are marked in
 * the plan's events. */
int counters_open(struct counters **out, struct plan *p,
		  const struct counters_options *o, struct error *err);
/* Starts all counters. */
int counters_start(struct counters *c, struct error *err);
/* Stops all counters, which keep their values. */
void counters_stop(struct counters *c);
/* Reads one value for each event of the plan. */
int counters_read(struct counters *c, struct count_value *out,
		  struct error *err);
void counters_close(struct counters *c);

#endif
