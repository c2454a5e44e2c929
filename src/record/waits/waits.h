/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_WAITS_H
#define TALLY_RECORD_WAITS_WAITS_H
/*
 * Waits of threads, from the kernel's records of their switches.
 *
 * A wait is the time from a thread's switch-out to its next switch-in.  It is
 * `runnable` if the thread could have continued when it left (preempted, throttled)
 * or had just been created.  Otherwise it is blocked until the thread is woken, and
 * runnable from then on: those are two waits.  Without a record of the wakeup, its
 * last part is runnable: the time in the run queue (waits_queued) that earlier waits do
 * not explain.  The sum of both is exact.  The stack comes from the kernel's sample at the
 * switch-out.  Without that sample, it comes from a poll of the sleeping thread whose
 * times lie between the two switches.
 *
 * A wait that is open when recording begins counts from there, and one that is open
 * when it ends counts up to there.  Where records of switches were lost, time that
 * may hold more than one wait is reported as unknown.  Losses are never bridged.
 * If only the record of a switch-in is missing (some kernels do not report switches from
 * certain threads), the thread's run time tells when it occurred.
 *
 * Nothing here reads files or memory; stacks are numbers of the caller.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/waits/tid_rows.h"
#include "record/waits/wait_kind.h"

/* Where a wait's stack comes from. */
enum wait_found {
	WAIT_EXACT,		/* the kernel's sample at the switch-out */
	WAIT_POLLED,		/* a poll of the thread during the wait */
	WAIT_NO_STACK,		/* neither; there is no stack */
	WAIT_STARTING,		/* the thread had not run yet */
	WAIT_UNKNOWN,		/* switches were lost; it may not have waited all the
				 * time */
	WAIT_FOUND_KINDS,
};

/* The thread or interrupt that woke a thread. */
struct waker {
	uint32_t pid, tid;
	bool interrupt;		/* an interrupt in that thread woke it: a timer, a
				 * disk, the network */
	bool sampled;		/* the stack of the wakeup is known: */
	uint32_t stack, loc;
};

struct wait {
	uint32_t pid, tid;
	uint64_t start_ns, end_ns;	/* start < end */
	bool runnable;
	enum wait_found found;
	uint32_t stack, loc;	/* set for EXACT and POLLED, as the caller supplied
				 * them */
	uint32_t task;		/* the same; 0: none known */
	wait_kind kind;		/* of a blocked wait; 0: unknown */
	bool woken;		/* blocked wait with a known wakeup by: */
	struct waker waker;
};

/* A stack, by the caller's numbers. */
struct wait_stack {
	uint32_t stack, loc;
	uint32_t task;		/* the asyncio task that the thread runs; 0: none known */
	uint64_t from_ns, to_ns;	/* start and end of a poll; to_ns 0: no stack */
	bool more;		/* the poll has more frames than the switch's sample */
	bool no_stack;		/* the poll knows the kind only */
	/* What the thread waits for; 0: unknown.  The registers of a switch's sample
	 * show only whether it is in a system call. */
	wait_kind kind;
};

/* A switch of a thread. */
struct wait_switch {
	uint32_t pid, tid;
	uint64_t time_ns;
	bool out;		/* it left its CPU; false: it got one */
	bool preempted;		/* it left although it could have continued */
	uint64_t ran_ns;	/* out: time for which it has run so far; 0: unknown */
	wait_kind kind;		/* out: what it waits for, as far as its call tells; 0:
				 * unknown */
};

enum { WAIT_POLLS = 4 };

enum waiter_state {
	WAITER_UNKNOWN,		/* no record yet */
	WAITER_RUNNING,
	WAITER_OUT,
	WAITER_AFTER_LOSS,	/* its state is uncertain because records were lost */
};

