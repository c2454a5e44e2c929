/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_INTERNAL_H
#define TALLY_RECORD_PTRACE_PTRACE_INTERNAL_H
/*
 * The tracing process: see ptrace_source.h.  It has one thread, because ptrace is per
 * thread, and waits for three things: the next tick, a stop of a thread (SIGCHLD),
 * and the recorder.
 *
 * In each period, runnable threads are interrupted one after the other, as many as
 * there are CPUs at most.  If more are runnable, each has the same chance.  Threads
 * that only waited for a CPU are not sampled.  A thread's first sample represents one
 * period, and each further one the CPU time since the one before.  The time left at a
 * thread's end thus compensates for the excess of its first sample, and short threads
 * get their share.
 */
#include <sched.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "record/source/maps_watch.h"
#include "record/ptrace/ptrace_ring.h"
#include "record/collect/python_live.h"

struct ptrace_options {
	const uint32_t *tids;
	size_t ntids;
	bool inherit;
	bool on_exec;		/* sample from the first exec on */
	bool no_user, no_kernel;
	uint32_t copy_bytes;	/* maximum size of a stack's copy; 0: addresses only */
	uint64_t period_ns;
};

/* Values of PROC/PID/task/TID/schedstat up to the last stop; all 0: unknown. */
struct tracee_time {
	uint64_t run, wait;	/* time on a CPU, and waiting for one; nanoseconds */
	uint64_t turns;		/* number of times it got one */
};

struct tracee {
	uint32_t pid, tid;
	int running_fd;		/* descriptor of PROC/PID/task/TID/syscall, or stat */
	int time_fd;		/* descriptor of its schedstat */
	uint32_t idle;		/* ticks since it was last seen to run */
	bool first;		/* has no sample yet, or runs a new program */
	bool asked;		/* was asked to stop for a sample */
	uint8_t watched;	/* number of further system calls at which it stops,
				 * or WATCHED_ALWAYS: ptrace_release.c */
	bool releasing;		/* to be released at the next suitable stop */
	bool python;		/* its program may run Python */
	uint32_t waits_for;	/* process whose release it awaits, stopped at a
				 * system call; 0: none */
	struct partial_io *partial;	/* rest of an incomplete call, or NULL */
	struct tracee_time time;	/* times at the last sample, or at its start */
	struct tracee_time seen;	/* times when it was last seen to run */
	/* Time of the tick, time when the thread was asked to stop, and tally's own
	 * wait for CPUs up to then. */
	uint64_t tick_ns, asked_ns, asked_wait;
	/* Time since which it is stopped, and length of its stops since the last
	 * sample. */
	uint64_t stopped_ns, halted_ns;
	uint16_t remote, remote_calls;	/* samples taken from another CPU; those of
					 * them in system calls */
	uint16_t same_cpu, same_cpu_last; /* samples still to be taken from the thread's
					 * CPU; last such number */
	uint64_t name_ns;	/* time of the next check of its name */
	char comm[16];
};

struct tracer {
	const struct ptrace_options *opts;
	struct ptrace_ring *ring;
	struct maps_watch watch;
	int wake_fd, control_fd, signal_fd;
	VEC(struct tracee) v;
	VEC(uint32_t) chosen;	/* threads to sample in this period */
	size_t turn;		/* index of the next of them */
	/* Remaining time that samples may represent. */
	uint64_t credit_ns;
	double crowd;		/* number of running threads that each chosen one
				 * represents */
	struct u64map by_tid;
	struct u64map images;	/* ptrace_image.c: properties of files */
	struct python_live python;
	struct u64map not_python;	/* files known to be no interpreter */
	unsigned int waiting;	/* number of tracees that wait for another */
	uint64_t random;
	uint64_t tick, next_ns;
	int time_fd;		/* descriptor of tally's own schedstat */
	unsigned int processors;
	unsigned int asked;	/* number of tracees asked to stop */
	uint32_t last;		/* thread last handled since the place was chosen, or
				 * 0 */
	uint32_t same_cpu, other_cpu; /* thread on the tracer's CPU; thread on another;
				 * or 0 */
	int processor;		/* CPU that the tracer is bound to; -1: any */
	cpu_set_t anywhere;	/* CPUs it may use */
	unsigned int late, away;	/* counters of ptrace_cpu.c */
	/* Sample of a thread that already runs again, until it is in the ring. */
	struct record held;
	uint8_t *stack;		/* its stack copy: opts->copy_bytes */
	bool holds;
	bool sampling;
	bool no_vm, no_state;	/* calls and files that are refused here */
	bool failed;		/* out of memory; give up */
	struct error err;
};

/* Seizes the threads and traces until all have ended or the recorder asks it to stop.
 * Writes 1 byte to control_fd when seizing is done or has failed
 * (ring->shared->error).  Runs in a process of its own.  Returns 0, or a negative
 * number if it gave up. */
