/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_CALLS_H
#define TALLY_RECORD_PTRACE_PTRACE_CALLS_H
/*
 * System calls interrupted by a stop.  Linux ends waits and transfers when a thread
 * is to stop.  Most calls restart by themselves; this part restarts the others, so
 * the program sees the results it would see without tally.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

struct tracee;

static inline bool signal_stops(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

#ifdef __x86_64__

/* struct user_regs_struct of an i386 kernel. */
struct regs32 {
	uint32_t bx, cx, dx, si, di, bp, ax, ds, es, fs, gs, orig_ax, ip, cs,
		 flags, sp, ss;
};

union regs {
	struct user_regs_struct x64;
	struct regs32 x32;
};

/* The part of a transfer that a stop left undone; x86-64 only. */
struct partial_io {
	struct user_regs_struct before;	/* registers after the interrupted call */
	uint64_t done;			/* bytes transferred so far */
	uint64_t at, n;			/* address and size of a buffer */
	uint64_t vector, parts;		/* address and number of struct iovec instead */
	uint64_t piece;			/* bytes requested by the current call */
	int number;			/* number of the call for the rest */
	unsigned int flags;		/* flags of a message call */
	bool inside;			/* the call for the rest has begun */
};

/* ptrace_threads.c */
/* Reads the registers.  Returns false if the thread is gone. */
bool regs_get(const struct tracee *k, union regs *r, bool *is32);
void regs_set(const struct tracee *k, const union regs *r, bool is32);

/* Returns the number of the system call that the thread is in; negative after an
 * interrupt or fault. */
int64_t regs_call(const union regs *r, bool is32);

/* ptrace_calls.c */
/* Returns whether the thread is in a system call that a timer may end. */
bool call_may_time_out(const union regs *r, bool is32);

/* Handle a thread stopped at tally's request, or because a signal has arrived. */
void call_asked(struct tracee *k, union regs *r, bool is32);
void call_signalled(struct tracee *k, int sig);
/* Handles a stop like call_asked, but without a sample. */
void call_interrupted(struct tracee *k);
/* Handles a stop of the whole process, which ends its calls with or without tally. */
void call_stopped(struct tracee *k);

/* ptrace_partial_io.c */
/* Starts completing a call that transferred only a part.  It continues when the
 * thread is resumed. */
void partial_io_begin(struct tracee *k, const struct user_regs_struct *r);
/* Handles the entry or exit of the call for the rest. */
void partial_io_step(struct tracee *k);
/* Ends the call with the bytes it had transferred, because something else
 * intervened. */
void partial_io_cancel(struct tracee *k);

#else

struct partial_io { char none; };
static inline void call_signalled(struct tracee *k, int sig)
{
	(void)k;
	(void)sig;
}
static inline void call_interrupted(struct tracee *k) { (void)k; }
static inline void call_stopped(struct tracee *k) { (void)k; }
static inline void partial_io_step(struct tracee *k) { (void)k; }
static inline void partial_io_cancel(struct tracee *k) { (void)k; }

#endif

#endif
