/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_SOURCE_INTERNAL_H
#define TALLY_RECORD_PERF_PERF_SOURCE_INTERNAL_H
/* What the parts of the perf source share. */
#include <pthread.h>
#include <time.h>

#include "base/hash.h"
#include "base/vec.h"
#include "record/source/cpu_watch.h"
#include "record/source/order.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_open.h"
#include "record/perf/perf_ring.h"
#include "record/perf/perf_source.h"
#include "launch/priority.h"

/* An open counter: one event of one thread on one CPU. */
struct counter {
	int fd;
	uint32_t event, cpu;
	uint64_t lost;		/* already reported */
};

enum { PERF_END_FDS = 4 };

/* The thread that empties the rings: perf_drain.c. */
struct perf_drainer {
	pthread_t thread;
	bool running;
	/* While it runs: of the rings, `shared`, and of changes to counters
	 * and ids. */
	pthread_mutex_t lock;
	int kick_fd;		/* it has something to look at */
	char priority[PRIORITY_TEXT];	/* once it has ended */
	/* Atomic: */
	bool quit;
	uint32_t pace_ms;	/* rounds, when rings do not call for one */
	uint64_t end_ns;	/* when to end sampling; 0: not told yet */
	uint64_t stopped_ns;	/* when it did, or 0 */
	int result;		/* why it gave up */
	/* Before end_ns is told: files that are readable when sampling is to
	 * end. */
	int end_fds[PERF_END_FDS];
	size_t nend;
};

struct perf_source {
	struct source base;
	struct perf_drainer drainer;
	int rings_fd;		/* epoll of the rings */
	struct perf_features features;
	struct perf_event *events;
	struct source_event *seen;
	VEC(struct counter) counters;
	VEC(int) tracking;
	/* By CPU of the target: rings of mappings, forks, exits; then those of
	 * samples; then, with `waits`, those of switches, where they lose nothing
	 * to copies of stacks. */
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
	struct perf_pressure pressure;
	uint64_t *dropped_told;	/* by event: of pressure.dropped */
	uint64_t damaged;	/* of who empties the rings, as round_ns is */
	uint64_t round_ns;	/* the clock at the start of the last round */
	/* Atomic: */
	uint64_t complete_ns;	/* all up to there is in `order` */
	bool news;		/* mappings or processes came */
	bool per_task, inherit, started;
	bool waits, latency;
	struct perf_event_attr switches;	/* the event of those rings */
	size_t switch_bytes;	/* of each */
	struct perf_event_attr wakes;	/* the other event there, if perf_has_wakes */
	char no_wakes[128];	/* why there is none */
	uint32_t woken_at;	/* in its records: perf_decode.h */
	struct {
		uint64_t since_ns, seen;	/* samples of `waking` since then */
		uint64_t off_ns;	/* … which is off until then; or 0 */
	} waking;
	uint64_t switches_lost;	/* by their records */
	int cgroup_fd;
	bool doubt;		/* what happened meanwhile is to be asked */
	struct perf_beside beside;
	bool shared;		/* a ring has samples and mappings */
	uint64_t news_lost;	/* already reported */
	uint64_t gap_ns;	/* when a ring was found full, or 0; atomic */
	struct pmu_units kinds;	/* of cores, where there are several */
};

/* The events that are opened: all but `runnable` and what follows it; with waits, the
 * last are `blocked` and, with perf_has_wakes, `waking`. */
static inline size_t perf_opened(const struct perf_source *p)
{
	return p->base.nevents - p->waits - p->latency;
}

/* What the ids of the events of switches stand for. */
static inline uint32_t perf_switches(const struct perf_source *p)
{
	return (uint32_t)p->base.nevents;
}

static inline bool perf_has_wakes(const struct perf_source *p)
{
	return p->waits && p->base.waking != SOURCE_NONE;
}

/* … and of those of wakes. */
static inline uint32_t perf_wakes(const struct perf_source *p)
{
	return perf_switches(p) + 1;
}

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
int perf_open_all(struct perf_source *p, const struct source_target *t,
		  struct error *err);
/* Starts those of p->counters from `first` on. */
int perf_start_from(struct perf_source *p, size_t first, struct error *err);
/* CPUs may have come or gone. */
void perf_look_at_cpus(struct perf_source *p);
/* source_ops.follow */
int perf_follow(struct source *s, const uint32_t *tids, size_t n,
		struct error *err);
/* No more samples. */
void perf_disable(struct perf_source *p);
/* perf_drain.c: where there can be no thread, none runs. */
void perf_drainer_start(struct perf_source *p);
void perf_drainer_end(struct perf_source *p);
void perf_lock(struct perf_source *p);
void perf_unlock(struct perf_source *p);
/* source_ops.pace and .end_at */
void perf_pace(struct source *s, unsigned int ms);
void perf_end_at(struct source *s, uint64_t end_ns, const int *fds, size_t n);
/* source_ops.drain and .count */
int perf_drain(struct source *s, bool all, record_cb *cb, void *ctx,
	       struct error *err);
int perf_count(struct source *s, size_t event, struct source_count *out,
	       record_cb *cb, void *ctx, struct error *err);

#endif
