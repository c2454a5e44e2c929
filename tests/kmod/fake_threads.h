/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_KMOD_FAKE_THREADS_H
#define TALLY_TESTS_KMOD_FAKE_THREADS_H
/*
 * What the module's tasks.c needs of the kernel but threads themselves: memory that may be
 * gone, RCU, and tracepoints that may be absent.  Included once in a program.
 */
#include "fake_kernel.h"

unsigned int fake_cpu, fake_rcu, fake_irqs_off, fake_locks;
struct task_struct *fake_current;
static long blocks;
static bool no_memory, handles;		/* within a tracepoint */
static void *later[8];			/* freed when no reader is left */
static size_t nlater;

void fake_check(bool fine, const char *what)
{
	if (!fine)
		fail_msg("%s", what);
}
void *fake_alloc(size_t n, gfp_t gfp)
{
	fake_check(gfp & __GFP_ACCOUNT, "memory is not charged");
	fake_check(!(gfp & GFP_KERNEL) || !(handles || fake_rcu), "a reader sleeps");
	blocks += !no_memory;
	return no_memory ? NULL : calloc(1, n);
}
void fake_free(void *p)
{
	blocks -= p != NULL;
	free(p);
}
void fake_free_later(void *p)
{
	assert_true(nlater < ARRAY_SIZE(later));
	later[nlater++] = p;
}
void rcu_read_unlock(void)
{
	fake_check(fake_rcu--, "a reader leaves twice");
	while (!fake_rcu && nlater)
		fake_free(later[--nlater]);
}

/* The kernel's tracepoints, and who is called. */
enum { FORK, EXEC, FREE, SWITCH, WAKING, OTHER, POINTS };
static struct point {
	struct tracepoint tp;
	void *fn;
	bool refuses, absent;		/* cannot be used; is not there */
} points[POINTS] = {
	{ .tp.name = "sched_process_fork" }, { .tp.name = "sched_process_exec" },
	{ .tp.name = "sched_process_free" }, { .tp.name = "sched_switch" },
	{ .tp.name = "sched_waking" }, { .tp.name = "sched_wakeup" },
};

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *data),
				void *data)
{
	for (size_t i = 0; i < POINTS; i++)
		if (!points[i].absent)
			fn(&points[i].tp, data);
}
int tracepoint_probe_register(struct tracepoint *tp, void *fn, void *data)
{
	struct point *p = container_of(tp, struct point, tp);

	fake_check(!p->fn && fn && !data, "a tracepoint is used twice");
	p->fn = p->refuses ? NULL : fn;
	return p->refuses ? -ENOMEM : 0;
}
int tracepoint_probe_unregister(struct tracepoint *tp, void *fn, void *data)
{
	struct point *p = container_of(tp, struct point, tp);

	fake_check(p->fn == fn && fn && !data, "it is left, and was not used");
	p->fn = NULL;
	return 0;
}
/* Which tracepoints are used, a bit each. */
static unsigned int used(void)
{
	unsigned int mask = 0;

	for (unsigned int i = 0; i < POINTS; i++)
		mask |= (unsigned int)(points[i].fn != NULL) << i;
	return mask;
}

#endif