struct waiter {
	uint32_t pid, tid;	/* tid 0: free row */
	enum waiter_state state;
	bool runnable, starting, sampled;
	bool was_running;	/* AFTER_LOSS: it was running before the loss */
	bool hidden;		/* kernel thread, not reported */
	bool closed;		/* tally may not look at it */
	bool gone;		/* it has exited, and its end is still to come */
	uint64_t since_ns;	/* OUT, AFTER_LOSS: time of the switch-out;
				 * AFTER_LOSS with `was_running`: time of the loss */
	uint64_t ran_ns;	/* its run time at the last switch-out; 0: unknown */
	wait_kind kind;		/* OUT: by the switch; 0: unknown */
	uint64_t woken_ns;	/* OUT: time from which it is runnable, or 0 */
	struct waker waker;
	/* A sampled waker and its time.  The plain record of the same wakeup is still
	 * to come. */
	struct waker coming;
	uint64_t coming_ns;
	/* Time for which the thread waited for a CPU: the kernel's total when it was
	 * last read, and the part of it that the waits until now explain. */
	uint64_t queued_ns, explained_ns;
	uint64_t queue_read_ns;	/* when it was read, or 0 */
	bool born;		/* the waits are those of its whole life */
	uint64_t unsampled_ns;	/* time that others waited for this thread, by wakeups
				 * without a sample; the caller's */
	/* Number of polls for the kind still to be made, and number of those made
	 * since the last that found any; the caller's. */
	uint32_t kind_left, kind_polls;
	struct wait_stack left;		/* OUT and `sampled`: sample of the switch-out */
	struct wait_stack sample;	/* of the next one; to_ns 0: none */
	/* Recent polls.  Records arrive later than polls, so these may belong to
	 * several waits. */
	struct wait_stack polls[WAIT_POLLS];
	uint32_t next_poll;
};

/* Receives a wait.  A negative result stops. */
typedef int wait_cb(void *ctx, const struct wait *w, struct error *err);

struct waits {
	wait_cb *cb;		/* receives each wait at its end */
	void *ctx;
	uint64_t on_ns;		/* time from which waits count; UINT64_MAX: none
				 * count */
	VEC(struct waiter) threads;
	struct tid_rows index;
	VEC(struct wait_toggle {
		uint64_t time_ns;
		bool on;
	}) toggles;		/* pending, in order of time */
	size_t next_toggle;
	uint64_t gaps;		/* number of records that report losses */
};

void waits_fini(struct waits *w);
/* Forgets all threads for a new run.  Waits do not count until waits_toggle. */
void waits_clear(struct waits *w);
/* Starts or stops counting waits from this time on.  Records that arrive later may be
 * older. */
int waits_toggle(struct waits *w, uint64_t time_ns, bool on, struct error *err);

/* Take the records, in order of time.  They return 0, what the callback returned, or
 * an error. */
int waits_sample(struct waits *w, uint32_t pid, uint32_t tid,
		 const struct wait_stack *s, struct error *err);
int waits_switch(struct waits *w, const struct wait_switch *s, struct error *err);
int waits_fork(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
	       struct error *err);
/* Records that a thread was woken.  Threads that are unknown or not switched out are
 * ignored.  The kernel writes two records of one wakeup, each with its own reading of
 * the clock.  A sampled waker therefore replaces an unsampled waker of the same
 * wakeup, in either order. */
void waits_wake(struct waits *w, uint32_t tid, uint64_t time_ns,
		const struct waker *waker);
/* Takes the kernel's total of the time for which a thread has waited for a CPU
 * (schedstat), read at this time.  For threads without records of some or all of their
 * wakeups. */
void waits_queued(struct waiter *t, uint64_t total_ns, uint64_t time_ns);
/* Forgets these totals, because all wakeups have records from now on. */
void waits_forget_queues(struct waits *w);
/* Records that a thread exited: no wait counts that begins later.  `ends`: the switches on the
 * way to its end, and waits_remove, follow. */
void waits_exit(struct waits *w, uint32_t tid, bool ends);
/* Records that a thread left its CPU for good, or that another one has its number. */
void waits_remove(struct waits *w, uint32_t tid);
/* Handles a loss of switch records before this time. */
int waits_lost(struct waits *w, uint64_t time_ns, struct error *err);
/* Ends the recording and delivers the open waits. */
int waits_end(struct waits *w, uint64_t time_ns, struct error *err);

/* Records that a thread without any record so far was asleep at this time, and had run for
 * `ran_ns` (as in struct wait_switch). */
int waits_asleep(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
		 uint64_t ran_ns, struct error *err);
/* Hides a kernel thread: its waits are not reported. */
int waits_hide(struct waits *w, uint32_t pid, uint32_t tid, struct error *err);
/* Returns whether the thread left its CPU blocked, as far as records have arrived.
 * It may have been woken since. */
static inline bool waits_is_blocked(const struct waiter *t)
{
	return t->state == WAITER_OUT && !t->runnable;
}
/* Adds a poll of a thread.  The thread need not have slept for the whole poll. */
void waits_add_poll(struct waiter *t, const struct wait_stack *poll);
/* Return whether a poll of the stack lies in the open wait, or whether its kind is known,
 * as far as records have arrived. */
bool waits_has_poll(const struct waiter *t);
bool waits_has_kind(const struct waiter *t);
/* Returns the row of a thread that has not exited, or NULL.  It is valid until the next
 * call that may add a row. */
struct waiter *waits_find(struct waits *w, uint32_t tid);

#endif
