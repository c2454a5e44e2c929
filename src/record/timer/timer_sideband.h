/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_SIDEBAND_H
#define TALLY_RECORD_TIMER_TIMER_SIDEBAND_H
/* What programs tell of themselves, as the records that every source gives. */
#include "record/source/maps_watch.h"
#include "record/timer/timer_ring.h"

/* So many may be waited for at a time. */
enum { TIMER_EXECS_MAX = 4096, TIMER_LOADS_MAX = 256 };

/* A program that was to be executed, and did not begin so far. */
struct timer_exec {
	uint32_t pid;
	uint32_t cpu_us;	/* what its thread had run */
	uint64_t time_ns;
	char name[64];
};

/* A program that has begun: what that took becomes samples with its mappings. */
struct timer_started {
	uint32_t pid, user_us, sys_us;
	uint32_t unknown_us;	/* how these part it is not known */
	uint64_t entry;
};

/* A process that gets or loses libraries. */
struct timer_load {
	uint32_t pid;
	uint64_t until_ns;
};

struct timer_sideband {
	struct maps_watch maps;
	struct u64map seen;		/* processes */
	VEC(struct timer_exec) execs;
	VEC(struct timer_exec) outside;	/* that could not be recorded */
	VEC(struct timer_load) loads;
	struct timer_started begun[TIMER_RINGS_MAX];	/* pid 0: none */
	uint32_t nbegun;
	bool no_user, no_kernel;	/* samples of these do not count */
	uint64_t counts_from;	/* starts of programs before count for nothing */
	uint64_t weight, samples;	/* so far */
	record_cb *cb;			/* while delivering */
	void *ctx;
	struct error *err;
};

void timer_sideband_init(struct timer_sideband *n, const char *proc);
void timer_sideband_fini(struct timer_sideband *n);
/* Hands on what a message means; negative stops. */
int timer_sideband_message(struct timer_sideband *n, const struct timer_message *m,
			   uint64_t time_ns);
/* Looks at the mappings of who loads libraries now. */
int timer_sideband_loads(struct timer_sideband *n, uint64_t now_ns);
/* At the end: what of `counted_ns` of processor time no sample stands for is one
 * sample, if it is more than a period. */
int timer_sideband_rest(struct timer_sideband *n, uint64_t counted_ns,
			uint64_t period_ns, uint64_t now_ns);
/* At the end: programs that never began are `outside`, too. */
int timer_sideband_end(struct timer_sideband *n, uint64_t now_ns);

#endif
