/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_SIDEBAND_H
#define TALLY_RECORD_TIMER_TIMER_SIDEBAND_H
/* Converts what programs report about themselves to the records of any source. */
#include "record/source/maps_watch.h"
#include "record/timer/timer_ring.h"

/* Maximum numbers awaited at a time. */
enum { TIMER_EXECS_MAX = 4096, TIMER_LOADS_MAX = 256 };

/* A program that was to be executed and has not begun yet. */
struct timer_exec {
	uint32_t pid;
	uint32_t cpu_us;	/* CPU time of its thread so far */
	uint64_t time_ns;
	bool other;		/* another recorder or tracer has it */
	char name[64];
};

/* A program that has begun.  Its startup time becomes samples once its mappings are
 * known. */
struct timer_started {
	uint32_t pid, user_us, sys_us;
	uint32_t unknown_us;	/* time not yet attributed to user or kernel */
	uint64_t entry;
};

/* A process that loads or unloads libraries. */
struct timer_load {
	uint32_t pid;
	uint64_t until_ns;
};

struct timer_sideband {
	struct maps_watch maps;
	struct u64map seen;		/* known processes */
	VEC(struct timer_exec) execs;
	VEC(struct timer_exec) outside;	/* programs that could not be recorded */
	VEC(struct timer_load) loads;
	struct timer_started begun[TIMER_RINGS_MAX];	/* pid 0: none */
	uint32_t nbegun;
	bool no_user, no_kernel;	/* exclude samples of user or kernel code */
	uint64_t counts_from;	/* time before which program starts do not count */
	uint64_t weight;		/* total so far */
	uint64_t remainder;		/* part of it that no sample represents */
	record_cb *cb;			/* set while delivering */
	void *ctx;
	struct error *err;
};

void timer_sideband_init(struct timer_sideband *n, const char *proc);
void timer_sideband_fini(struct timer_sideband *n);
/* Delivers the records for a message.  A negative result stops. */
int timer_sideband_message(struct timer_sideband *n, const struct timer_message *m,
			   uint64_t time_ns);
/* Reads the mappings of processes that load libraries now. */
int timer_sideband_loads(struct timer_sideband *n, uint64_t now_ns);
/* Called at the end.  Delivers one sample for the part of `counted_ns` of CPU time
 * that no sample represents, if it is more than a period. */
int timer_sideband_remainder(struct timer_sideband *n, uint64_t counted_ns,
			     uint64_t period_ns, uint64_t now_ns);
/* Called at the end.  Adds programs that never began to `outside`. */
int timer_sideband_end(struct timer_sideband *n, uint64_t now_ns);

#endif
