/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_SOURCE_INTERNAL_H
#define TALLY_RECORD_PERF_PERF_SOURCE_INTERNAL_H
/* Declarations shared by the parts of the perf source. */
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/vec.h"
#include "record/source/cpu_watch.h"
#include "record/source/order.h"
#include "record/perf/perf_bpf.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_open.h"
#include "record/perf/perf_pace.h"
#include "record/perf/perf_plan.h"
#include "record/perf/perf_ring.h"
#include "record/perf/perf_source.h"
#include "launch/priority.h"

/* An open counter: one event of one thread on one CPU. */
struct counter {
	int fd;
	uint32_t event, cpu;
	uint64_t lost;		/* losses already reported */
	bool ended;		/* replaced by another one; only its count is read */
};

/* Whether samples of the event `blocked` and records of wakeups are off on a CPU, and
 * whether samples of the event `waking` are. */
struct perf_paced_cpu {
	struct perf_pace pace;
	enum perf_paused { PERF_ON, PERF_PAUSED, PERF_UNKNOWN } blocked, waking;
};

enum { PERF_END_FDS = 4 };

/* With `calm`, the kernel reports each 1/PERF_CALM_PART of a ring (perf_drain.c).  A ring
 * that is half full is drained, so that it is at most 3/4 full then. */
enum { PERF_CALM_PART = 4 };

/* The thread that drains the rings: perf_drain.c. */
struct perf_drainer {
	pthread_t thread;
	bool running;
	/* While the thread runs, protects the rings, `shared`, `started`, `paced`,
	 * `damaged`, round_ns (which is read without it, too) and changes of counters and
	 * ids.  The thread adds to `order`, and owns `pressure` except what is atomic.
	 * All else belongs to the recorder, or does not change. */
	pthread_mutex_t lock;
	int kick_fd;		/* eventfd that wakes the thread */
	int late_fd;		/* timer among the rings that fires if a recorder that reads
				 * them itself is late; -1: none */
	char priority[PRIORITY_TEXT];	/* valid once the thread has ended */
	/* Atomic: */
	bool quit;
	uint32_t pace_ms;	/* interval in ms between rounds that no ring
				 * requests */
	uint64_t end_ns;	/* time to end sampling; 0: not set yet */
	uint64_t stopped_ns;	/* time at which sampling ended, or 0 */
	int result;		/* reason for giving up */
	/* Files that end sampling when they become readable.  Set before end_ns. */
	int end_fds[PERF_END_FDS];
	size_t nend;
};

struct perf_source {
	struct source base;
	struct perf_drainer drainer;
	int rings_fd;		/* epoll descriptor of the rings */
	struct perf_features features;
	struct perf_event *events;
	struct source_event *seen;
	VEC(struct counter) counters;
	VEC(int) tracking;
	/* By CPU of the target: rings of mappings, forks and exits; then rings of
	 * samples; then, with `waits`, rings of switches.  Separate rings for
	 * switches lose nothing to stack copies. */
	struct perf_ring *rings;
	int *leaders;		/* descriptors of the events that own the rings, or
				 * -1 */
	size_t nrings;
	uint32_t *cpus;
	size_t ncpus;		/* including CPUs that may come online */
	size_t nopen;		/* number of CPUs online at the start */
	bool *away;		/* by index in cpus: the CPU has no events of its own at
				 * present, and if it was never online, none of
				 * threads */
	struct cpu_watch watch;
	struct u64map ids;
	struct perf_decoder decoder;
	struct order order;
	size_t sideband_bytes;	/* size of each ring of mappings */
	struct perf_pressure pressure;
	uint64_t *dropped_reported;	/* by event: part of pressure.dropped already
				 * reported */
	uint64_t damaged;
	uint64_t round_ns;	/* clock at the start of the last round; atomic */
	uint64_t before_ns;	/* that of the round before, while the rings
				 * are read directly */
	/* Atomic: */
	uint64_t complete_ns;	/* time up to which `order` is complete */
	bool sideband_pending;		/* mappings or processes have changed */
	bool per_task, inherit, started, starts_at_exec;
	bool calm;		/* wake rarely */
	/* With calm: the recorder itself reads the rings, this often (perf_drain.c); or
	 * round_ms is 0. */
	struct perf_rounds rounds;
	/* The recorder moves the records itself, in rounds as long as perf_pace says, and the
	 * thread does if it is late. */
	bool own_rounds;
	struct order_feed feed;
	void *record;		/* the record that it reads, if it was copied, or ... */
	struct order_record borrowed;	/* ... the place in `lender`, whose lock is held,
					 * or NULL */
	size_t lender;
	uint32_t slow_rounds;	/* number of rounds in which records are copied */
	uint64_t looked_ns;	/* with calm: time of the last look for CPUs */
	bool waits, latency, each_wait;
	struct perf_event_attr switches;	/* event of the rings of switches */
	size_t switch_bytes;	/* size of each of these rings */
	struct perf_event_attr wakes;	/* second event in these rings, if
					 * perf_has_wakes */
	char no_wakes[128];	/* reason why there is no such event */
	struct perf_bpf bpf;	/* if open, it reports switches and wakeups, and their
				 * samples */
	uint32_t *reports_lost;	/* by CPU: their losses so far, modulo 2^32 */
	uint32_t woken_at;	/* offset of the woken thread in its records:
				 * perf_decode.h */
	struct perf_paced_cpu *paced;	/* by CPU, then all of them */
	/* Times of the first and the last round in which some were off, or 0; atomic. */
	uint64_t paused_ns, paused_last_ns;
	uint64_t switches_lost;	/* number of lost switches, as their records report */
	int cgroup_fd;
	bool must_reread;	/* events were missed; current threads must be read
				 * again */
	struct perf_extra extra;
	bool shared;		/* a ring holds both samples and mappings */
	uint64_t sideband_lost;	/* losses already reported */
	uint64_t gap_ns;	/* time at which a ring was found full, or 0; atomic */
	struct pmu_units kinds;	/* core types, on machines with several */
};

