/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PRELOAD_SHARED_H
#define TALLY_PRELOAD_SHARED_H
/*
 * The memory that a recorder shares with the programs it records by timers
 * inside them: the header, the controls of the rings, the rings.
 *
 * Whoever has something to tell takes the first ring that nobody else holds
 * (ring->lock, never waited for), writes one record behind `head`, moves `head`
 * on and lets go.  Only the recorder moves `tail`.  Both count bytes for ever;
 * the place of a byte is its count modulo ring_bytes, a power of two.  Whoever
 * dies within a record leaves a ring locked, which the recorder finds, and no
 * part of a record.
 *
 * Programs may write anything anywhere in it: the recorder believes nothing.
 */
#include <stdint.h>

#define TIMER_MAGIC 0x314d4954594c4c54ull	/* "TLLYTIM1" */

/* What the environment of a program tells: NAME=PID:MEMORY:LIBRARY, the
 * recorder and its descriptors. */
#define TIMER_VARIABLE "TALLY_TIMER"

enum {
	TIMER_PAGE = 4096,
	TIMER_RINGS_MAX = 64,
	TIMER_COPY_MAX = 65528,
	TIMER_TEXT_MAX = 8192,		/* of one record */
	TIMER_REGS = 17,		/* as in unwind.h */
	TIMER_NAME_BYTES = 16,
};

enum timer_state { TIMER_WAIT, TIMER_RUN, TIMER_STOP };

struct timer_header {
	uint64_t magic;
	/* The recorder's. */
	uint32_t state;			/* enum timer_state */
	uint32_t nrings;
	uint64_t ring_bytes;
	uint64_t period_ns;		/* wanted */
	uint64_t tick_ns;		/* how often timers are looked at */
	uint32_t copy_bytes;		/* of a stack; 0: none */
	uint32_t checked_filters;	/* the recorder lives under seccomp, too */
	uint64_t alive_ns;		/* when it read the rings last */
	/* The programs'. */
	uint64_t lost;			/* samples: all rings were full */
	uint64_t lost_news;		/* other records */
	uint64_t unsampled;		/* threads that got no timer */
};

struct timer_ring {
	uint64_t lock;			/* 0, or pid << 32 | tid */
	uint64_t head, tail;
	uint64_t pad[5];
};

enum timer_kind {
	TIMER_SAMPLE = 1,	/* struct timer_sample */
	TIMER_START,		/* struct timer_start: a program begins */
	TIMER_MAPS,		/* text: lines as of /proc/PID/maps */
	TIMER_FORK,		/* struct timer_fork, by the child */
	TIMER_THREAD,		/* struct timer_fork, by the thread */
	TIMER_EXIT,		/* nothing more: the process ends */
	TIMER_NAME,		/* text: the thread's new name */
	TIMER_LOAD,		/* libraries come or go from now on */
	TIMER_EXEC,		/* text: what is to be executed now */
	TIMER_EXEC_FAILED,	/* nothing more */
	TIMER_OUTSIDE_SPAWN,	/* text: a child's program that cannot be
				 * followed */
};

struct timer_record {
	uint32_t size;		/* all of it, a multiple of 8 */
	uint16_t kind;		/* enum timer_kind */
	uint16_t flags;
	uint64_t time;		/* CLOCK_MONOTONIC */
	uint32_t pid, tid;
};

/* timer_record.flags */
enum {
	TIMER_WHOLE = 1,	/* sample: nothing is behind the copy */
	TIMER_KERNEL = 2,	/* sample: within a system call */
	TIMER_LAST = 4,		/* maps: no further part */
	TIMER_OUTSIDE = 8,	/* exec: it cannot be followed there */
};

struct timer_sample {
	struct timer_record r;
	uint64_t weight;	/* ns */
	uint32_t cpu;
	uint32_t stack_bytes;	/* behind this struct */
	uint32_t frame_bytes;	/* behind them: frames of an interpreter
				 * (runtime/python_frames.h) */
	uint32_t pad;
	uint64_t regs[TIMER_REGS];
};

/* Times of a thread count from its birth, through exec; microseconds that wrap
 * around: only what lies between an exec and the start after it is asked for. */
struct timer_start {
	struct timer_record r;
	uint32_t ppid;
	uint32_t cpu_us;	/* the thread's time */
	char comm[TIMER_NAME_BYTES];
	uint64_t entry;		/* where the loader began */
	uint32_t user_us, sys_us;	/* how the kernel's ticks part it */
};

struct timer_fork {
	struct timer_record r;
	uint32_t ppid, ptid;
};

struct timer_text {
	struct timer_record r;
	uint32_t n;		/* bytes behind this struct */
	uint32_t cpu_us;	/* exec: the thread's time */
};

#endif
