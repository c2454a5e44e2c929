/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_COUNT_COUNTERS_H
#define TALLY_COUNT_COUNTERS_H
/* The events of a plan, opened on the threads or processors to count on. */
#include "count/plan.h"
#include "launch/target.h"

/* What an event counted, and for how long it did of the time it should. */
struct count_value {
	uint64_t value, enabled_ns, running_ns;
};

struct counters_options {
	const uint32_t *tids;	/* threads; NULL: everything on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	bool some_cpus;		/* threads: on these CPUs only */
	int cgroup_fd;		/* or -1; with tids == NULL */
	bool inherit, enable_on_exec;
	bool user_only, kernel_only;
	const char *sysfs;
};

struct counters;

/* Events that nobody asked for may be missing, events that do not fit into their
 * group are opened alone: the plan's events tell. */
int counters_open(struct counters **out, struct plan *p,
		  const struct counters_options *o, struct error *err);
int counters_start(struct counters *c, struct error *err);
void counters_stop(struct counters *c);
/* One value for each event of the plan. */
int counters_read(struct counters *c, struct count_value *out,
		  struct error *err);
void counters_close(struct counters *c);

#endif
