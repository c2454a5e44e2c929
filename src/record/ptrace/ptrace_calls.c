// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which system calls a stop interrupts, and how each is continued. */
#include "record/ptrace/ptrace_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "record/ptrace/ptrace_internal.h"

#ifdef __x86_64__

enum {
	STATUS_MAX = 1 << 16,
	/* The kernel decides about these when the thread is resumed.  If a handler is
	 * to run, the call ends with EINTR.  Otherwise it restarts unchanged, or
	 * continues with the remaining time through another call
	 * (include/linux/errno.h). */
	RESTART_NO_HANDLER = 514,
	RESTART_BLOCK = 516,
};

/* Returns whether the list, which ends with -1, has the number. */
static bool is_listed(const int16_t *list, int64_t nr)
{
	for (; *list >= 0; list++)
		if (*list == nr)
			return true;
	return false;
}

/* Returns whether a stop ends this system call with EINTR although no signal was
 * meant for the program.  See signal(7), "Interruption of system calls … by stop
 * signals"; sockets with a time limit behave the same.  Numbers are literal because
 * sys/syscall.h lacks those of the other machine. */
static bool is_sensitive(bool is32, int64_t nr)
{
	/* epoll_wait, epoll_pwait, epoll_pwait2, semop, semtimedop,
	 * rt_sigtimedwait, io_getevents, io_pgetevents, io_uring_enter, read,
	 * write, readv, writev, recvfrom, sendto, recvmsg, sendmsg, accept,
	 * accept4, connect, recvmmsg, sendmmsg */
	static const int16_t x64[] = { 232, 281, 441, 65, 220, 128, 208, 333,
				       426, 0, 1, 19, 20, 45, 44, 47, 46, 43,
				       288, 42, 299, 307, -1 };
	/* … and ipc, socketcall and the versions with 64-bit times */
	static const int16_t x32[] = { 256, 319, 441, 420, 177, 421, 247, 385,
				       416, 426, 3, 4, 145, 146, 371, 369, 372,
				       370, 364, 362, 337, 417, 345, 117, 102,
				       -1 };

	return is_listed(is32 ? x32 : x64, nr);
}

bool call_may_time_out(const union regs *r, bool is32)
{
	/* nanosleep, clock_nanosleep, poll, ppoll, select, pselect6, epoll_wait,
	 * epoll_pwait, epoll_pwait2, futex, rt_sigtimedwait, semtimedop,
	 * restart_syscall */
	static const int16_t x64[] = { 35, 230, 7, 271, 23, 270, 232, 281, 441,
				       202, 128, 220, 219, -1 };
	/* … and the versions with 64-bit times */
	static const int16_t x32[] = { 162, 267, 407, 168, 309, 414, 82, 142,
				       308, 413, 256, 319, 441, 240, 422, 177,
				       421, 420, 0, -1 };

	return is_listed(is32 ? x32 : x64, regs_call(r, is32));
}

/* Returns the hexadecimal number after a key in /proc/PID/status; 0: unknown. */
static uint64_t status_mask(const struct tracee *k, const char *key)
{
	struct buf b = { 0 };
	const char *p = NULL;
	uint64_t mask = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", k->pid, k->tid);
	if (!io_read_file(path, STATUS_MAX, &b, NULL))
		p = strstr(buf_cstr(&b), key);
	if (p)
		mask = strtoull(p + strlen(key), NULL, 16);
	buf_fini(&b);
	return mask;
}

/* Returns the result of the call that the thread is in; 1: not relevant. */
static int64_t result_of(const union regs *r, bool is32)
{
	int64_t nr = regs_call(r, is32);
	int64_t ret = is32 ? (int32_t)r->x32.ax : (int64_t)r->x64.rax;

	if (nr < 0 || ret >= 0)
		return 1;
	if (ret == -RESTART_BLOCK)
		return ret;
	return is_sensitive(is32, nr) ? ret : 1;
}

/* Returns whether the call may have transferred less than requested. */
static bool has_part(const union regs *r, bool is32)
{
	return !is32 && (int64_t)r->x64.orig_rax >= 0 &&
	       (int64_t)r->x64.rax > 0;
}

static void result_set(const struct tracee *k, union regs *r, bool is32,
		       int64_t result)
{
	if (is32)
		r->x32.ax = (uint32_t)result;
	else
		r->x64.rax = (uint64_t)result;
	regs_set(k, r, is32);
}

/*
 * A thread that ran a moment ago and now waits has just started to wait.  The call is
 * restarted unless there is a signal for the program.  Leaving it to
 * restart_syscall(2) could kill the program, because its own filter may forbid that
 * call.
 */
void call_asked(struct tracee *k, union regs *r, bool is32)
{
	int64_t ret = result_of(r, is32);

	if (ret == -EINTR ||
	    (ret == -RESTART_BLOCK && status_mask(k, "\nSeccomp:")))
		result_set(k, r, is32, -RESTART_NO_HANDLER);
	else if (has_part(r, is32))
		partial_io_begin(k, &r->x64);
}

void call_interrupted(struct tracee *k)
{
	union regs r;
	bool is32;

	if (regs_get(k, &r, &is32) && regs_call(&r, is32) >= 0)
		call_asked(k, &r, is32);
}

/* Returns whether the program ignores the signal, or does by default (signal(7)). */
static bool is_ignored(const struct tracee *k, int sig)
{
	uint64_t bit = 1ull << (sig - 1);

	if (sig == SIGCHLD || sig == SIGCONT || sig == SIGURG ||
	    sig == SIGWINCH)
		return !(status_mask(k, "\nSigCgt:") & bit);
	return status_mask(k, "\nSigIgn:") & bit;
}

/*
 * Traced threads also receive signals that the program ignores.  Untraced, these
 * would not have ended the call.  Signals that stop the process, and those with a
 * handler, do end it; the kernel handles them.
 */
void call_signalled(struct tracee *k, int sig)
{
	union regs r;
	int64_t ret;
	bool is32;

	if (k->partial) {
		if (!is_ignored(k, sig))
			partial_io_cancel(k);
		return;
	}
	if (!regs_get(k, &r, &is32))
		return;
	ret = result_of(&r, is32);
	if (ret == -EINTR) {
		if (!signal_stops(sig) || is_ignored(k, sig))
			result_set(k, &r, is32, -RESTART_NO_HANDLER);
	} else if (has_part(&r, is32) && is_ignored(k, sig)) {
		partial_io_begin(k, &r.x64);
	}
}

/* Without a call number, no call can restart. */
void call_stopped(struct tracee *k)
{
	union regs r;
	int64_t ret;
	bool is32;

	partial_io_cancel(k);
	if (!regs_get(k, &r, &is32))
		return;
	ret = result_of(&r, is32);
	if (ret != -EINTR && ret != -RESTART_NO_HANDLER)
		return;
	if (is32)
		r.x32.orig_ax = (uint32_t)-1;
	else
		r.x64.orig_rax = (uint64_t)-1;
	result_set(k, &r, is32, -EINTR);
}

#endif
