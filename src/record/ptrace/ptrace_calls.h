/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PTRACE_PTRACE_CALLS_H
#define TALLY_RECORD_PTRACE_PTRACE_CALLS_H
/*
 * System calls that a stop broke into.  Linux ends what waits or transfers when
 * a thread is to stop; most calls begin anew by themselves, the others do here:
 * the program gets what it would have got alone.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

struct tracer;
struct tracee;

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

/* What a stop left to be transferred; x86-64 only. */
struct call_rest {
	struct user_regs_struct before;	/* behind the call that was cut */
	uint64_t done;			/* bytes of it, now */
	uint64_t at, n;			/* a buffer … */
	uint64_t vector, parts;		/* … or number of struct iovec */
	uint64_t piece;			/* bytes of it that were asked for */
	int number;			/* the call for the rest */
	unsigned int flags;		/* … of messages */
	bool inside;			/* it has begun */
};

/* False when the thread is gone. */
bool regs_get(const struct tracee *k, union regs *r, bool *is32);
void regs_set(const struct tracee *k, const union regs *r, bool is32);

/* It stands still because we asked it to, or because a signal has come. */
void call_asked(struct tracee *k, union regs *r, bool is32);
void call_signalled(struct tracee *k, int sig);
/* As call_asked, without a sample. */
void call_interrupted(struct tracee *k);
/* The whole process stops: that ends its calls, as it does without us. */
void call_stopped(struct tracee *k);

/* ptrace_partial_io.c */
/* The call has transferred a part: when the thread goes on, it continues. */
void rest_begin(struct tracee *k, const struct user_regs_struct *r);
/* The call for the rest begins or has ended. */
void rest_step(struct tracee *k);
/* Something else comes in between: the call has ended with what it had. */
void rest_cancel(struct tracee *k);

#else

struct call_rest { char none; };
static inline void call_signalled(struct tracee *k, int sig)
{
	(void)k;
	(void)sig;
}
static inline void call_interrupted(struct tracee *k) { (void)k; }
static inline void call_stopped(struct tracee *k) { (void)k; }
static inline void rest_step(struct tracee *k) { (void)k; }
static inline void rest_cancel(struct tracee *k) { (void)k; }

#endif

/* Nobody may be left with half a call: waits for those, before all are let
 * go. */
void rests_end(struct tracer *t);

#endif
