/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_LATENCY_H
#define TALLY_RECORD_WAITS_LATENCY_H
/*
 * Wall-clock time shared among threads: each moment is divided evenly among the
 * threads that have a processor then.  A moment in which none has one belongs to the
 * thread that gets one next: that is the one that all waited for.  All shares together
 * are the time from begin to end, but for what follows the last thread.
 *
 * From the kernel's records of switches, in order of time; exact.  Knows nothing of
 * samples or stacks.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct latency_thread {
	uint32_t tid;		/* 0: a free row */
	bool running;
	double from;		/* running: latency.shared when it began */
	double due;		/* its share that was not taken yet */
};

struct latency {
	uint64_t now_ns;	/* all before is divided; 0: not begun */
	uint32_t running;
	double shared;		/* so far, by each thread that ran always */
	bool lost;		/* nothing is known until the next switch */
	VEC(struct latency_thread) threads;
	VEC(uint32_t) free;
	struct u64map by_tid;
};

void latency_fini(struct latency *l);
/* Forgets all; from here on time is divided. */
void latency_begin(struct latency *l, uint64_t time_ns);
/* A thread gets a processor.  *gap: how long none had one, or 0.  0 or
 * -ERR_NOMEM. */
int latency_in(struct latency *l, uint32_t tid, uint64_t time_ns, uint64_t *gap);
void latency_out(struct latency *l, uint32_t tid, uint64_t time_ns);
/* Takes a thread's share since the last time, in whole nanoseconds. */
uint64_t latency_take(struct latency *l, uint32_t tid, uint64_t time_ns);
/* The thread ends; its share is to be taken before. */
void latency_exit(struct latency *l, uint32_t tid, uint64_t time_ns);
/* Records of switches were lost. */
void latency_lost(struct latency *l, uint64_t time_ns);

#endif
