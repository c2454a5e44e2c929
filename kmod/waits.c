// SPDX-License-Identifier: GPL-2.0
/*
 * Waits: records of threads that leave a CPU or get one, and of who wakes them.
 *
 * The scheduler calls these functions with a run queue's lock or a task's pi_lock held
 * and interrupts off.  So nothing here takes a lock, allocates, or reads memory that may
 * be absent.  Stacks are read from the current thread only: its memory is still mapped
 * while it is switched out.
 *
 * A CPU has a ring of its own for waits.  NMIs that interrupt these functions put their
 * samples elsewhere, and copies of stacks at samples take no room from switches.  In
 * this ring, stacks leave a quarter to switches and wakes, without which no length of a
 * wait is known.  If one of these is lost nevertheless, the next one follows a record
 * that says so.
 */
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/timex.h>

#include "compat.h"
#include "tally.h"

/* Returns this CPU's state if waits are recorded here, otherwise NULL. */
static struct cpu_state *state_here(struct session *s)
{
	struct cpu_state *c;

	/* Until the source is set, SETUP may fail and free the CPUs. */
	if (!smp_load_acquire(&s->source))
		return NULL;
	c = READ_ONCE(s->waits[smp_processor_id()]);
	return c && READ_ONCE(c->running) ? c : NULL;
}

static bool is_recorded(struct session *s, struct task_struct *t)
{
	u32 flags = s->setup.flags;

	if (is_idle_task(t))
		return false;
	if (flags & TALLY_SETUP_CGROUP)
		return cgroup_has(s, t);
	return !(flags & TALLY_SETUP_TASKS) || tasks_has(s, t);
}

/* Says in the ring that records are missing, if they are.  Returns false if it has no
 * room for that. */
static bool gap_put(struct cpu_state *c, u64 now)
{
	struct tally_gap g = {
		.r = { TALLY_RECORD_GAP, TALLY_EVENT_BLOCKED, sizeof(g), now },
		.lost = c->missed,
	};

	if (!c->gap)
		return true;
	if (!ring_put(c, &g.r, NULL))
		return false;
	c->gap = false;
	c->missed = 0;
	return true;
}

static void put(struct cpu_state *c, struct tally_record *r, u64 *got, u64 *lost)
{
	if (gap_put(c, r->time) && ring_put(c, r, NULL)) {
		++*got;
		return;
	}
	++*lost;
	c->missed++;
	c->gap = true;
}

/* Returns whether the window has time for another stack.  Stacks of wakes may use half of
 * it, because without the other ones it is unknown where threads wait. */
static bool affordable(struct cpu_state *c, u16 event, u64 now)
{
	if (now >= c->window_end) {
		c->window_end = now + WINDOW_NS;
		c->window_cycles = 0;
	}
	return !sample_exhausted(c, 1, event == TALLY_EVENT_WAKING ? 2 : 1);
}

static void put_stack(struct cpu_state *c, u16 event, u64 weight, u64 now)
{
	if (gap_put(c, now) && affordable(c, event, now) &&
	    sample_waiting(c, event, weight, now))
		c->waits.stacks++;
	else
		c->waits.stacks_lost++;
}

static void put_switch(struct cpu_state *c, struct task_struct *t, u32 flags,
		       u64 now)
{
	struct tally_switch r = {
		.r = { TALLY_RECORD_SWITCH, TALLY_EVENT_BLOCKED, sizeof(r), now },
		.pid = tasks_number(t, PIDTYPE_TGID, c->s->ns),
		.tid = tasks_number(t, PIDTYPE_PID, c->s->ns),
		.cpu = c->cpu, .flags = flags,
	};

	put(c, &r.r, &c->waits.switches, &c->waits.switches_lost);
}

/* Returns the flags of the current thread, which leaves its CPU. */
static u32 out_flags(struct task_struct *t, unsigned int state)
{
	s16 call;

	if (tally_runnable(t))
		return TALLY_SWITCH_OUT | TALLY_SWITCH_PREEMPTED;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return TALLY_SWITCH_OUT | TALLY_SWITCH_STOPPED;
	if (!copy_call(&call))
		return TALLY_SWITCH_OUT;
	return TALLY_SWITCH_OUT | TALLY_SWITCH_CALL |
	       (u32)(u16)call << TALLY_SWITCH_NUMBER;
}

void waits_switched(struct session *s, struct task_struct *prev,
		    struct task_struct *next, unsigned int prev_state)
{
	struct cpu_state *c = state_here(s);
	u64 start, now;
	bool out, in;

	if (!c)
		return;
	/* A thread that has ended waits for nothing. */
	out = !(prev_state & TASK_DEAD) && is_recorded(s, prev);
	in = is_recorded(s, next);
	if (!out && !in)
		return;
	start = get_cycles();
	now = ktime_get_mono_fast_ns();
	if (out) {
		put_stack(c, TALLY_EVENT_BLOCKED, 0, now);
		put_switch(c, prev, out_flags(prev, prev_state), now);
	}
	if (in)
		put_switch(c, next, 0, now);
	sample_account(c, get_cycles() - start);
}

void waits_woken(struct session *s, struct task_struct *t)
{
	struct cpu_state *c = state_here(s);
	struct tally_wake r = {
		.r = { TALLY_RECORD_WAKE, TALLY_EVENT_WAKING, sizeof(r), 0 },
	};
	u64 start;

	if (!c || !(s->setup.flags & TALLY_SETUP_WAKES) || !is_recorded(s, t))
		return;
	start = get_cycles();
	r.r.time = ktime_get_mono_fast_ns();
	r.pid = tasks_number(current, PIDTYPE_TGID, s->ns);
	r.tid = tasks_number(current, PIDTYPE_PID, s->ns);
	r.cpu = c->cpu;
	r.flags = in_task() ? 0 : TALLY_WAKE_INTERRUPT;
	r.woken = tasks_number(t, PIDTYPE_PID, s->ns);
	if (in_task() && current->mm && is_recorded(s, current))
		put_stack(c, TALLY_EVENT_WAKING, r.woken, r.r.time);
	put(c, &r.r, &c->waits.wakes, &c->waits.wakes_lost);
	sample_account(c, get_cycles() - start);
}

void waits_interrupted(struct cpu_state *c)
{
	c->gap = true;
	gap_put(c, ktime_get_mono_fast_ns());
	/* Threads may also run here before and after the time in which the CPU is
	 * recorded. */
	c->gap = true;
}
