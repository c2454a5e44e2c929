/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_COLLECT_WAITS_H
#define TALLY_RECORD_COLLECT_COLLECT_WAITS_H
/*
 * Waits of threads (waits.h) as samples of two events in nanoseconds: `blocked`, at
 * the end of each wait with its length as weight, and `runnable`.  Their stacks are
 * of the kernel's samples at switches, or of looks at threads while they sleep: their
 * stack pointer and instruction pointer from /proc/PID/task/TID/syscall (proc(5)),
 * their memory by process_vm_readv(2).  Nothing is stopped, no call is interrupted.
 *
 * Where more waits come than can be written, short ones are thinned: one of length d
 * is kept with probability d / thinning_ns, and then weighs thinning_ns.  Longer ones
 * are exact, and the sum is right on average.
 */
#include "record/collect/collector.h"

/* The event `waking` tells who ended waits, with the time that was waited for it: where
 * the thread was that woke the other one.  The kernel takes samples of some of a thread's
 * wakes only; the time of short waits that others ended goes to the thread's next
 * sample. */

/* Wall-clock time (latency.h) is one more event: a sample of the first event has its
 * thread's share since the one before, and a wait that ends while no thread runs has
 * the time since one ran last. */

/* Time of a thread that ended before its next sample. */
#define PLACE_NO_SAMPLE "[no sample]"
/* Places of waits without a stack. */
#define PLACE_NO_STACK "[no stack]"
#define PLACE_STARTING "[not started yet]"
#define PLACE_SWITCHES_LOST "[switches lost]"
/* Of what ended waits, but is no thread of the program's, or none any more. */
#define PLACE_EXIT "[exit]"
#define PLACE_INTERRUPT "[interrupt]"
#define PLACE_KERNEL_THREAD "[kernel thread]"
#define PLACE_OTHER_PROCESS "[another process]"

/* Waits are recorded; `src` tells which events they are.  `alone`: it does not follow
 * new threads. */
void collect_waits_begin(struct collector *c, const struct source *src,
			 bool alone);
/* From this time on waiting counts, or no more. */
int collect_waits_toggle(struct collector *c, uint64_t time_ns, bool on,
			 struct error *err);
/* Threads that exist already: those that sleep wait from this time on.  `pid`: a
 * command that is about to run, or 0. */
int collect_waits_asleep(struct collector *c, uint32_t pid, uint64_t time_ns,
			 struct error *err);
int collect_wait_sample(struct collector *c, struct process *proc,
			const struct record *r, struct error *err);
int collect_waking(struct collector *c, struct process *proc,
		   const struct record *r, struct error *err);
/* RECORD_SWITCH and RECORD_SWITCH_GAP. */
int collect_switch(struct collector *c, const struct record *r,
		   struct error *err);
/* Writes the share of a thread that was sampled. */
int collect_latency(struct collector *c, const struct record *r,
		    const struct prof_sample *at, uint32_t loc,
		    struct error *err);
/* A thread stood still for its sample: it did not wait. */
void collect_stood(struct collector *c, const struct record *r);
int collect_fork(struct collector *c, const struct record *r, struct error *err);
int collect_exit(struct collector *c, const struct record *r, struct error *err);
int collect_exec(struct collector *c, const struct record *r, struct error *err);
/* The recording ends. */
int collect_waits_end(struct collector *c, uint64_t time_ns, struct error *err);
/* How long all waits of an event were so far. */
uint64_t collect_waits_ns(const struct collector *c, size_t event);
/* Facts for the reader: how stacks were found.  0 or -ERR_NOMEM. */
int collect_waits_facts(struct collector *c);
/* Between two batches of records: looks at threads that sleep. */
int collect_waits_rest(struct collector *c, uint64_t now_ns, struct error *err);

#endif
