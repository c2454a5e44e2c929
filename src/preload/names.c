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
	    *next_syscall;

static void record_name(const char *name)
{
	size_t n = text_size(name);

	if (preload.active)
		preload_record_text(TIMER_NAME, 0, name, n < TIMER_NAME_BYTES
				    ? n : TIMER_NAME_BYTES - 1);
}

/* From now on, make no system call beyond the program's own. */
static void filter_comes(void)
{
	preload.careful = true;
}

EXPORT int prctl(int what, ...)
{
	int (*next)(int, unsigned long, unsigned long, unsigned long,
		    unsigned long) = next_function(&next_prctl, "prctl");
	unsigned long a[4];
	va_list ap;
	bool was;
	int r;

	va_start(ap, what);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	was = preload.careful;
	if (what == PR_SET_SECCOMP)
		filter_comes();
	r = next(what, a[0], a[1], a[2], a[3]);
	if (r < 0 && what == PR_SET_SECCOMP)
		preload.careful = was;
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

	switch (nr) {
	case SYS_fork:
		return true;
	case SYS_clone:
		return !(a[0] & (CLONE_VM | CLONE_THREAD)) && !a[1];
	case SYS_clone3:
		return args && a[1] >= 48 && !args[5] &&
		       !(args[0] & (CLONE_VM | CLONE_THREAD));
	}
	return false;
}

EXPORT long syscall(long nr, ...)
{
	long (*next)(long, long, long, long, long, long, long) =
		next_function(&next_syscall, "syscall");
	bool was = preload.careful, filters;
	long a[6], r;
	va_list ap;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	filters = (nr == SYS_seccomp && a[0] <= SECCOMP_SET_MODE_FILTER) ||
		  (nr == SYS_prctl && a[0] == PR_SET_SECCOMP);
	if (filters)
		filter_comes();
	if (is_fork(nr, a)) {
		struct parent p = parent_now();

		r = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (!r)
			preload_child(p.pid, p.tid, p.thread);
		return r;
	}
	r = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r < 0 && filters)
		preload.careful = was;
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
