/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_LATENCY_H
#define TALLY_RECORD_WAITS_LATENCY_H
/*
 * Wall-clock time divided among threads.  Each moment is divided evenly among the
 * threads that run on a CPU at that moment.  Time in which no thread runs belongs to
 * the thread that runs next, because that is the one that all waited for.  The shares
 * add up to the time from begin to end, without the time after the last thread.
 *
 * The division is exact and uses the kernel's records of switches, in order of time.
 * It knows nothing of samples or stacks.
 */
#include <stdbool.h>
#include <stdint.h>

#include "record/waits/tid_rows.h"

struct latency_thread {
	uint32_t tid;		/* 0: a free row */
	bool running;
	double from;		/* while running: latency.shared when it started to
				 * run */
	double due;		/* share not yet taken, in ns */
};

struct latency {
	uint64_t now_ns;	/* time up to which all is divided; 0: not begun */
	uint32_t running;
	double shared;		/* share so far, in ns, of a thread that runs all the
				 * time */
	bool lost;		/* records were lost; nothing is known until the next
				 * switch */
	VEC(struct latency_thread) threads;
	struct tid_rows index;
};

void latency_fini(struct latency *l);
/* Forgets everything and divides time from here on. */
void latency_begin(struct latency *l, uint64_t time_ns);
/* Puts a thread on a CPU.  *gap is how long no thread ran before, in ns, or 0.
 * Returns 0 or -ERR_NOMEM. */
int latency_in(struct latency *l, uint32_t tid, uint64_t time_ns, uint64_t *gap);
void latency_out(struct latency *l, uint32_t tid, uint64_t time_ns);
/* Takes a thread's share since the last call.  Returns whole nanoseconds. */
uint64_t latency_take(struct latency *l, uint32_t tid, uint64_t time_ns);
/* Ends the thread.  Take its share before. */
void latency_exit(struct latency *l, uint32_t tid, uint64_t time_ns);
/* Handles a loss of switch records. */
void latency_lost(struct latency *l, uint64_t time_ns);

#endif
