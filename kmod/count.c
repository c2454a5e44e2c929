// SPDX-License-Identifier: GPL-2.0
/*
 * Adds up equal samples, so that they do not need a record each.
 *
 * A CPU has two tables.  Its handlers add to one, and the program takes the other.  COUNTS
 * swaps them without interrupting that CPU: an interrupt would disturb what runs there, and
 * a virtual CPU may answer it late.  A handler announces that it adds before it chooses a
 * table.  If one adds during the swap, it may have chosen the table that is put aside, so
 * COUNTS waits for its end.  If the wait is long, because a virtual CPU does not run, a
 * later call takes that table.  Handlers of a CPU do not interrupt each other while they
 * add (perf.c, pmu.c).
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "count_core.h"
#include "tally.h"

#define TRIES	1000u	/* to see the end of a handler that adds */

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
	bool added;

	WRITE_ONCE(c->adds, c->adds + 1);
	smp_mb();	/* pairs with that of put_aside */
	added = count_add(c->count[READ_ONCE(c->counting)], &one);
	smp_store_release(&c->adds, c->adds + 1);
	c->counted += added;
	return added;
}

/* Gives the handlers the other table, which is empty. */
static void put_aside(struct cpu_state *c)
{
	smp_store_release(&c->counting, !c->counting);	/* after count_clear */
	smp_mb();	/* pairs with that of counts_add */
	c->settling = true;
}

/* Whether a handler may still add to the table that was put aside. */
static bool is_settling(const struct cpu_state *c)
{
	u32 adds = smp_load_acquire(&c->adds);
	unsigned int i;

	if (!(adds & 1))
		return false;
	for (i = 0; i < TRIES; i++) {
		if (smp_load_acquire(&c->adds) != adds)
			return false;
		cpu_relax();
	}
	return true;
}

int counts_take(struct session *s, u32 cpu, void __user *to, u32 *n)
{
	struct cpu_state *c = READ_ONCE(s->cpu[cpu]);
	struct count_table *t;
	int r = 0;

	mutex_lock(&s->count_lock);
	/* What an earlier call could not copy is still there. */
	if (!c->settling && !c->count[!c->counting]->n &&
	    READ_ONCE(c->count[c->counting]->n))
		put_aside(c);
	if (c->settling)
		c->settling = is_settling(c);
	t = c->count[!c->counting];
	*n = c->settling ? 0 : t->n;
	if (*n && copy_to_user(to, t->entry, *n * sizeof(*t->entry)))
		r = -EFAULT;
	else if (*n)
		count_clear(t);
	mutex_unlock(&s->count_lock);
	return r;
}
