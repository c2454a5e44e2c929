/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_LAUNCH_PRIORITY_H
#define TALLY_LAUNCH_PRIORITY_H
/*
 * The priority of the recorder's threads.  A machine may have more work than CPUs;
 * the recorder needs little CPU time, but needs it soon.  Where the kernel does not
 * allow a change (CAP_SYS_NICE, RLIMIT_RTPRIO, RLIMIT_NICE), the priority stays as it
 * was.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRIORITY_TEXT = 32 };

/* Puts the calling thread before all normal ones: real-time, or at the lowest nice
 * value allowed.  Writes the result to `how`: "real-time", "nice -20", "normal". */
void priority_first(char how[PRIORITY_TEXT]);
/* Creates a thread that precedes normal ones from its start, where allowed; otherwise
 * it might wait long for its first turn.  All signals are blocked in it.  Returns 0
 * or an error number. */
int priority_create(pthread_t *out, void *(*run)(void *), void *arg);
/* Puts the calling thread (and those it starts) before most others.  Returns its
 * previous nice value, for priority_set. */
int priority_raise(void);
void priority_set(int nice_value);
/*
 * Returns whether the scheduler gives this process and others a common share of the
 * machine: those of a session (sched(7), "autogroup") or of a control group (cgroups(7),
 * cpu; mounted at `cgroups`).  The share is divided among the CPUs by the weights of the
 * threads there.  Nice values stay as they are then: at -15 the recorder has the weight of
 * 28 usual threads, and would leave little on the CPUs where the program runs.
 */
bool priority_is_grouped(const char *proc, const char *cgroups);

/*
 * Puts threads before normal ones for a short time.  Nice values are not enough: with
 * sched_autogroup they count inside a session only (sched(7)).  Real-time priority is
 * switched on and off, so other programs never wait for long, and ends after a second
 * at the latest.  Nothing happens where the kernel does not allow it, or if the user
 * has chosen another policy.
 */
enum priority_plan {
	/* The calling thread, for 5 ms of each 20: it keeps up with little work. */
	PRIORITY_WORK,
	/* All threads except those of SCHED_FIFO (priority_first), for 16 ms of each
	 * 20, because the user or the program is waiting.  Processes and threads
	 * started during that time: */
	PRIORITY_BEGIN,		/* do not inherit it */
	PRIORITY_FINISH,	/* inherit it; there must be no child processes */
};
struct priority_boost {
	pthread_t thread;
	bool running;
	int quit_fd;
};
void priority_boost_begin(struct priority_boost *b, enum priority_plan plan);
void priority_boost_end(struct priority_boost *b);
/* Returns whether it still runs; false once its time is over. */
bool priority_boost_on(struct priority_boost *b);
/* Leaves it running at the end of the process, until then or until its time is over. */
void priority_boost_leave(struct priority_boost *b);

/* Returns how long the calling thread has waited for a CPU so far, in ns; 0 if the
 * kernel does not report it. */
uint64_t priority_waited(void);

#endif
