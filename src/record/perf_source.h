/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_SOURCE_H
#define TALLY_RECORD_PERF_SOURCE_H
/*
 * Samples from perf_event_open(2): one ring a CPU, shared by all events and all
 * threads that are watched.
 */
#include "events/events.h"
#include "record/order.h"
#include "record/source.h"

struct perf_target {
	const uint32_t *tids;	/* threads; NULL: everything on the CPUs */
	size_t ntids;
	const uint32_t *cpus;
	size_t ncpus;
	int cgroup_fd;		/* or -1; with tids == NULL */
	bool all_cpus;		/* those are all that are online */
};

/* Records of somebody else in the same order of time. */
struct perf_beside {
	size_t nstreams;
	/* Moves what is ready to streams from `first` on; 0 or -ERR_NOMEM. */
	int (*fill)(void *ctx, struct order *o, size_t first,
		    uint64_t *damaged);
	/* False: it is none of those, but perhaps perf's. */
	bool (*decode)(void *ctx, const uint8_t *p, size_t n,
		       struct record *out);
	void *ctx;
};

struct perf_source_options {
	const struct event_list *events;
	bool default_event;	/* the user named none */
	bool callchain, inherit;
	bool enable_on_exec;	/* start by itself when the thread calls exec */
	bool launched;		/* the target is a command that we start … */
	const char *command;	/* … this one */
	bool python;		/* the target runs Python: its frames are known to
				 * timers and ptrace only */
	bool user_only, kernel_only;
	bool waits;		/* where and how long threads wait, too */
	bool latency;		/* with waits: wall-clock time, too */
	uint64_t freq, period;	/* period 0: freq */
	bool default_rate;	/* the user named none */
	size_t ring_bytes;	/* per CPU; 0: what is allowed */
	/* Then there may be no events: perf only tells of mappings, names,
	 * forks and exits. */
	const struct perf_beside *beside;
	/* With callchain: copies of stacks for the unwinder, as large as given
	 * or as we think fit (0); by frame pointers where that cannot be. */
	bool copy;
	uint32_t copy_bytes;
};

int perf_source_open(const struct perf_target *target,
		     const struct perf_source_options *o, struct source **out,
		     struct error *err);

#endif
