/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_INTERNAL_H
#define TALLY_RECORD_PTRACE_PTRACE_INTERNAL_H
/*
 * The process that traces: see ptrace_source.h.  It has one thread, as ptrace
 * knows threads, and waits for three things: the next tick, a stop of a thread
 * (SIGCHLD), and the recorder.
 *
 * In each period threads that could run are interrupted, one after the other, no
 * more than there are processors: of more, each has the same chance.  Those that
 * only waited for a processor are not sampled.  A thread's first sample stands
 * for one period, each further one for the CPU time since the one before; so what
 * is left at the end of a thread makes up for what its first sample had too much,
 * and short threads get their share.
 */
#include <sched.h>
#include <sys/stat.h>

#include "record/source/maps_watch.h"
#include "record/ptrace/ptrace_ring.h"
#include "record/collect/python_live.h"

struct ptrace_options {
	const uint32_t *tids;
	size_t ntids;
	bool inherit;
	bool on_exec;		/* samples from the first exec on */
	bool no_user, no_kernel;
	uint32_t copy_bytes;	/* 0: addresses only */
	uint64_t period_ns;
};

/* PROC/PID/task/TID/schedstat, up to the last stop; all 0: not known. */
struct tracee_time {
	uint64_t run, wait;	/* on a processor, and for one; nanoseconds */
	uint64_t turns;		/* how often it has got one */
};

struct tracee {
	uint32_t pid, tid;
	int running_fd;		/* PROC/PID/task/TID/syscall, or stat */
	int time_fd;		/* … schedstat */
	uint32_t idle;		/* ticks since it was seen to run */
	bool first;		/* no sample yet, or a new program */
	bool asked;		/* to stop for a sample */
	uint8_t watched;	/* stops at so many system calls yet, or
				 * WATCHED_ALWAYS: ptrace_leave.c */
	bool leaving;		/* to be let go, at the next stop that can be */
	bool python;		/* its program may run Python */
	uint32_t waits_for;	/* stands at a system call until this process
				 * is let go; 0: no */
	struct call_rest *rest;	/* of a call that is not done; or NULL */
	struct tracee_time time;	/* at the last sample, or its begin … */
	struct tracee_time seen;	/* … and when it was seen to run */
	/* When the tick came, when it was told to stop, and how long we had
	 * waited for processors until then. */
	uint64_t tick_ns, told_ns, told_wait;
	/* Since when it stands still, and how long it did since its last sample. */
	uint64_t stopped_ns, stood_ns;
	uint16_t far, far_calls;	/* samples from afar; those in calls */
	uint16_t beside, beside_last;	/* samples to take from beside it */
	uint64_t name_ns;	/* when to look at its name again */
	char comm[16];
};

struct tracer {
	const struct ptrace_options *wish;
	struct ptrace_ring *ring;
	struct maps_watch watch;
	int wake_fd, control_fd, signal_fd;
	VEC(struct tracee) v;
	VEC(uint32_t) chosen;	/* threads to ask in this period … */
	size_t turn;		/* … the next of them */
	/* What samples may still stand for, and what is beyond that. */
	uint64_t credit_ns;
	double crowd;		/* how many of those that run one stands for */
	struct u64map by_tid;
	struct u64map images;	/* ptrace_image.c: what is known of files */
	struct python_live python;
	struct u64map not_python;	/* files */
	unsigned int waiting;	/* tracees that wait for another */
	uint64_t random;
	uint64_t tick, next_ns;
	int time_fd;		/* our own schedstat */
	unsigned int processors;
	unsigned int asked;	/* tracees that shall stop */
	uint32_t last;		/* looked at since we chose our place, or 0 */
	uint32_t beside, apart;	/* it was where we are; it was not; or 0 */
	int processor;		/* that we stay on; -1: any */
	cpu_set_t anywhere;	/* … in here */
	unsigned int late, away;	/* ptrace_place.c */
	/* A sample whose thread runs again, until it is in the ring. */
	struct record held;
	uint8_t *stack;		/* … its copy: wish->copy_bytes */
	bool holds;
	bool sampling;
	bool no_vm, no_state;	/* calls and files that are refused here */
	bool failed;		/* out of memory: give up */
	struct error err;
};

