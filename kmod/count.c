// SPDX-License-Identifier: GPL-2.0
/*
 * Adds up equal samples, so that they do not need a record each.
 *
 * A CPU has two tables.  Its handlers add to one, and the program takes the other: COUNTS
 * swaps them, on the CPU itself with interrupts off.  If COUNTS has interrupted a handler
 * (of a software event), it tries again later.  An NMI that interrupts the swap uses one
 * of the two tables until it ends.  Nothing else uses the table that was put aside, so it
 * is copied without a lock that handlers would need.
 */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>

#include "count_core.h"
#include "tally.h"

#define TRIES	1000u	/* for a handler, which takes some microseconds */

size_t counts_bytes(const struct session *s)
{
	return s->setup.flags & TALLY_SETUP_COUNT
	       ? 2 * sizeof(struct count_table) : 0;
}

int counts_new(struct cpu_state *c, int node)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->count); i++) {
		c->count[i] = kvzalloc_node(sizeof(*c->count[i]),
					    GFP_KERNEL_ACCOUNT | __GFP_NOWARN,
					    node);
		if (!c->count[i])
			return -ENOMEM;
	}
	return 0;
}

void counts_free(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(c->count); i++)
		kvfree(c->count[i]);
}

bool counts_add(struct cpu_state *c, const struct tally_sample *t, u32 generation)
{
	const struct tally_count one = {
		.r = { TALLY_RECORD_COUNT, t->r.event, sizeof(one), t->r.time },
		.pid = t->pid, .tid = t->tid, .cpu = t->cpu, .flags = t->flags,
		.nkernel = t->nkernel, .nuser = t->nuser, .stack = t->stack,
		.weight = t->weight, .first = t->r.time, .n = 1,
		.generation = generation,
	};

	if (!count_add(c->count[READ_ONCE(c->counting)], &one))
		return false;
	c->counted++;
	return true;
}

/* A change of tables on a CPU. */
struct change {
	struct cpu_state *c;
	bool done;
};

static void change_here(void *arg)
{
	struct change *g = arg;

	g->done = !READ_ONCE(g->c->busy);
	if (g->done)
		WRITE_ONCE(g->c->counting, !g->c->counting);
}

/* A CPU that is offline has no handlers. */
static void change(struct cpu_state *c)
{
	struct change g = { .c = c };
	unsigned int i;

	cpus_read_lock();
	for (i = 0; i < TRIES && !g.done; i++) {
		if (smp_call_function_single(c->cpu, change_here, &g, 1) < 0)
			change_here(&g);
		cond_resched();
	}
	cpus_read_unlock();
}

int counts_take(struct session *s, u32 cpu, void __user *to, u32 *n)
{
	struct cpu_state *c = READ_ONCE(s->cpu[cpu]);
	struct count_table *t;
	int r = 0;

	mutex_lock(&s->count_lock);
	t = c->count[!c->counting];
	/* What a call could not copy is still there. */
	if (!t->n && READ_ONCE(c->count[c->counting]->n)) {
		change(c);
		t = c->count[!c->counting];
	}
	*n = t->n;
	if (t->n && copy_to_user(to, t->entry, t->n * sizeof(*t->entry)))
		r = -EFAULT;
	else if (t->n)
		count_clear(t);
	mutex_unlock(&s->count_lock);
	return r;
}
