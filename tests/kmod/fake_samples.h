/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_KMOD_FAKE_SAMPLES_H
#define TALLY_TESTS_KMOD_FAKE_SAMPLES_H
/*
 * What the module's waits.c and ring.c need of its sample.c, copy.c and tasks.c, for tests
 * that run without those: samples of one frame.  Included once in a program.
 */
#include "fake_kernel.h"
#include "../../kmod/tally.h"

unsigned int fake_rcu, fake_locks;
void rcu_read_unlock(void)
{
	fake_check(fake_rcu--, "a reader leaves twice");
}

u32 tasks_number(struct task_struct *t, enum pid_type type,
		 struct pid_namespace *ns)
{
	(void)type;
	(void)ns;
	return t->tid;
}

void sample_account(struct cpu_state *c, u64 cycles)
{
	c->cycles += cycles;
}

/* The system call of the thread that runs; -2: it is no 64-bit program. */
static s16 fake_call = -2;
bool copy_call(s16 *number)
{
	*number = fake_call;
	return fake_call != -2;
}

/* The stack of the thread that runs: itself as an address. */
bool sample_waiting(struct cpu_state *c, u16 event, u64 weight, u64 time)
{
	struct tally_sample *t = (struct tally_sample *)c->record;

	*t = (struct tally_sample){
		.r = { TALLY_RECORD_SAMPLE, event, sizeof(*t) + 8, time },
		.tid = fake_current->tid, .cpu = c->cpu, .nuser = 1,
		.weight = weight,
	};
	t->ips[0] = fake_current->tid;
	return ring_put(c, &t->r, NULL);
}

int copy_stack(struct cpu_state *c, struct tally_copy *t, u64 at, u64 room,
	       u32 most)
{
	(void)c;
	(void)t;
	(void)at;
	(void)room;
	(void)most;
	return -ENOSPC;
}

#endif
