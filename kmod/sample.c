// SPDX-License-Identifier: GPL-2.0
/* Takes a sample: from the interrupted registers to a record in the ring.  Runs in
 * interrupts and NMIs, and within the scheduler: no locks, no allocations, no faults. */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <asm/syscall.h>
#include <asm/timex.h>
#include <asm/tsc.h>

#include "tally.h"

#define THIN_MAX	64u
#define ALL_KNOWN	((1u << TALLY_COPY_REGS) - 1)

/* xorshift64.  A program that knows the period cannot stay in step with it. */
u64 sample_random(struct cpu_state *c)
{
	u64 x = c->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return c->random = x;
}

u64 sample_jitter(struct cpu_state *c, u64 mean)
{
	u64 half = mean >> 3;

	/* The result is one of the 2 * half + 1 values mean - half … mean + half.
	 * The high half of a product replaces a division. */
	return mean - half +
	       mul_u64_u64_shr(sample_random(c), 2 * half + 1, 64);
}

/* Returns a quarter of the window's time. */
static u64 quarter(void)
{
	return (u64)tsc_khz * (WINDOW_NS / NSEC_PER_MSEC) / 4;
}

bool sample_exhausted(const struct cpu_state *c, u32 parts, u32 of)
{
	return quarter() && c->window_cycles * of > quarter() * parts;
}

/* Returns whether the window exceeds parts/of of the rate limit, by its samples or
 * by a quarter of its time. */
static bool above(const struct cpu_state *c, u32 parts, u32 of)
{
	u64 most = max_rate / (NSEC_PER_SEC / WINDOW_NS);
	u64 cycles = quarter();

	return (u64)c->window_samples * of > most * parts ||
	       (cycles && c->window_cycles * of > cycles * parts);
}

/* Lowers raised periods again while there is room, and faster if there is much
 * room. */
static void faster(struct cpu_state *c)
{
	unsigned int i, shift = above(c, 1, 4) ? 2 : 1;

	if (above(c, 3, 4))
		return;

	for (i = 0; i < c->s->setup.nevents; i++) {
		struct cpu_event *e = &c->ev[i];

		if (e->thin > 1 && !above(c, 3, 8))
			e->thin /= 2;
	}
	for (i = 0; i < c->s->setup.nevents; i++) {
		struct cpu_event *e = &c->ev[i];
		const struct tally_event *asked = &c->s->setup.events[i];

		if (!asked->freq && e->mean > asked->period)
			e->mean = max(asked->period,
				      e->mean - (e->mean >> shift));
	}
}

static void window_begin(struct cpu_state *c, u64 now)
{
	c->window_end = now + WINDOW_NS;
	c->window_samples = 0;
	c->window_cycles = 0;
}

/* Counts a sample and returns whether it exceeds the rate limit.  Jitter may put
 * up to an eighth more samples into a window than the average. */
static bool too_fast(struct cpu_state *c, u64 now)
{
	unsigned int i;

	if (now >= c->window_end) {
		faster(c);
		window_begin(c, now);
		for (i = 0; i < c->s->setup.nevents; i++)
			c->ev[i].throttled = false;
	}
	c->window_samples++;
	return above(c, 9, 8);
}

void sample_slower(struct cpu_state *c, unsigned int event, u64 most)
{
	u64 now = ktime_get_mono_fast_ns(), passed, parts;
	u64 begin = c->window_end - WINDOW_NS;
	struct cpu_event *e = &c->ev[event];

	/* The samples of this window should have taken the whole window. */
	passed = now > begin ? now - begin : 1;
	parts = div64_u64(18ull * WINDOW_NS, passed);
	parts = clamp(parts, 18ull, 16ull * 64);
	e->mean = min(most, (e->mean * parts) >> 4);
	window_begin(c, now);
}

void sample_thinner(struct cpu_state *c, unsigned int event)
{
	c->ev[event].thin = min(c->ev[event].thin * 2, THIN_MAX);
	window_begin(c, ktime_get_mono_fast_ns());
}

static void throttle(struct cpu_state *c, unsigned int event, u64 now)
{
	struct cpu_event *e = &c->ev[event];
	struct tally_record r = {
		.type = TALLY_RECORD_THROTTLE, .event = event,
		.size = sizeof(r), .time = now,
	};

	if (!e->throttled)
		ring_put(c, &r, NULL);
	e->throttled = true;
}

/* Counts as throttled what a sample of a raised period stands for beyond the
 * requested period. */
static void count_raised(struct cpu_state *c, unsigned int event, u64 weight)
{
	const struct tally_event *asked = &c->s->setup.events[event];
	struct cpu_event *e = &c->ev[event];
	u64 n;

	if (asked->freq || weight <= asked->period ||
	    e->mean <= asked->period)
		return;
	e->owed += weight - asked->period;
	n = div64_u64(e->owed, asked->period);
	e->owed -= n * asked->period;
	e->stats.throttled += n;
}

