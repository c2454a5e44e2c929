/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PRIORITY_H
#define TALLY_LAUNCH_PRIORITY_H
/*
 * The priority of the recorder's threads.  A machine may have more work than
 * processors; the recorder needs little time, but soon.  Where the kernel does
 * not allow more (CAP_SYS_NICE, RLIMIT_RTPRIO, RLIMIT_NICE) all stays as it was.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRIORITY_TEXT = 32 };

/* The calling thread before all normal ones: real-time, or as nice as allowed.
 * `how` gets what it became: "real-time", "nice -20", "normal". */
void priority_first(char how[PRIORITY_TEXT]);
/* A thread that is before normal ones from its start, where that is allowed: else
 * it might wait long for its first turn.  All signals are blocked in it.  0 or an
 * error number. */
int priority_create(pthread_t *out, void *(*run)(void *), void *arg);
/* The calling thread (and those it starts) before most others; returns its nice
 * value so far, for priority_set. */
int priority_raise(void);
void priority_set(int nice_value);

/*
 * Before normal threads for a short time.  Nice values are not enough: with
 * sched_autogroup they count inside a session only (sched(7)).  Real-time is
 * switched on and off, so that other programs never wait for long, and ends after
 * a second at the latest.  Nothing happens where the kernel does not allow it, or
 * the user has chosen another policy.
 */
enum priority_plan {
	/* The calling thread, for 5 ms of each 20: it keeps up with little
	 * work. */
	PRIORITY_WORK,
	/* All threads but those of SCHED_FIFO (priority_first), for 16 ms of
	 * each 20: somebody waits.  Processes and threads that are started
	 * meanwhile … */
	PRIORITY_BEGIN,		/* … do not inherit it */
	PRIORITY_FINISH,	/* … do: there must be no processes */
};
struct priority_boost {
	pthread_t thread;
	bool running;
	int quit_fd;
};
void priority_boost_begin(struct priority_boost *b, enum priority_plan plan);
void priority_boost_end(struct priority_boost *b);
/* Whether it runs; not any more when its time was over. */
bool priority_boost_on(struct priority_boost *b);
/* The process is about to end: it goes on until then, or until its time is over. */
void priority_boost_leave(struct priority_boost *b);

/* How long the calling thread has waited for a processor so far, in ns; 0 where
 * the kernel does not tell. */
uint64_t priority_waited(void);

#endif
