/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_PACE_H
#define TALLY_RECORD_PERF_PERF_PACE_H
/*
 * Limits what the recording of waits costs the program.
 *
 * The records of switches give exact times and are always taken.  Samples of threads that
 * leave a CPU or wake others, and the records of wakeups, cost several times as much.  A
 * CPU has all of them as long as everything together takes no more than 2 % of its time,
 * by the typical costs of a virtual machine.  Otherwise it has them in windows of some
 * hundred waits: off until the average is right again, but for no longer than half a
 * second.  The length of each pause is random, because programs may switch at a steady
 * rhythm.
 *
 * (A lower rate instead of windows would not reach new threads, because
 * PERF_EVENT_IOC_PERIOD does not.  A rate chosen by the kernel omits the second of two
 * rare wakeups in a row.)
 */
#include <stdbool.h>
#include <stdint.h>

/* Costs in a virtual machine, of a program that computes between its switches
 * (doc/measurements.md, Waits).  That of a record of a switch includes what events cost
 * that are off, and that of a sample of a blocked thread includes the record of its
 * wakeup.  BPF programs report a switch and a wakeup each time. */
enum { PERF_SWITCH_NS = 900, PERF_REPORTED_NS = 700, PERF_BLOCKED_NS = 5000,
       PERF_WAKING_NS = 5000 };
/* What it costs to switch the events on and off: interrupts on the program's CPU. */
enum { PERF_WINDOW_NS = 200000 };
enum { PERF_PACE_PERCENT = 2, PERF_PAUSE_MAX_NS = 500000000 };

/* Records of a CPU's threads. */
struct perf_taken {
	uint64_t switches;	/* out and in */
	uint64_t blocked;	/* samples of threads that leave the CPU */
	uint64_t waking;	/* samples of threads that wake others */
	uint64_t reported;	/* reports of BPF programs: perf_bpf.h */
};

struct perf_pace {
	struct perf_taken taken;	/* since the last call */
	/* Time until which they use up the permitted share. */
	uint64_t paid_ns;
	uint64_t latest_ns;	/* off: time by which the next window begins; or 0 */
};

/* Takes what a CPU's threads had since the last call.  Returns whether samples and
 * wakeups are to be off from now on. */
bool perf_pace_cpu(struct perf_pace *w, uint64_t now);
/* The same for the number of wakeups sampled on all CPUs, which the recorder unwinds:
 * at most 5,000 a second on average, of which 500 may come at once. */
bool perf_pace_all(struct perf_pace *w, uint64_t now);

#endif