/* Unwinds user space from c->user by the program's rows.  Returns the place for a copy
 * of the stack if that fails, otherwise NULL. */
static struct tally_copy *unwind(struct cpu_state *c, struct tally_sample *t,
				 unsigned int room)
{
	struct tally_copy *copy = (struct tally_copy *)(t->ips + t->nkernel);
	u32 n = 0, generation = 0;

	c->user.why = TALLY_WALK_NO_SPACE;
	if (c->user.known == ALL_KNOWN && !(c->user.flags & TALLY_COPY_32))
		c->user.why = rows_walk(c->s, c->user.regs,
					t->ips + t->nkernel, room, &n,
					&generation);
	if (c->user.why == TALLY_WALK_COMPLETE) {
		c->unwound++;
		t->nuser = n;
		t->flags = TALLY_SAMPLE_UNWOUND;
		t->ips[t->nkernel + n] = generation;
		if (!(c->s->setup.flags & TALLY_SETUP_PROOF))
			return NULL;
		copy = (struct tally_copy *)(t->ips + t->nkernel + n + 1);
		memcpy(copy, &c->user, sizeof(*copy));
		return copy;
	}
	c->copied++;
	memcpy(copy, &c->user, sizeof(*copy));
	return copy;
}

/* Fills in the callers.  With copies, user space contributes only the place of the
 * copy. */
static struct tally_copy *fill_chain(struct cpu_state *c,
				     struct tally_sample *t,
				     struct pt_regs *regs, bool *cut)
{
	unsigned int room = c->s->setup.max_chain, n = 0;
	struct tally_copy *copy;

	if (!user_mode(regs))
		n = chain_kernel(regs, t->ips, room, cut);
	t->nkernel = n;
	if (!c->s->setup.copy_bytes) {
		if (!*cut)
			t->nuser = chain_user(regs, t->ips + n, room - n, cut);
		return NULL;
	}
	if (c->s->rows)
		return copy_user(regs, &c->user)
		       ? unwind(c, t, *cut ? 0 : room - n) : NULL;
	copy = (struct tally_copy *)(t->ips + n);
	return copy_user(regs, copy) ? copy : NULL;
}

/* Fills in all of a sample but its stack. */
static struct tally_sample *begin(struct cpu_state *c, u16 event, u64 weight,
				  u64 now)
{
	struct tally_sample *t = (struct tally_sample *)c->record;

	t->r.type = TALLY_RECORD_SAMPLE;
	t->r.event = event;
	t->r.time = now;
	t->pid = tasks_number(current, PIDTYPE_TGID, c->s->ns);
	t->tid = tasks_number(current, PIDTYPE_PID, c->s->ns);
	t->cpu = c->cpu;
	t->weight = weight;
	t->stack = 0;
	t->flags = 0;
	t->nkernel = t->nuser = 0;
	return t;
}

/* Sets the size of a sample, to which a copy may belong. */
static void end(struct tally_sample *t, u32 flags,
		const struct tally_copy *copy)
{
	t->flags |= flags | (copy ? TALLY_SAMPLE_COPY : 0);
	t->r.size = sizeof(*t) + (t->nkernel + t->nuser) * sizeof(u64) +
		    (copy ? sizeof(*copy) : 0) +
		    (t->flags & TALLY_SAMPLE_UNWOUND ? sizeof(u64) : 0);
}

/* Fills in a sample.  Returns the end of the record if a copy of the stack belongs
 * there, otherwise NULL. */
static struct tally_copy *fill(struct cpu_state *c, unsigned int event,
			       struct pt_regs *regs, u64 weight, u64 now)
{
	struct tally_sample *t = begin(c, event, weight, now);
	bool cut = false, user = user_mode(regs);
	struct tally_copy *copy = NULL;

	if (c->s->setup.flags & TALLY_SETUP_CHAIN) {
		copy = fill_chain(c, t, regs, &cut);
	} else {
		t->ips[0] = instruction_pointer(regs);
		t->nkernel = !user;
		t->nuser = user;
	}
	end(t, (user ? TALLY_SAMPLE_USER : 0) | (cut ? TALLY_SAMPLE_CUT : 0),
	    copy);
	return copy;
}

