/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_POLLED_WAITS_H
#define TALLY_RECORD_WAITS_POLLED_WAITS_H
/*
 * Waits of threads where the kernel reports no switches.  They are derived from
 * /proc/PID/task/TID/schedstat, read at intervals (sched-stats.rst in the kernel's
 * documentation).  It says how long the thread ran, how long it was queued for a CPU,
 * and how often it got one.  In the remaining time the thread was blocked.
 *
 * A thread's totals are therefore exact.  Where it was blocked is sampled: a thread
 * found asleep is assumed to have been there since the previous poll, for the part of
 * that time in which it was blocked.  If it has not run since it was last found
 * asleep, it is in the same wait.  Time that no sample can cover is delivered without
 * a stack.
 *
 * In a virtual machine the host may take time from running threads.  That time counts
 * neither as run nor as queued.  The kernel reports the total, but not for each
 * thread.  Up to that total, a thread counts as blocked only for the time in which it
 * was found asleep.
 *
 * This part knows nothing of files, and of stacks only their numbers.
 */
#include "record/waits/tid_rows.h"
#include "record/waits/waits.h"

/* The state of a thread at one moment. */
struct wait_poll {
	uint64_t time_ns;
	uint64_t ran_ns, queued_ns, turns;	/* totals so far */
	bool asleep;
	bool looked;			/* asleep, and its stack is known: */
	uint32_t stack, loc;
	wait_kind kind;			/* 0: unknown */
	uint32_t task;			/* as in struct wait_stack */
};

struct polled_thread {
	uint32_t pid, tid;	/* tid 0: a free row */
	uint64_t asked_ns;	/* time of the last poll; 0: none yet */
	struct wait_poll first;	/* poll from which all totals count */
	uint64_t stolen_ns;	/* host's total at that poll */
	uint64_t slept_ns;	/* time before polls that found it asleep */
	uint64_t blocked_ns;	/* blocked time already assigned to waits */
	uint64_t halted_ns;	/* time in which tally stopped it */
	struct wait_poll asleep;	/* last poll that found it asleep: the open
					 * wait and its stack; time_ns 0: none */
	uint64_t open_ns;	/* length of the open wait so far */
	uint64_t pending_ns;	/* blocked time not yet delivered */
	uint64_t round;		/* reserved for the caller */
};

struct polled_waits {
	wait_cb *cb;
	void *ctx;
	VEC(struct polled_thread) threads;
	struct tid_rows index;
	uint64_t stolen_ns;
};

void polled_waits_fini(struct polled_waits *w);
void polled_waits_clear(struct polled_waits *w);
/* Returns the thread's row, or NULL if it was never polled. */
struct polled_thread *polled_waits_find(const struct polled_waits *w, uint32_t tid);
/* Reports that tally kept the thread from running for `ns`.  Part of that time may
 * lie after the last poll. */
void polled_waits_halted(struct polled_thread *t, uint64_t ns);
/* Sets the total time the host has taken from all threads (proc_stat(5): steal). */
void polled_waits_stolen(struct polled_waits *w, uint64_t ns);
/* Starts the thread's totals at this time.  All its waits count from then on. */
void polled_waits_begin(struct polled_waits *w, struct polled_thread *t,
			uint64_t time_ns);
/* Returns the thread's row, made if necessary, or NULL with an error.  If another process
 * had the number before, its waits end.  The row is valid until the next one is made. */
struct polled_thread *polled_waits_thread(struct polled_waits *w, uint32_t pid,
					  uint32_t tid, struct error *err);
/* Returns 0, or what the callback returned. */
int polled_waits_poll(struct polled_waits *w, struct polled_thread *t,
		      const struct wait_poll *p, struct error *err);
/* Ends the thread when it is gone or when recording ends. */
int polled_waits_end(struct polled_waits *w, struct polled_thread *t,
		     struct error *err);

#endif