/* Seizes the threads, writes 1 byte to control_fd when that is done or has
 * failed (ring->shared->error), and traces until all have ended or the recorder
 * does not want it any more.  Runs in a process of its own. */
void tracer_main(const struct ptrace_options *wish, struct ptrace_ring *ring,
		 int wake_fd, int control_fd);

uint64_t tracer_clock(void);

/* ptrace_threads.c */
/* Valid until the next tracee is added; NULL: none. */
struct tracee *tracee_find(struct tracer *t, uint32_t tid);
/* A new one, of which /proc tells the rest; NULL: out of memory. */
struct tracee *tracee_add(struct tracer *t, uint32_t tid);
void tracee_remove(struct tracer *t, struct tracee *k);
void tracees_fini(struct tracer *t);
/* A process's parent; 0: not known. */
uint32_t tracee_parent(uint32_t pid);
/* Its number in its own namespace. */
uint32_t tracee_own_number(const struct tracee *k);
/* It is a zombie. */
bool tracee_has_ended(const struct tracee *k);
/* Does it run, or could it if there were a processor? */
bool tracee_runs(struct tracer *t, struct tracee *k);
/* Where it ran last, or -1. */
int tracee_processor(const struct tracee *k);
struct tracee_time tracee_time(const struct tracee *k);
/* Our own, on and for processors. */
struct tracee_time tracer_time(const struct tracer *t);

/* ptrace_place.c */
void tracer_place_init(struct tracer *t);
/* Goes where it can stop this thread: to its processor (tracer.beside is set, if
 * that succeeds) or to another one (tracer.apart). */
void tracer_place(struct tracer *t, const struct tracee *k);
/* A sample was taken: from where shall the next be? */
void tracer_place_next(struct tracee *k, bool in_kernel);

/* ptrace_stops.c */
/* What waitpid said of a thread. */
void tracer_stop(struct tracer *t, uint32_t tid, int status);
/* record_cb: puts it into the ring, and waits for room. */
int tracer_emit(void *ctx, const struct record *r, struct error *err);

/* Lets it go on, to its next system call where it is watched. */
void tracee_go_on(const struct tracee *k, int sig);

/* ptrace_leave.c */
enum { WATCHED_START = 200, WATCHED_ALWAYS = UINT8_MAX };
/* A watched thread stands at a system call.  True: the call needs a process that
 * we trace, and waits until that is let go; or the thread is no tracee any
 * more. */
bool tracer_watch(struct tracer *t, struct tracee *k);
/* A new thread of a process that is about to be let go belongs to it. */
bool tracee_is_leaving(const struct tracer *t, uint32_t pid);
/* It stands where it can be let go. */
void tracer_let_go(struct tracer *t, struct tracee *k, int sig);
/* A thread of this process is no longer traced: returns whether a tracer waits for
 * it. */
void tracer_left(struct tracer *t, uint32_t pid);
/* Threads may end, while others wait for them, without a word. */
void tracer_look_at_leaving(struct tracer *t);

/* ptrace_image.c */
/* What the program of this process may do: trace others or itself, run Python. */
enum { TRACER_TRACES = 1, TRACER_PYTHON = 2 };
unsigned int tracer_image(struct tracer *t, uint32_t pid);
/* What a map holds of a plain file: U64MAP_NONE if it is new.  NULL: it is no plain file, or
 * out of memory. */
uint32_t *tracer_image_known(struct u64map *images, int fd, struct stat *st);

/* ptrace_python.c */
/* A mapping may be that of an interpreter. */
void tracer_python_map(struct tracer *t, const struct record *r);
/* Sets s->frames of a thread that stands still, if it runs Python. */
void tracer_python(struct tracer *t, const struct tracee *k,
		   struct record_sample *s);

/* ptrace_sample.c */
/* A thread stands still, as it was asked to.  What can wait is done by
 * tracer_sampled when it runs again. */
void tracer_sample(struct tracer *t, struct tracee *k);
void tracer_sampled(struct tracer *t, struct tracee *k);

#endif
