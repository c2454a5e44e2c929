/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_SOURCE_INTERNAL_H
#define TALLY_RECORD_PERF_SOURCE_INTERNAL_H
/* What the parts of the perf source share. */
#include <time.h>

#include "base/hash.h"
#include "base/vec.h"
#include "record/cpu_watch.h"
#include "record/order.h"
#include "record/perf_decode.h"
#include "record/perf_open.h"
#include "record/perf_ring.h"
#include "record/perf_source.h"

/* An open counter: one event of one thread on one CPU. */
struct counter {
	int fd;
	uint32_t event, cpu;
	uint64_t lost;		/* already reported */
};

struct perf_source {
	struct source base;
	struct perf_features features;
	struct perf_event *events;
	struct source_event *seen;
	VEC(struct counter) counters;
	VEC(int) tracking;
	/* By CPU of the target: rings of mappings, forks, exits; then those of
	 * samples. */
	struct perf_ring *rings;
	int *leaders;		/* events that own the rings, or -1 */
	size_t nrings;
	uint32_t *cpus;
	size_t ncpus;		/* with those that may come online */
	size_t nopen;		/* at the start */
	bool *away;		/* by place in cpus: has no events (now) */
	struct cpu_watch watch;
	struct u64map ids;
	struct perf_decoder decoder;
	struct order order;
	size_t news_bytes;	/* of each of the first rings */
	uint64_t round_ns;	/* the clock at the start of the last round */
	bool per_task, inherit, started;
	int cgroup_fd;
	bool doubt;		/* what happened meanwhile is to be asked */
	struct perf_beside beside;
	bool shared;		/* a ring has samples and mappings */
	uint64_t news_lost;	/* already reported */
	uint64_t gap_ns;	/* when a ring was found full, or 0 */
	struct pmu_units kinds;	/* of cores, where there are several */
};

static inline struct perf_source *perf_of(struct source *s)
{
	return (struct perf_source *)s;
}

static inline uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

/* perf_attach.c: events for the target's threads and CPUs. */
int perf_open_all(struct perf_source *p, const struct perf_target *t,
		  struct error *err);
/* Starts those of p->counters from `first` on. */
int perf_start_from(struct perf_source *p, size_t first, struct error *err);
/* CPUs may have come or gone. */
void perf_look_at_cpus(struct perf_source *p);
/* source_ops.follow */
int perf_follow(struct source *s, const uint32_t *tids, size_t n,
		struct error *err);
/* perf_drain.c: source_ops.drain and .count */
int perf_drain(struct source *s, bool all, record_cb *cb, void *ctx,
	       struct error *err);
int perf_count(struct source *s, size_t event, struct source_count *out,
	       record_cb *cb, void *ctx, struct error *err);

#endif
