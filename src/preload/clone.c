// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles threads and processes made by the C library's clone(2). */
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>

#include "preload/preload.h"

/* Start data of a child.  A child that copies memory has its own copy. */
struct begun {
	int (*fn)(void *);
	void *arg;
	struct parent parent;
};

static int thread_begin(void *arg)
{
	struct slot *s = arg;
	int (*fn)(void *) = (int (*)(void *))(uintptr_t)s->fn;

	arg = s->arg;
	thread_arm(s, (uintptr_t)__builtin_frame_address(0));
	return fn(arg);
}

static int child_begin(void *arg)
{
	const struct begun *b = arg;
	int (*fn)(void *) = b->fn;

	preload_child(b->parent.pid, b->parent.tid, b->parent.thread);
	return fn(b->arg);
}

static struct slot *thread_slot(int (*fn)(void *), void *arg)
{
	struct slot *s = preload.careful ? NULL : slot_take();

	if (!s) {
		thread_unsampled();
		return NULL;
	}
	s->fn = (void *(*)(void *))(uintptr_t)fn;
	s->arg = arg;
	s->size = 0;
	return s;
}

static void *next_clone;

EXPORT int clone(int (*fn)(void *), void *stack, int flags, void *arg, ...)
{
	int (*next)(int (*)(void *), void *, int, void *, pid_t *, void *,
		    pid_t *) = next_function(&next_clone, "clone");
	struct begun b = { fn, arg, { 0, 0, 0 } };
	struct slot *s = NULL;
	void *more[3];
	va_list ap;
	int r;

	va_start(ap, arg);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(ap, void *);
	va_end(ap);
	if (preload.active && fn && stack && flags & CLONE_THREAD) {
		s = thread_slot(fn, arg);
		if (s) {
			fn = thread_begin;
			arg = s;
		}
	} else if (preload.active && fn && stack && !(flags & CLONE_VM)) {
		b.parent = parent_now();
		fn = child_begin;
		arg = &b;
	}
	r = next(fn, stack, flags, arg, more[0], more[1], more[2]);
	if (r < 0 && s)
		slot_drop(s);
	return r;
}