int tracer_main(const struct ptrace_options *opts, struct ptrace_ring *ring,
		int wake_fd, int control_fd);

/* ptrace_threads.c */
/* Returns the tracee or NULL.  Valid until the next tracee is added. */
struct tracee *tracee_find(struct tracer *t, uint32_t tid);
/* Adds a tracee and reads its data from /proc.  Returns NULL when out of memory. */
struct tracee *tracee_add(struct tracer *t, uint32_t tid);
void tracee_remove(struct tracer *t, struct tracee *k);
void tracees_fini(struct tracer *t);
/* Returns the thread's number in its own namespace. */
uint32_t tracee_own_number(const struct tracee *k);
/* Returns whether it is a zombie. */
bool tracee_has_ended(const struct tracee *k);
/* Returns whether the thread runs, or would if a CPU were free. */
bool tracee_runs(struct tracer *t, struct tracee *k);
/* Returns the CPU where it last ran, or -1. */
int tracee_processor(const struct tracee *k);
struct tracee_time tracee_time(const struct tracee *k);
/* Resumes the thread, up to its next system call if it is watched. */
void tracee_go_on(const struct tracee *k, int sig);
/* Returns the tracer's own times on and waiting for CPUs. */
struct tracee_time tracer_time(const struct tracer *t);

/* ptrace_cpu.c */
void tracer_move_init(struct tracer *t);
/* Moves the tracer to where it can stop this thread: to its CPU (tracer.same_cpu is set
 * on success) or to another one (tracer.other_cpu). */
void tracer_move(struct tracer *t, const struct tracee *k);
/* Decides, after a sample, from where the next one is taken. */
void tracer_move_next(struct tracee *k, bool in_kernel);

/* ptrace_stops.c */
/* Handles what waitpid reported about a thread. */
void tracer_stop(struct tracer *t, uint32_t tid, int status);

/* ptrace_release.c */
enum { WATCHED_START = 200, WATCHED_ALWAYS = UINT8_MAX };
/* Handles a watched thread stopped at a system call.  Returns true if the call needs
 * one of tally's tracees and waits until that is released, or if the thread is no
 * longer a tracee. */
bool tracer_watch(struct tracer *t, struct tracee *k);
/* Returns whether the process is about to be released.  Its new threads are, too. */
bool tracee_is_releasing(const struct tracer *t, uint32_t pid);
/* Releases a thread that is stopped where this is possible. */
void tracer_release(struct tracer *t, struct tracee *k);
/* Removes a thread that has ended, or is no longer traced. */
void tracer_forget(struct tracer *t, struct tracee *k);
/* Checks for threads that ended without notice while others wait for them. */
void tracer_check_releases(struct tracer *t);

/* ptrace_image.c */
/* Returns what the program of this process may do: trace others or itself, run
 * Python. */
enum { TRACER_TRACES = 1, TRACER_PYTHON = 2 };
unsigned int tracer_image(struct tracer *t, uint32_t pid);
/* Returns a map's entry for a regular file, U64MAP_NONE if it is new.  Returns NULL
 * for other files, or when out of memory. */
uint32_t *tracer_image_known(struct u64map *images, int fd, struct stat *st);

/* ptrace_python.c */
/* Handles a mapping that may be an interpreter's. */
void tracer_python_map(struct tracer *t, const struct record *r);
/* Sets s->frames of a stopped thread if it runs Python. */
void tracer_python(struct tracer *t, const struct tracee *k,
		   struct record_sample *s);

/* ptrace_emit.c */
/* Puts a record into the ring and waits for room.  This is a record_cb. */
int tracer_emit(void *ctx, const struct record *r, struct error *err);
/* The same for a record of the beginning or end of a thread.  `parent`: that of a new
 * process. */
void tracer_emit_task(struct tracer *t, enum record_kind kind, const struct tracee *k,
		      uint32_t parent);

/* ptrace_sample.c */
/* Begins to take samples, if it has not begun yet. */
void tracer_begin(struct tracer *t);
/* Samples a thread that has stopped on request.  Work that can wait is done by
 * tracer_sampled, when the thread runs again. */
void tracer_sample(struct tracer *t, struct tracee *k);
void tracer_sampled(struct tracer *t, struct tracee *k);

/* ptrace_refused.c: why a process may not be traced, and the smallest fix. */
/* Returns kernel.yama.ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), or -1 if
 * there is none. */
int ptrace_scope(void);
/* Sets an error for PTRACE_SEIZE of `tid` that failed with errnum.  `ours`: `tid` is
 * a child of the recorder. */
int ptrace_refused(int errnum, pid_t tid, bool ours, struct error *err);

#endif