/* Returns the number of events that are opened: all except `runnable` and those after
 * it.  With waits, the last are `blocked` and, with perf_has_wakes, `waking`. */
static inline size_t perf_opened(const struct perf_source *p)
{
	return p->base.nevents - p->waits - p->latency;
}

/* Returns the value that the ids of switch events map to. */
static inline uint32_t perf_switches(const struct perf_source *p)
{
	return (uint32_t)p->base.nevents;
}

static inline bool perf_has_wakes(const struct perf_source *p)
{
	return p->waits && p->base.waking != SOURCE_NONE;
}

/* Returns whether there are events of all wakeups. */
static inline bool perf_opens_wakes(const struct perf_source *p)
{
	return perf_has_wakes(p) && !perf_bpf_is_open(&p->bpf);
}

/* Returns the value that the ids of wake events map to. */
static inline uint32_t perf_wakes(const struct perf_source *p)
{
	return perf_switches(p) + 1;
}

/* Returns whether BPF programs write the samples of an event. */
static inline bool perf_is_reported(const struct perf_source *p, uint32_t event)
{
	return perf_bpf_is_open(&p->bpf) &&
	       (event == p->base.blocked || event == p->base.waking);
}

/* Returns whether an event belongs to a CPU even if threads are recorded. */
static inline bool perf_is_of_cpu(const struct perf_source *p, uint32_t event)
{
	return p->waits && (event == perf_wakes(p) || perf_is_reported(p, event));
}

/* Returns whether an event is switched off if a CPU has too many waits, except
 * `waking`. */
static inline bool perf_is_paced(const struct perf_source *p, uint32_t event)
{
	return p->waits && (event == p->base.blocked ||
			    (perf_has_wakes(p) && event == perf_wakes(p)));
}

/* Notes that events were switched on.  The caller holds the lock. */
static inline void perf_pace_begin(struct perf_source *p)
{
	for (size_t i = 0; i < p->ncpus; i++)
		p->paced[i].blocked = p->paced[i].waking = PERF_UNKNOWN;
}

static inline struct perf_source *perf_of(struct source *s)
{
	return (struct perf_source *)s;
}

/* What the lock protects: struct perf_drainer. */
static inline void perf_lock(struct perf_source *p)
{
	if (p->drainer.running)
		pthread_mutex_lock(&p->drainer.lock);
}

static inline void perf_unlock(struct perf_source *p)
{
	if (p->drainer.running)
		pthread_mutex_unlock(&p->drainer.lock);
}

static inline int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

/* perf_attach.c: opens events for the target's threads and CPUs. */
int perf_open_all(struct perf_source *p, const struct source_target *t,
		  struct error *err);
/* Switches a counter on or off.  One that has ended stays off. */
int perf_switch(const struct counter *c, bool on);
/* Starts the counters of p->counters from `first` on. */
int perf_start_from(struct perf_source *p, size_t first, struct error *err);
/* Checks whether CPUs have come or gone. */
void perf_look_at_cpus(struct perf_source *p);
/* Implements source_ops.follow. */
int perf_follow(struct source *s, const uint32_t *tids, size_t n,
		struct error *err);
/* Permits samples by BPF programs on a CPU until the next round, which may be 0.2 s away.
 * Returns whether they took all those of the last round. */
bool perf_permit_samples(struct perf_source *p, size_t cpu);
/* Switches the reports of BPF programs on or off. */
void perf_switch_reports(struct perf_source *p, bool on);
/* Stops sampling.  The caller holds the lock. */
void perf_disable(struct perf_source *p);
/* perf_pace.c: switches the events of waits off and on.  The caller holds the lock. */
void perf_pace_waits(struct perf_source *p);
/* perf_drain.c.  Where no thread can be created, the caller drains the rings. */
void perf_drainer_start(struct perf_source *p);
void perf_drainer_end(struct perf_source *p);
/* Makes `order` read the rings, if rounds are planned.  Returns 0 or -ERR_NOMEM. */
int perf_feed_init(struct perf_source *p);
/* Implement source_ops.pace and .end_at. */
void perf_pace(struct source *s, unsigned int ms);
void perf_end_at(struct source *s, uint64_t end_ns, const int *fds, size_t n);
/* Implement source_ops.drain and .count. */
int perf_drain(struct source *s, bool all, record_cb *cb, void *ctx,
	       struct error *err);
int perf_count(struct source *s, size_t event, struct source_count *out,
	       record_cb *cb, void *ctx, struct error *err);

#endif
