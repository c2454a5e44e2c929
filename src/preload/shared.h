/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PRELOAD_SHARED_H
#define TALLY_PRELOAD_SHARED_H
/*
 * The memory that a recorder shares with the programs that it records by timers
 * inside them: the header, the controls of the rings, the rings.
 *
 * A writer takes the first free ring (ring->lock, without waiting), writes one record
 * after `head`, advances `head` and releases the ring.  Only the recorder advances
 * `tail`.  Both count bytes without wrapping; the position of a byte is its count
 * modulo ring_bytes, a power of two.  A writer that dies during a write leaves the
 * ring locked, which the recorder detects, but no partial record.
 *
 * Programs may write anything anywhere in this memory, so the recorder checks
 * everything.
 */
#include <stdint.h>

#define TIMER_MAGIC 0x314d4954594c4c54ull	/* "TLLYTIM1" */

/* The variable in a program's environment: NAME=PID:MEMORY:LIBRARY, with the
 * recorder's pid and descriptors. */
#define TIMER_VARIABLE "TALLY_TIMER"

enum {
	TIMER_PAGE = 4096,
	TIMER_RINGS_MAX = 64,
	TIMER_COPY_USUAL = 65528,	/* as with perf events */
	TIMER_COPY_MAX = 256 << 10,	/* if half of a ring remains free */
	TIMER_TEXT_MAX = 8192,		/* bytes of text in one record */
	TIMER_REGS = 17,		/* as in unwind.h */
	TIMER_NAME_BYTES = 16,
};

enum timer_state { TIMER_WAIT, TIMER_RUN, TIMER_STOP };

struct timer_header {
	uint64_t magic;
	/* Written by the recorder. */
	uint32_t state;			/* enum timer_state */
	uint32_t nrings;
	uint64_t ring_bytes;
	uint64_t period_ns;		/* requested period */
	uint64_t tick_ns;		/* interval at which the kernel checks timers */
	uint32_t copy_bytes;		/* size of stack copies; 0: none */
	uint32_t checked_filters;	/* the recorder itself runs under seccomp */
	uint64_t alive_ns;		/* time at which it last read the rings */
	/* Written by the programs. */
	uint64_t lost;			/* samples lost because all rings were full */
	uint64_t lost_sideband;		/* other records lost */
	uint64_t unsampled;		/* threads without a timer */
};

struct timer_ring {
	uint64_t lock;			/* 0, or pid << 32 | tid */
	uint64_t head, tail;
	uint64_t pad[5];
};

enum timer_kind {
	TIMER_SAMPLE = 1,	/* struct timer_sample */
	TIMER_START,		/* struct timer_start: a program begins */
	TIMER_MAPS,		/* text: lines as in /proc/PID/maps */
	TIMER_FORK,		/* struct timer_fork, from the child */
	TIMER_THREAD,		/* struct timer_fork, from the thread */
	TIMER_EXIT,		/* timer_record only: the process ends */
	TIMER_NAME,		/* text: the thread's new name */
	TIMER_LOAD,		/* libraries are loaded or unloaded from now on */
	TIMER_EXEC,		/* text: program about to be executed */
	TIMER_EXEC_FAILED,	/* timer_record only */
	TIMER_OUTSIDE_SPAWN,	/* text: a child's program that cannot be followed */
};

struct timer_record {
	uint32_t size;		/* total size, a multiple of 8 */
	uint16_t kind;		/* enum timer_kind */
	uint16_t flags;
	uint64_t time;		/* CLOCK_MONOTONIC */
	uint32_t pid, tid;
};

/* timer_record.flags */
enum {
	TIMER_COMPLETE = 1,	/* sample: no memory follows the copy */
	TIMER_KERNEL = 2,	/* sample: in a system call */
	TIMER_LAST = 4,		/* maps: the last part */
	TIMER_OUTSIDE = 8,	/* exec: the program cannot be followed */
	TIMER_OTHER = 16,	/* exec, spawn: another recorder or tracer has the program */
};

struct timer_sample {
	struct timer_record r;
	uint64_t weight;	/* in ns */
	uint32_t cpu;
	uint32_t stack_bytes;	/* bytes after this struct */
	uint32_t frame_bytes;	/* bytes after the stack: frames of an interpreter
				 * (runtime/python_frames.h) */
	uint32_t pad;
	uint64_t regs[TIMER_REGS];
};

/* A thread's times count from its birth, across exec, in microseconds that wrap
 * around.  Only the time between an exec and the following start is used. */
struct timer_start {
	struct timer_record r;
	uint32_t ppid;
	uint32_t cpu_us;	/* CPU time of the thread */
	char comm[TIMER_NAME_BYTES];
	uint64_t entry;		/* address where the loader began */
	uint32_t user_us, sys_us;	/* CPU time split by the kernel's ticks */
};

struct timer_fork {
	struct timer_record r;
	uint32_t ppid, ptid;
};

struct timer_text {
	struct timer_record r;
	uint32_t n;		/* bytes after this struct */
	uint32_t cpu_us;	/* for exec: CPU time of the thread */
};

#endif
