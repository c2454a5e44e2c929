/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_BPF_H
#define TALLY_RECORD_PERF_PERF_BPF_H
/*
 * BPF programs that report when threads leave and get CPUs, and wake others (bpf(2)).
 *
 * Events of each thread that record this cost more than 1 us per switch, because the
 * kernel must also schedule the events.  Programs at tracepoints of the scheduler cost a
 * third of that.  For each CPU they write switches and wakeups to a ring in shared memory,
 * and samples to events of their own (PERF_COUNT_SW_BPF_OUTPUT): of threads that leave the
 * CPU, directly before the switch, and of threads that wake others.
 *
 * The numbers of threads are those of the machine's first pid namespace, and times those
 * of CLOCK_MONOTONIC.  Requires x86-64, CAP_BPF and CAP_PERFMON, Linux 5.15, and the kernel's
 * type information.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* A switch, or a wakeup. */
struct perf_bpf_report {
	uint64_t time_ns;
	uint64_t ran_ns;	/* of switches: run time of out_tid until then, as the scheduler
				 * counts it */
	uint32_t out_tid;	/* thread that leaves the CPU, or the waker; 0: not
				 * followed */
	uint32_t in_tid;	/* thread that gets the CPU, or is woken; 0: not
				 * followed */
	uint32_t out_pid, in_pid;	/* in_pid: only of switches */
	uint16_t flags;		/* enum perf_bpf_flags */
	int16_t call;		/* with PERF_BPF_CALL: number of the system call in which
				 * out_tid waits; negative: in none */
	uint32_t lost;		/* perf_bpf_lost before, modulo 2^32 */
};

enum perf_bpf_flags {
	PERF_BPF_RUNNABLE = 1,	/* out_tid could continue */
	PERF_BPF_ENDED = 2,	/* out_tid has exited; it has no sample */
	PERF_BPF_WAKEUP = 4,
	PERF_BPF_INTERRUPT = 8,	/* an interrupt in out_tid woke in_tid */
	PERF_BPF_STOPPED = 16,	/* a signal or a debugger has stopped out_tid */
	PERF_BPF_CALL = 32,	/* not if it is stopped, or its program has 32 bits */
};

enum {
	/* Reports of a CPU that may wait to be read: 2.5 MB, and less with many CPUs. */
	PERF_BPF_RING = 65536, PERF_BPF_RING_MIN = 4096,
	PERF_BPF_THREADS = 262144,	/* that are followed at a time */
	PERF_BPF_WHY = 256,		/* bytes of a reason */
};

/* Samples.  Those of wakeups contain a struct perf_bpf_woken (PERF_SAMPLE_RAW). */
enum perf_bpf_sample { PERF_BPF_BLOCKED, PERF_BPF_WAKING, PERF_BPF_SAMPLES };

struct perf_bpf_woken {
	uint32_t flags;		/* as in the report of the wakeup */
	uint32_t tid;
};

/* Which threads to report. */
struct perf_bpf_scope {
	bool everyone;		/* all; otherwise those of perf_bpf_follow ... */
	bool inherit;		/* ... and the threads and processes that these start */
	uint32_t ncpus;		/* CPUs are below this number */
};

struct perf_bpf {
	bool everyone;
	uint32_t ncpus;
	uint32_t ring;		/* reports of a CPU that may wait to be read */
	uint8_t *cpus;		/* memory shared with the programs; NULL: not open */
	int shared;		/* map of that memory */
	int samples[PERF_BPF_SAMPLES];	/* maps of events by CPU */
	int threads;		/* map of the followed threads; -1 with `everyone` */
	int held[8];		/* programs and their attachments */
	size_t nheld;
};

/* Starts the programs, switched off.  Returns false with the reason in `why` if the kernel
 * does not allow them; then nothing is open.  End with perf_bpf_close, also if it was
 * zero. */
bool perf_bpf_open(struct perf_bpf *b, const struct perf_bpf_scope *scope, char *why,
		   size_t size);
void perf_bpf_close(struct perf_bpf *b);
static inline bool perf_bpf_is_open(const struct perf_bpf *b)
{
	return b->cpus;
}
/* Makes an attribute that of an event of a CPU to which the programs can write. */
void perf_bpf_prepare(struct perf_event_attr *a);
/* Sets the event of a CPU for these samples.  Returns 0 or a negative errno. */
int perf_bpf_sample_to(struct perf_bpf *b, enum perf_bpf_sample kind, uint32_t cpu,
		       int fd);
/* Follows a thread, from its next exec on if `at_exec`.  Returns 0 or a negative errno. */
int perf_bpf_follow(struct perf_bpf *b, uint32_t tid, bool at_exec);
/* Switch the reports of a CPU, and its samples, on or off. */
void perf_bpf_switch(struct perf_bpf *b, uint32_t cpu, bool on);
void perf_bpf_sample(struct perf_bpf *b, enum perf_bpf_sample kind, uint32_t cpu,
		     bool on);
/* Permits this number of samples on a CPU from now on.  Returns whether the samples
 * permitted before were all taken. */
bool perf_bpf_permit(struct perf_bpf *b, uint32_t cpu, uint64_t samples);
/* Copies the next report of a CPU.  Returns false if there is none. */
bool perf_bpf_next(struct perf_bpf *b, uint32_t cpu, struct perf_bpf_report *out);
/* Returns the number of reports that had no room, and of threads that are not followed
 * because they are too many, since the start. */
uint64_t perf_bpf_lost(const struct perf_bpf *b, uint32_t cpu);

#endif
