/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_COLLECT_WAITS_H
#define TALLY_RECORD_COLLECT_COLLECT_WAITS_H
/*
 * Waits of threads (waits.h) as samples of two events in nanoseconds: `blocked` and
 * `runnable`.  Each wait becomes a sample at its end, with its length as weight.
 * Stacks come from the kernel's samples at switches, or from polls of sleeping threads
 * (wait_polls.h).
 *
 * When more waits arrive than can be written, short ones are thinned: a wait of
 * length d is kept with probability d / thinning_ns, and then weighs thinning_ns.
 * Longer waits stay exact, and the sum is correct on average.
 */
#include "record/collect/collector.h"

/* The event `waking` shows where a thread was when it ended another thread's wait,
 * weighted by the length of that wait.  The kernel samples only some of a thread's
 * wakeups.  The time of the short waits in between is added to the thread's next
 * sample. */

/* Wall-clock time (latency.h) is one more event.  A sample of the first event carries
 * its thread's share since the sample before.  A wait that ends while no thread runs
 * carries the time since one ran last. */

/* Place for the time of a thread that ended before its next sample. */
#define PLACE_NO_SAMPLE "[no sample]"
/* Places for waits without a stack. */
#define PLACE_NO_STACK PROF_IMAGE_NO_STACK "]"
#define PLACE_NO_STACK_IN PROF_IMAGE_NO_STACK ": %s]"	/* by kind */
#define PLACE_STARTING "[not started yet]"
#define PLACE_SWITCHES_LOST "[switches lost]"
/* Places for wakeups by something other than a current thread of the program. */
#define PLACE_EXIT "[exit]"
#define PLACE_INTERRUPT "[interrupt]"
#define PLACE_KERNEL_THREAD "[kernel thread]"
#define PLACE_OTHER_PROCESS "[another process]"

/* Starts recording waits, as the events that `src` names.  `alone`: new threads are
 * not followed. */
void collect_waits_begin(struct collector *c, const struct source *src,
			 bool alone);
/* Takes from the source whether it reports all wakeups at present. */
void collect_waits_source(struct collector *c, const struct source *src);
/* Starts or stops counting waits from this time on. */
int collect_waits_toggle(struct collector *c, uint64_t time_ns, bool on,
			 struct error *err);
/* Adds threads that exist already.  Those that sleep wait from this time on.  `pid`
 * is a command that is about to run, or 0. */
int collect_waits_asleep(struct collector *c, uint32_t pid, uint64_t time_ns,
			 struct error *err);
int collect_wait_sample(struct collector *c, struct process *proc,
			const struct record *r, struct error *err);
int collect_waking(struct collector *c, struct process *proc,
		   const struct record *r, struct error *err);
/* Takes RECORD_SWITCH and RECORD_SWITCH_GAP. */
int collect_switch(struct collector *c, const struct record *r,
		   struct error *err);
/* Writes the wall-clock share of a thread that was sampled. */
int collect_latency(struct collector *c, const struct record *r,
		    const struct prof_sample *at, uint32_t loc,
		    struct error *err);
/* Excludes from waits the time for which a sample stopped its thread. */
void collect_halted(struct collector *c, const struct record *r);
int collect_fork(struct collector *c, const struct record *r, struct error *err);
int collect_exit(struct collector *c, const struct record *r, struct error *err);
int collect_exec(struct collector *c, const struct record *r, struct error *err);
/* Ends the recording of waits. */
int collect_waits_end(struct collector *c, uint64_t time_ns, struct error *err);
/* Returns the total length of an event's waits so far, in ns. */
uint64_t collect_waits_ns(const struct collector *c, size_t event);
/* Adds to the profile how stacks were found.  Returns 0 or -ERR_NOMEM. */
int collect_waits_facts(struct collector *c);

#endif