static u64 stack_hash(const struct cpu_state *c, const struct tally_sample *t)
{
	u64 h = c->stack_key ^ ((u64)t->nkernel << 32 | t->nuser);
	unsigned int i;

	for (i = 0; i < t->nkernel + t->nuser; i++) {
		h = (h ^ t->ips[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	return h;
}

/* Returns the entry of this hash, or else the oldest entry of its set. */
static struct stack_known *stack_find(struct cpu_state *c, u64 hash)
{
	struct stack_known *set = c->known[hash % STACK_SETS], *oldest = set;
	unsigned int i;

	for (i = 0; i < STACK_WAYS; i++) {
		if (set[i].number && set[i].hash == hash)
			return &set[i];
		if (!set[i].number || (oldest->number &&
		    c->stacks - set[i].number > c->stacks - oldest->number))
			oldest = &set[i];
	}
	return oldest;
}

/* Puts a sample without a copy.  If the ring already has its addresses, only their
 * number is put.  Two stacks are confused only if 64 bits of a hash with a secret
 * key are equal. */
static bool stack_put(struct cpu_state *c, struct tally_sample *t)
{
	bool unwound = t->flags & TALLY_SAMPLE_UNWOUND;
	unsigned int n = t->nkernel + t->nuser;
	u64 hash = stack_hash(c, t);
	struct stack_known *k = stack_find(c, hash);

	if (k->number && k->hash == hash &&
	    c->stacks - k->number < TALLY_STACKS_KEPT - 1) {
		t->stack = k->number;
		t->flags |= TALLY_SAMPLE_AGAIN;
		/* Without a number of its mappings, a user side may mean other code
		 * by the time that the program takes what was added up. */
		if (c->count[0] &&
		    (unwound || !t->nuser) && !(t->flags & TALLY_SAMPLE_CUT) &&
		    counts_add(c, t, unwound ? (u32)t->ips[n] : 0))
			return true;
		t->ips[0] = t->ips[n];
		t->r.size -= n * sizeof(u64);
		return ring_put(c, &t->r, NULL);
	}
	t->stack = c->stacks + 1;
	if (!t->stack)
		t->stack++;
	if (!ring_put(c, &t->r, NULL))
		return false;
	c->stacks = t->stack;
	*k = (struct stack_known){ hash, t->stack };
	return true;
}

static bool sample_put(struct cpu_state *c, struct tally_copy *copy)
{
	struct tally_sample *t = (struct tally_sample *)c->record;

	if (!copy && c->s->setup.flags & TALLY_SETUP_STACKS)
		return stack_put(c, t);
	return ring_put(c, &t->r, copy);
}

/* Fills in the callers of a thread within the scheduler. */
static struct tally_copy *fill_waiting(struct cpu_state *c,
				       struct tally_sample *t, bool *cut)
{
	struct tally_copy *copy = (struct tally_copy *)t->ips;
	unsigned int room = c->s->setup.max_chain;

	if (c->s->rows)
		return unwind(c, t, room);
	if (!c->s->setup.copy_bytes) {
		t->nuser = chain_user(task_pt_regs(current), t->ips, room, cut);
		return NULL;
	}
	memcpy(copy, &c->user, sizeof(*copy));
	return copy;
}

/* Returns whether the current thread, which has a user side, is in no system call. */
static bool is_outside(void)
{
	return syscall_get_nr(current, task_pt_regs(current)) == -1;
}

bool sample_waiting(struct cpu_state *c, u16 event, u64 weight, u64 now)
{
	struct tally_sample *t = begin(c, event, weight, now);
	struct tally_copy *copy = NULL;
	bool cut = false;
	u32 flags = 0;

	if (copy_entered(&c->user)) {
		copy = fill_waiting(c, t, &cut);
		flags = (cut ? TALLY_SAMPLE_CUT : 0) |
			(is_outside() ? TALLY_SAMPLE_OUTSIDE : 0);
	} else {
		t->ips[0] = 0;
		t->nkernel = 1;
	}
	end(t, flags, copy);
	return sample_put(c, copy);
}

void sample_account(struct cpu_state *c, u64 cycles)
{
	unsigned int i = cycles ? ilog2(cycles) : 0;

	c->cycles += cycles;
	c->window_cycles += cycles;
	c->histogram[min_t(unsigned int, i, TALLY_HISTOGRAM - 1)]++;
}

static bool ours(const struct cpu_state *c, unsigned int event,
		 struct pt_regs *regs)
{
	const struct tally_setup *setup = &c->s->setup;

	if (!(setup->events[event].flags & (user_mode(regs)
	      ? TALLY_EVENT_USER : TALLY_EVENT_KERNEL)))
		return false;
	if (setup->flags & TALLY_SETUP_CGROUP && !cgroup_has(c->s, current))
		return false;
	return !session_follows(c->s) || tasks_current(c->s);
}

/* Samples of other threads and modes also take time.  Without a limit, counters
 * that overflow within the handler would stop the machine. */
unsigned int sample_take(struct cpu_state *c, unsigned int event,
			 struct pt_regs *regs, u64 weight)
{
	struct cpu_event *e = &c->ev[event];
	u64 start = get_cycles(), now = ktime_get_mono_fast_ns();
	bool fast = too_fast(c, now), mine = ours(c, event, regs);

	if (fast)
		throttle(c, event, now);
	if (mine) {
		struct tally_copy *copy = fill(c, event, regs, weight, now);

		e->stats.weight += weight;
		count_raised(c, event, weight);
		if (sample_put(c, copy))
			e->stats.samples++;
		else
			e->stats.lost++;
	}
	sample_account(c, get_cycles() - start);
	return (fast ? SAMPLE_TOO_FAST : 0) | (mine ? SAMPLE_WANTED : 0);
}
