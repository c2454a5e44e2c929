// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports other events to the recorder: names of threads, libraries that are loaded
 * and unloaded, filters that could kill the program.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/preload.h"

static void *next_prctl, *next_setname, *next_dlopen, *next_dlclose,
	    *next_syscall, *next_sigaltstack;

/* Names are cut, and need not end, after TIMER_NAME_BYTES - 1 bytes. */
static void record_name(const char *name)
{
	size_t n = 0;

	while (n < TIMER_NAME_BYTES - 1 && name[n])
		n++;
	if (preload.active)
		preload_record_text(TIMER_NAME, 0, name, n);
}

/* A filter that the program is about to install. */
struct filter {
	bool comes, strict;
	bool all_threads;
	bool positive_fails;	/* a result above 0 is a failure */
	const void *program;	/* struct sock_fprog */
	bool was_careful, could_stop, stopped;
};

/* prctl(2) and seccomp(2) */
static struct filter filter_of(long nr, long a, long b, long c)
{
	struct filter f = { .comes = false };

	if (nr == SYS_prctl && a == PR_SET_SECCOMP) {
		f.comes = true;
		f.strict = b == SECCOMP_MODE_STRICT;
		f.program = (const void *)c;
	} else if (nr == SYS_seccomp && a == SECCOMP_SET_MODE_STRICT) {
		f.comes = f.strict = true;
	} else if (nr == SYS_seccomp && a == SECCOMP_SET_MODE_FILTER) {
		f.comes = true;
		f.all_threads = b & SECCOMP_FILTER_FLAG_TSYNC;
		f.positive_fails = f.all_threads &&
				   !(b & SECCOMP_FILTER_FLAG_NEW_LISTENER);
		f.program = (const void *)c;
	}
	return f;
}

/* From now on, makes no system call beyond those that the filter permits.  Threads under
 * a filter that does not let the handler return are sampled no more. */
static void filter_before(struct filter *f)
{
	struct filter_permits p = { false, true, false };	/* strict mode */

	if (!f->comes || !preload.active)
		return;
	if (!f->strict)
		p = filter_look(f->program);
	f->was_careful = preload.careful;
	f->could_stop = !preload.cannot_stop;
	if (!p.handler && f->could_stop) {
		timers_change(f->all_threads, timer_stop);
		f->stopped = true;
	}
	preload.careful |= !p.all;
	preload.cannot_stop |= !p.stop;
}

static void filter_after(const struct filter *f, long r)
{
	if (!f->comes || !preload.active)
		return;
	if (r >= 0 && !(f->positive_fails && r > 0)) {
		if (f->stopped)
			thread_unsampled();
		return;
	}
	preload.careful = f->was_careful;
	preload.cannot_stop = !f->could_stop;
	if (f->stopped)
		timers_change(f->all_threads, timer_start);
}

EXPORT int prctl(int what, ...)
{
	int (*next)(int, unsigned long, unsigned long, unsigned long,
		    unsigned long) = next_function(&next_prctl, "prctl");
	unsigned long a[4];
	struct filter f;
	va_list ap;
	int r;

	va_start(ap, what);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	f = filter_of(SYS_prctl, what, (long)a[0], (long)a[1]);
	filter_before(&f);
	r = next(what, a[0], a[1], a[2], a[3]);
	filter_after(&f, r);
	if (!r && what == PR_SET_NAME)
		record_name((const char *)a[0]);
	return r;
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int (*next)(pthread_t, const char *) =
		next_function(&next_setname, "pthread_setname_np");
	static void *kept;
	pthread_t (*self)(void) = next_function(&kept, "pthread_self");
	int r = next(thread, name);

	if (!r && self && self() == thread)
		record_name(name);
	return r;
}

/* Returns whether the call creates a child with memory of its own that continues
 * right here.  The flags of clone3(2) come first in its arguments; the stack is the
 * sixth. */
static bool is_fork(long nr, const long *a)
{
	const uint64_t *args = (const uint64_t *)a[0];
	struct mapped_page m = { 0, false };

	switch (nr) {
	case SYS_fork:
		return true;
	case SYS_clone:
		return !(a[0] & (CLONE_VM | CLONE_THREAD)) && !a[1];
	case SYS_clone3:
		return args && a[1] >= 48 && memory_is_mapped(&m, args, 48) &&
		       !args[5] &&
		       !(args[0] & (CLONE_VM | CLONE_THREAD));
	}
	return false;
}

EXPORT long syscall(long nr, ...)
{
	long (*next)(long, long, long, long, long, long, long) =
		next_function(&next_syscall, "syscall");
	struct filter f;
	long a[6], r;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_rt_sigaction && a[0] == TIMER_SIGNAL && a[3] == 8 &&
	    preload.active &&
	    sample_action((const void *)a[1], (void *)a[2]))
		return 0;
	if (is_fork(nr, a)) {
		struct parent p = parent_now();

		r = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (!r)
			preload_child(p.pid, p.tid, p.thread);
		return r;
	}
	f = filter_of(nr, a[0], a[1], a[2]);
	filter_before(&f);
	r = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	filter_after(&f, r);
	return r;
}

/* Samples are taken on the thread's alternate stack, which must have room for them. */
EXPORT int sigaltstack(const stack_t *new, stack_t *old)
{
	int (*next)(const stack_t *, stack_t *) =
		next_function(&next_sigaltstack, "sigaltstack");
	bool watch = new && preload.active && !preload.careful;
	struct slot *s = watch ? slot_own() : NULL;
	int r;

	if (s)		/* whatever the new one is like */
		timer_stop(s);
	r = next(new, old);
	if (s && slot_has_room(s))
		timer_start(s);
	return r;
}

static void loads(void)
{
	if (!preload.active)
		return;
	preload.loaded = true;
	frames_load();
	preload_record_kind(TIMER_LOAD);
}

/* The search for a library depends on the caller.  These functions must be off the
 * stack when the next ones run, so they end in tail calls. */
EXPORT void *dlopen(const char *file, int mode)
{
	void *(*next)(const char *, int) = next_function(&next_dlopen, "dlopen");

	if (file)
		loads();
	return next(file, mode);
}

EXPORT int dlclose(void *handle)
{
	int (*next)(void *) = next_function(&next_dlclose, "dlclose");

	loads();
	return next(handle);
}

static void ends(void)
{
	if (!preload.active || preload.careful ||
	    sys_pid() != preload.pid)
		return;
	if (preload.loaded)
		preload_record_maps();
	preload_record_kind(TIMER_EXIT);
}

EXPORT void _exit(int status)
{
	ends();
	for (;;)
		sys1(SYS_exit_group, status);
}

EXPORT void _Exit(int status)
{
	_exit(status);
}
