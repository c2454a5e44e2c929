/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_POLLED_WAITS_H
#define TALLY_RECORD_WAITS_POLLED_WAITS_H
/*
 * Waits of threads where the kernel tells of no switches, from what
 * /proc/PID/task/TID/schedstat says at some moments (sched-stats.rst in the kernel's
 * documentation): how long the thread ran, how long it was queued for a processor, and
 * how often it got one.  What remains of the time it was blocked.
 *
 * So a thread's totals are exact.  Where it was blocked is sampled: a thread that is
 * found asleep has been there since the last time it was asked for, as far as it was
 * blocked meanwhile at all.  If it has not run since it was found asleep before, it is
 * in the same wait.  Time that no sample can have is told without a stack.
 *
 * In a virtual machine the host may take time from threads that run, which counts
 * neither as run nor as queued.  The kernel tells how much that was, but not of which
 * thread.  As far as it took any, a thread was blocked for as much of the time as it
 * was found asleep.
 *
 * Knows nothing of files and of stacks but their numbers.
 */
#include "record/waits/waits.h"

/* A thread at one moment. */
struct wait_poll {
	uint64_t time_ns;
	uint64_t ran_ns, queued_ns, turns;	/* so far */
	bool asleep;
	bool looked;			/* asleep, and it is known where: */
	uint32_t stack, loc;
};

struct polled_thread {
	uint32_t pid, tid;	/* tid 0: a free row */
	uint64_t asked_ns;	/* the last time; 0: not yet */
	struct wait_poll first;	/* what follows counts from here: */
	uint64_t stolen_ns;	/* (the host had taken so much) */
	uint64_t slept_ns;	/* before moments at which it was asleep */
	uint64_t blocked_ns;	/* taken for that */
	uint64_t stood_ns;	/* kept from running by us */
	struct wait_poll asleep;	/* the last time that it was: the wait that
				 * is open, with its place; time_ns 0: none */
	uint64_t open_ns;	/* how long that is, so far */
	uint64_t rest_ns;	/* blocked, but not told yet */
	uint64_t round;		/* the caller's */
};

struct polled_waits {
	wait_cb *cb;
	void *ctx;
	VEC(struct polled_thread) threads;
	VEC(uint32_t) free;
	struct u64map by_tid;
	uint64_t stolen_ns;
};

void polled_waits_fini(struct polled_waits *w);
void polled_waits_clear(struct polled_waits *w);
/* Found or made; NULL when out of memory.  Valid until the next one is made. */
struct polled_thread *polled_waits_thread(struct polled_waits *w, uint32_t pid,
					  uint32_t tid);
/* NULL: it was not asked for. */
struct polled_thread *polled_waits_find(const struct polled_waits *w, uint32_t tid);
/* It did not run for so long because of us, perhaps in time that is still to be polled. */
void polled_waits_stood(struct polled_thread *t, uint64_t ns);
/* So much was taken by the host so far, of all threads (proc_stat(5): steal). */
void polled_waits_stolen(struct polled_waits *w, uint64_t ns);
/* It begins at this time: all that it does is told from then on. */
void polled_waits_begin(struct polled_waits *w, struct polled_thread *t,
			uint64_t time_ns);
/* 0, or what the callback returned. */
int polled_waits_poll(struct polled_waits *w, struct polled_thread *t,
		      const struct wait_poll *p, struct error *err);
/* The thread is gone, or recording ends. */
int polled_waits_end(struct polled_waits *w, struct polled_thread *t,
		     struct error *err);

#endif
