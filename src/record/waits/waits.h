/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_WAITS_WAITS_H
#define TALLY_RECORD_WAITS_WAITS_H
/*
 * Waits of threads, from the kernel's records of their switches.
 *
 * A wait is the time from a thread's switch-out to its next switch-in.  It is
 * `runnable` if the thread wanted to go on when it left (preempted, throttled) or
 * had just been made; else it is blocked, up to the time when it was woken, and
 * runnable from then on: those are two waits.  Where nothing tells of the waking it is
 * blocked all the time.  Its length is exact.  Its stack is that of
 * the sample which the kernel took at the switch-out, or else that of a look at the
 * sleeping thread: one that lies between the two switches, by their times.
 *
 * A wait that is open when recording begins counts from there, one that is open
 * when it ends counts up to there.  Where records of switches were lost, waits that
 * may be two are told as unknown; they are never bridged.
 *
 * Knows nothing of stacks but their numbers, and reads nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"

/* Where a wait's stack is from. */
enum wait_found {
	WAIT_EXACT,		/* a sample of the kernel at the switch-out */
	WAIT_LOOKED,		/* a look while it lasted */
	WAIT_NO_STACK,		/* neither */
	WAIT_STARTING,		/* the thread had not run yet */
	WAIT_UNKNOWN,		/* switches were lost meanwhile: it may not have
				 * waited all the time */
	WAIT_FOUND_KINDS,
};

/* Who woke a thread. */
struct waker {
	uint32_t pid, tid;
	bool interrupt;		/* not that thread, but what broke in on it: a
				 * timer, a disk, the network */
	bool sampled;		/* where it did is known: */
	uint32_t stack, loc;
};

struct wait {
	uint32_t pid, tid;
	uint64_t start_ns, end_ns;	/* start < end */
	bool runnable;
	enum wait_found found;
	uint32_t stack, loc;	/* EXACT and LOOKED: as they were told */
	bool woken;		/* it was blocked, and is known to have ended by: */
	struct waker waker;
};

/* A stack that was seen, by the caller's numbers. */
struct wait_stack {
	uint32_t stack, loc;
	uint64_t from_ns, to_ns;	/* a look's; to_ns 0: there was none */
	bool more;		/* a look that knows more than the sample of the
				 * switch does */
};

enum { WAIT_LOOKS = 4 };

enum waiter_state {
	WAITER_UNKNOWN,		/* no record yet */
	WAITER_RUNNING,
	WAITER_OUT,
	WAITER_DOUBT,		/* records were lost */
};

struct waiter {
	uint32_t pid, tid;	/* tid 0: a free row */
	enum waiter_state state;
	bool runnable, starting, sampled;
	bool ran;		/* DOUBT: it was running before */
	bool hidden;		/* a thread of the kernel: not told */
	bool closed;		/* we may not look at it */
	uint64_t since_ns;	/* OUT, DOUBT: the switch-out; DOUBT of one that
				 * ran: when that was told */
	uint64_t woken_ns;	/* OUT: since then it is runnable; or 0 */
	struct waker waker;
	/* A sample of who wakes it, of this time, whose record of the wake is still to
	 * come. */
	struct waker coming;
	uint64_t coming_ns;
	uint64_t unsampled_ns;	/* what others waited for this thread, by wakes
				 * without a sample: the caller's */
	struct wait_stack sample;
	/* Records come later than looks, which may be of several waits by then. */
	struct wait_stack looks[WAIT_LOOKS];
	uint32_t next_look;
};

/* Negative stops. */
typedef int wait_cb(void *ctx, const struct wait *w, struct error *err);

struct waits {
	wait_cb *cb;		/* gets each wait at its end */
	void *ctx;
	uint64_t on_ns;		/* what was before does not count; UINT64_MAX:
				 * nothing does */
	VEC(struct waiter) threads;
	VEC(uint32_t) free;
	struct u64map by_tid;
	VEC(struct wait_toggle {
		uint64_t time_ns;
		bool on;
	}) toggles;		/* still to come, in order of time */
	size_t next_toggle;
	uint64_t gaps;		/* records that told of losses */
};

void waits_fini(struct waits *w);
/* Forgets all threads: a new run, which does not count yet. */
void waits_clear(struct waits *w);
/* Waiting counts from this time on, or no more.  Records that come later may be
 * older. */
int waits_toggle(struct waits *w, uint64_t time_ns, bool on, struct error *err);

/* The records, in order of time.  0, or what the callback returned, or an
 * error. */
int waits_sample(struct waits *w, uint32_t pid, uint32_t tid,
		 const struct wait_stack *s, struct error *err);
int waits_switch(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
		 bool out, bool preempted, struct error *err);
int waits_fork(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
	       struct error *err);
/* A thread was woken.  One that is not out, or not known, is left alone.  A waker that is
 * sampled tells where the one was, or will be, that is told without: the kernel makes
 * two records of one wake, and each has read the clock. */
void waits_wake(struct waits *w, uint32_t tid, uint64_t time_ns,
		const struct waker *waker);
void waits_exit(struct waits *w, uint32_t tid);
/* Records of switches were lost before this one. */
int waits_lost(struct waits *w, uint64_t time_ns, struct error *err);
/* The recording ends: open waits are told. */
int waits_end(struct waits *w, uint64_t time_ns, struct error *err);

/* A thread that was asleep at this time, when no record of it had come. */
int waits_asleep(struct waits *w, uint32_t pid, uint32_t tid, uint64_t time_ns,
		 struct error *err);
/* A thread of the kernel: its waits are not told. */
int waits_hide(struct waits *w, uint32_t pid, uint32_t tid, struct error *err);
/* Whether it left its processor blocked, as far as records have come; perhaps it was
 * woken since. */
static inline bool waits_is_blocked(const struct waiter *t)
{
	return t->state == WAITER_OUT && !t->runnable;
}
/* A look at a thread, which may have slept all the time or not. */
void waits_look(struct waiter *t, const struct wait_stack *look);
/* Whether a look lies in the wait that is open, as far as records have come. */
bool waits_has_look(const struct waiter *t);
/* A thread's row, or NULL; valid until the next call that may add one. */
struct waiter *waits_find(struct waits *w, uint32_t tid);

#endif
