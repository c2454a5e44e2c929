// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns waits into samples of the profile. */
#include "record/collect/collect_waits.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/random.h"
#include "record/collect/sleeping.h"
#include "record/collect/wait_polls.h"

enum { MOST = 50000 };	/* maximum number of waits written per second */
#define THINNING_MIN_NS 1000u
/* Longest wait whose time is added to a later sample of the waking thread, which may
 * be somewhere else by then. */
#define UNSAMPLED_MAX_NS 1000000u

/* Time over which the rate of waits is measured. */
#define RATE_PART_NS (SECOND / 10)

/* Returns whether to write a wait, and sets its weight. */
static bool keep(struct wait_samples *s, uint64_t length, uint64_t *weight)
{
	*weight = length;
	if (length >= s->thinning_ns)
		return true;
	*weight = s->thinning_ns;
	return random_next(&s->random) % s->thinning_ns < length;
}

/* Doubles the thinning while too many waits are written. */
static void adapt(struct wait_samples *s, uint64_t time_ns)
{
	if (time_ns - s->second_ns >= SECOND) {
		s->second_ns = time_ns;
		s->written = 0;
	}
	if (++s->written <= s->most)
		return;
	s->thinning_ns = s->thinning_ns ? 2 * s->thinning_ns
					: THINNING_MIN_NS;
	s->written = s->most / 2;
}

/* Returns the stack of a place without an address, in a process. */
static int place(struct collector *c, uint32_t pid, const char *name,
		 uint32_t *stack, uint32_t *loc, struct error *err)
{
	struct record_sample s = { .place = name };
	struct process *proc;
	int rc = collector_process(c, pid, &proc, err);

	if (rc >= 0)
		*stack = stacks_add(&c->stacks, proc->maps, &s, loc);
	return rc;
}

/* Returns the stack of a wait without one: a place for each kind. */
static int place_of(struct collector *c, const struct wait *w, uint32_t *stack,
		    uint32_t *loc, struct error *err)
{
	char kind[32], name[64];

	if (w->found == WAIT_STARTING)
		return place(c, w->pid, PLACE_STARTING, stack, loc, err);
	if (w->found == WAIT_UNKNOWN)
		return place(c, w->pid, PLACE_SWITCHES_LOST, stack, loc, err);
	if (!w->kind)
		return place(c, w->pid, PLACE_NO_STACK, stack, loc, err);
	wait_kind_text(w->kind, kind, sizeof(kind));
	snprintf(name, sizeof(name), PLACE_NO_STACK_IN, kind);
	return place(c, w->pid, name, stack, loc, err);
}

static bool has_latency(const struct collector *c)
{
	return c->wait_samples.latency != SOURCE_NONE;
}

/* `at` supplies time and stack. */
static int write_latency(struct collector *c, uint32_t pid, uint32_t tid,
			 const struct prof_sample *at, uint32_t loc,
			 uint64_t weight, struct error *err)
{
	struct prof_sample s = *at;

	if (!weight)
		return 0;
	s.event = c->wait_samples.latency;
	s.weight = weight;
	c->wait_samples.latency_ns += weight;
	return collector_write(c, pid, tid, &s, loc, err);
}

/* `s` is complete except for its stack. */
static int write_place(struct collector *c, uint32_t pid, uint32_t tid,
		       const char *name, struct prof_sample *s,
		       struct error *err)
{
	uint32_t loc;
	int rc = place(c, pid, name, &s->stack, &loc, err);

	return rc < 0 ? rc : collector_write(c, pid, tid, s, loc, err);
}

/* Writes the time that others waited for a thread, by wakeups without a sample. */
static int write_unsampled(struct collector *c, struct waiter *t,
			   uint64_t time_ns, struct error *err)
{
	struct prof_sample s = { .time_ns = time_ns, .cpu = PROF_NONE,
				 .event = c->wait_samples.waking,
				 .weight = t ? t->unsampled_ns : 0 };

	if (!s.weight)
		return 0;
	t->unsampled_ns = 0;
	return write_place(c, t->pid, t->tid, PLACE_NO_STACK, &s, err);
}

/* Writes a sample of the thread or interrupt that ended a wait. */
static int write_waking(struct collector *c, const struct wait *w,
			struct error *err)
{
	struct wait_samples *ws = &c->wait_samples;
	const struct waker *by = &w->waker;
	struct waiter *own = by->interrupt ? NULL : waits_find(&c->waits, by->tid);
	bool ours = !by->interrupt && processes_find(&c->processes, by->pid);
	uint64_t length = w->end_ns - w->start_ns;
	struct prof_sample s = { .time_ns = w->end_ns, .cpu = PROF_NONE,
				 .event = ws->waking, .weight = length,
				 .stack = by->stack };

	if (!w->woken || ws->waking == SOURCE_NONE)
		return 0;
	ws->waking_ns += length;
	if (by->sampled) {
		if (own) {
			s.weight += own->unsampled_ns;
			own->unsampled_ns = 0;
		}
		return collector_write(c, by->pid, by->tid, &s, by->loc, err);
	}
	if (ours && own && !own->hidden && length < UNSAMPLED_MAX_NS) {
		own->unsampled_ns += length;
		return 0;
	}
	if (!keep(ws, length, &s.weight))
		return 0;
	if (ours)
		return write_place(c, by->pid, by->tid, !own ? PLACE_EXIT
				   : own->hidden ? PLACE_KERNEL_THREAD
				   : PLACE_NO_STACK, &s, err);
	return write_place(c, w->pid, w->tid, by->interrupt
			   ? PLACE_INTERRUPT : PLACE_OTHER_PROCESS, &s, err);
}

static void count_blocked(struct wait_samples *ws, const struct wait *w)
{
	ws->blocked_ns[w->found] += w->end_ns - w->start_ns;
	ws->blocked_n++;
	ws->sampled_n += w->found == WAIT_EXACT;
	if (w->end_ns >= ws->part_ns + RATE_PART_NS) {
		ws->part_ns = w->end_ns;
		ws->part_n = 0;
	}
	if (++ws->part_n > ws->most_n)
		ws->most_n = ws->part_n;
}

static int take_wait(void *ctx, const struct wait *w, struct error *err)
{
	struct collector *c = ctx;
	struct wait_samples *ws = &c->wait_samples;
	uint64_t length = w->end_ns - w->start_ns;
	struct prof_sample s = {
		.time_ns = w->end_ns, .cpu = PROF_NONE,
		.event = w->runnable ? ws->runnable : ws->blocked,
		.stack = w->stack,
	};
	uint32_t loc = w->loc;
	bool kept;
	int rc;

	ws->n++;
	if (w->runnable)
		ws->runnable_ns += length;
	else
		count_blocked(ws, w);
	rc = write_waking(c, w, err);
	kept = keep(ws, length, &s.weight);
	if (rc < 0 || (!kept && !ws->gap_ns))
		return rc;
	if (w->found > WAIT_POLLED)
		rc = place_of(c, w, &s.stack, &loc, err);
	if (rc < 0)
		return rc;
	rc = wait_polls_kind(c, w, s.stack, err);
	if (rc >= 0)
		rc = write_latency(c, w->pid, w->tid, &s, loc, ws->gap_ns, err);
	ws->gap_ns = 0;
	if (rc < 0 || !kept)
		return rc;
	adapt(ws, w->end_ns);
	return collector_write_extra(c, w->pid, w->tid, &(struct sample_extra){
		strtab_get(&c->wait_tasks, w->task), 0, 1, 0 }, &s, loc, err);
}

uint64_t collect_waits_ns(const struct collector *c, size_t event)
{
	const struct wait_samples *s = &c->wait_samples;
	uint64_t sum = 0;

	for (size_t i = 0; i < WAIT_FOUND_KINDS; i++)
		sum += s->blocked_ns[i];
	return event == s->runnable ? s->runnable_ns
	       : event == s->latency ? s->latency_ns
	       : event == s->waking ? s->waking_ns : sum;
}

/* Adds from when on only some waits were sampled, and how many. */
static int pause_facts(struct collector *c)
{
	const struct wait_samples *ws = &c->wait_samples;
	uint64_t begun_ns = ws->begun_ns < ws->paused_ns ? ws->begun_ns : ws->paused_ns;
	int rc = profile_set_number(c->profile, PROF_NONE, "wait_pauses_from_ns",
				    ws->paused_ns - begun_ns);

	if (rc >= 0)
		rc = profile_set_number(c->profile, PROF_NONE, "wait_rate",
					ws->most_n * (SECOND / RATE_PART_NS));
	if (rc >= 0)
		rc = profile_set_number(c->profile, PROF_NONE, "wait_count",
					ws->blocked_n);
	return rc < 0 ? rc : profile_set_number(c->profile, PROF_NONE,
						"wait_count_exact", ws->sampled_n);
}

int collect_waits_facts(struct collector *c)
{
	static const char *const keys[WAIT_FOUND_KINDS] = {
		[WAIT_EXACT] = "wait_ns_exact", [WAIT_POLLED] = "wait_ns_looked",
		[WAIT_NO_STACK] = "wait_ns_no_stack",
		[WAIT_UNKNOWN] = "wait_ns_unknown",
	};
	const struct wait_samples *ws = &c->wait_samples;
	int rc = 0;

	for (size_t i = 0; i < WAIT_FOUND_KINDS && rc >= 0; i++)
		if (keys[i])
			rc = profile_set_number(c->profile, PROF_NONE, keys[i],
						ws->blocked_ns[i]);
	if (rc >= 0 && ws->thinning_ns)
		rc = profile_set_number(c->profile, PROF_NONE, "wait_thinning_ns",
					ws->thinning_ns);
	return rc < 0 || !ws->paused_ns ? rc : pause_facts(c);
}

void collect_waits_begin(struct collector *c, const struct source *src,
			 bool alone)
{
	struct wait_samples *s = &c->wait_samples;

	if (s->on || !src->waits)
		return;
	*s = (struct wait_samples){
		.on = true, .polls = !src->wait_stacks, .alone = alone,
		.polled = src->wait_polls,
		.blocked = src->blocked, .runnable = src->runnable,
		.waking = src->waking, .latency = src->latency,
		.queues = !src->wait_polls && src->waking == SOURCE_NONE,
		.paces = !src->wait_polls && src->waking != SOURCE_NONE,
		.ends = src->tells_ends,
		.random = 0x9e3779b97f4a7c15ull, .most = MOST,
	};
	c->waits.cb = c->polled_waits.cb = take_wait;
	c->waits.ctx = c->polled_waits.ctx = c;
}

void collect_waits_source(struct collector *c, const struct source *src)
{
	struct wait_samples *s = &c->wait_samples;

	if (!s->paused_ns)
		s->paused_ns = src->paused_ns;
	if (!s->paces || s->queues == src->wakes_missing)
		return;
	s->queues = src->wakes_missing;
	if (!s->queues)
		waits_forget_queues(&c->waits);
}

/* Returns the program's part of a stack in the scheduler.  The kernel's part is the
 * same for all. */
static int user_stack(struct collector *c, struct process *proc,
		      const struct record *r, uint32_t *stack, uint32_t *loc,
		      struct error *err)
{
	struct record own = *r;

	own.sample.nkernel = 0;
	*stack = collector_stack(c, proc, &own, loc);
	return *stack == PROF_NONE
	       ? error_set(err, ERR_NOMEM, "out of memory for stacks") : 0;
}

static bool has_user_stack(const struct record *r)
{
	return r->sample.copied || r->sample.nuser;
}

/* Returns whether a thread that leaves its CPU is in no system call, by the registers
 * of the program (Linux, arch/x86/entry/entry_64.S): a call begins with -ENOSYS as its
 * result, and SYSCALL leaves the address of the next instruction in RCX. */
static bool is_outside_calls(const struct record_copy *copy)
{
	const uint32_t needed = 1u << UNWIND_RAX | 1u << UNWIND_RCX |
				1u << UNWIND_RIP;

	return !copy->is32 && (copy->regs.known & needed) == needed &&
	       copy->regs.r[UNWIND_RAX] != (uint64_t)-ENOSYS &&
	       copy->regs.r[UNWIND_RCX] != copy->regs.r[UNWIND_RIP];
}

int collect_waking(struct collector *c, struct process *proc,
		   const struct record *r, struct error *err)
{
	struct waker by = { .pid = r->pid, .tid = r->tid, .sampled = true };
	const struct waiter *t = waits_find(&c->waits, r->sample.woken);
	int rc;

	if (!r->tid || !t || !waits_is_blocked(t) || !has_user_stack(r))
		return 0;
	rc = user_stack(c, proc, r, &by.stack, &by.loc, err);
	if (rc >= 0)
		waits_wake(&c->waits, r->sample.woken, r->time_ns, &by);
	return rc;
}

int collect_wait_sample(struct collector *c, struct process *proc,
			const struct record *r, struct error *err)
{
	struct wait_stack s = { 0 };
	struct waiter *t;
	int rc;

	if (!r->pid || r->pid == UINT32_MAX)
		return 0;
	rc = user_stack(c, proc, r, &s.stack, &s.loc, err);
	if (rc < 0)
		return rc;
	if (r->sample.outside_calls ||
	    (r->sample.copied && is_outside_calls(&r->sample.copy)))
		s.kind = WAIT_FOR_PAGE;
	rc = waits_sample(&c->waits, r->pid, r->tid, &s, err);
	t = waits_find(&c->waits, r->tid);
	if (t)
		t->hidden = !has_user_stack(r);
	return rc;
}

/* Writes time of a thread whose location is unknown. */
static int write_unlocated(struct collector *c, uint32_t pid, uint32_t tid,
			   uint64_t time_ns, uint64_t rest, struct error *err)
{
	struct prof_sample s = { .time_ns = time_ns, .cpu = PROF_NONE };
	uint32_t loc;
	int rc;

	if (!rest)
		return 0;
	rc = place(c, pid, PLACE_NO_SAMPLE, &s.stack, &loc, err);
	return rc < 0 ? rc : write_latency(c, pid, tid, &s, loc, rest, err);
}

/* Reads how long a thread has waited for a CPU.  A record shows that it
 * runs again, and it may have waited for one before.  A reading takes some 10 us, so one
 * explains several short waits. */
static void read_queue(struct collector *c, const struct record *r)
{
	enum { SHORT_NS = 100000, EACH_NS = 20000000, READ_MOST = 2000 }; /* a second */
	struct wait_samples *ws = &c->wait_samples;
	struct waiter *t = waits_find(&c->waits, r->tid);
	struct wait_poll p;

	if (!t || t->hidden || !waits_is_blocked(t) || t->woken_ns ||
	    r->time_ns < t->queue_read_ns ||
	    (r->time_ns < t->since_ns + SHORT_NS &&
	     r->time_ns < t->queue_read_ns + EACH_NS))
		return;
	if (r->time_ns >= ws->queues_second_ns + SECOND) {
		ws->queues_second_ns = r->time_ns;
		ws->queues_read = 0;
	}
	if (ws->queues_read++ < READ_MOST && sleeping_schedstat(c->proc, t->pid, t->tid, &p))
		waits_queued(t, p.queued_ns, p.time_ns);
}

static wait_kind kind_of_switch(const struct record *r)
{
	if (r->change.stopped)
		return WAIT_FOR_CONTINUE;
	if (!r->change.has_call)
		return 0;
	return r->change.call < 0 ? WAIT_FOR_PAGE : wait_kind_of_call(r->change.call);
}

int collect_switch(struct collector *c, const struct record *r,
		   struct error *err)
{
	uint64_t *gap = &c->wait_samples.gap_ns;
	int rc = 0;

	if (r->kind == RECORD_SWITCH_GAP) {
		latency_lost(&c->latency, r->time_ns);
		return waits_lost(&c->waits, r->time_ns, err);
	}
	/* The idle task, and exited tasks without a number. */
	if (!r->tid || r->tid == UINT32_MAX)
		return 0;
	*gap = 0;
	if (c->wait_samples.queues && !r->change.out)
		read_queue(c, r);
	if (r->change.ended)
		latency_exit(&c->latency, r->tid, r->time_ns);
	else if (has_latency(c) && r->change.out)
		latency_out(&c->latency, r->tid, r->time_ns);
	else if (has_latency(c))
		rc = latency_in(&c->latency, r->tid, r->time_ns, gap);
	if (rc < 0)
		return error_set(err, ERR_NOMEM, "out of memory for threads");
	rc = waits_switch(&c->waits, &(struct wait_switch){
				  r->pid, r->tid, r->time_ns, r->change.out,
				  r->change.preempted, r->change.ran_ns,
				  kind_of_switch(r) }, err);
	if (r->change.ended)
		waits_remove(&c->waits, r->tid);
	/* No wait took the gap, so this is a kernel thread. */
	return rc < 0 ? rc
	       : write_unlocated(c, r->pid, r->tid, r->time_ns, *gap, err);
}

int collect_latency(struct collector *c, const struct record *r,
		    const struct prof_sample *at, uint32_t loc,
		    struct error *err)
{
	return !has_latency(c) ? 0
	       : write_latency(c, r->pid, r->tid, at, loc,
			       latency_take(&c->latency, r->tid, r->time_ns),
			       err);
}

void collect_halted(struct collector *c, const struct record *r)
{
	struct polled_thread *t = polled_waits_find(&c->polled_waits, r->tid);

	if (t)
		polled_waits_halted(t, r->sample.halted_ns);
}

int collect_fork(struct collector *c, const struct record *r, struct error *err)
{
	struct polled_thread *t;

	if (!c->wait_samples.polled)
		return waits_fork(&c->waits, r->pid, r->tid, r->time_ns, err);
	if (!c->wait_samples.polling)
		return 0;
	t = polled_waits_thread(&c->polled_waits, r->pid, r->tid, err);
	if (!t)
		return -err->code;
	/* It may have been polled before its record arrived. */
	if (!t->asked_ns)
		polled_waits_begin(&c->polled_waits, t, r->time_ns);
	t->round = c->wait_samples.rounds;
	return 0;
}

int collect_exit(struct collector *c, const struct record *r, struct error *err)
{
	int rc = !has_latency(c) ? 0
		 : write_unlocated(c, r->pid, r->tid, r->time_ns,
				   latency_take(&c->latency, r->tid, r->time_ns),
				   err);

	if (rc >= 0)
		rc = write_unsampled(c, waits_find(&c->waits, r->tid),
				     r->time_ns, err);
	latency_exit(&c->latency, r->tid, r->time_ns);
	waits_exit(&c->waits, r->tid, c->wait_samples.ends);
	if (r->pid == r->tid)
		python_live_end(&c->python_live, r->pid);
	return rc;
}

/* A thread that calls exec takes the number of its process's first thread, and the
 * others are gone. */
int collect_exec(struct collector *c, const struct record *r, struct error *err)
{
	uint64_t gap;

	/* The end of a first thread that exited before has this one's former number. */
	if (!waits_find(&c->waits, r->tid))
		waits_remove(&c->waits, r->tid);
	for (size_t i = 0; i < c->waits.threads.n; i++) {
		const struct waiter t = c->waits.threads.v[i];

		if (!t.tid || t.pid != r->pid || t.tid == r->tid)
			continue;
		if (write_unsampled(c, &c->waits.threads.v[i], r->time_ns,
				    err) < 0)
			return -err->code;
		latency_exit(&c->latency, t.tid, r->time_ns);
		waits_remove(&c->waits, t.tid);
	}
	if (has_latency(c) && c->latency.now_ns &&
	    latency_in(&c->latency, r->tid, r->time_ns, &gap) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for threads");
	return 0;
}

int collect_waits_asleep(struct collector *c, uint32_t pid, uint64_t time_ns,
			 struct error *err)
{
	uint64_t gap;
	int rc = 0;

	if (c->wait_samples.polled)
		return 0;
	if (has_latency(c))
		latency_begin(&c->latency, time_ns);
	/* It does not sleep of its own accord. */
	if (pid)
		return has_latency(c) && latency_in(&c->latency, pid, time_ns,
						    &gap) < 0
		       ? error_set(err, ERR_NOMEM, "out of memory for threads")
		       : 0;

	for (size_t i = 0; i < c->processes.tasks.n && rc >= 0; i++) {
		const struct task t = c->processes.tasks.v[i];
		struct wait_poll before = { .ran_ns = 0 };
		bool kernel = false;
		char state = t.tid && t.tid != UINT32_MAX
			     ? sleeping_state(c->proc, t.pid, t.tid,
					      &kernel) : 0;

		if (!kernel && sleeping_is_asleep(state) && c->wait_samples.ends)
			sleeping_schedstat(c->proc, t.pid, t.tid, &before);
		if (kernel)
			rc = waits_hide(&c->waits, t.pid, t.tid, err);
		else if (sleeping_is_asleep(state))
			rc = waits_asleep(&c->waits, t.pid, t.tid, time_ns,
					  before.ran_ns, err);
		else if (state == 'R' && has_latency(c))
			rc = latency_in(&c->latency, t.tid, time_ns, &gap);
	}
	return rc;
}

int collect_waits_toggle(struct collector *c, uint64_t time_ns, bool on,
			 struct error *err)
{
	if (on && !c->wait_samples.begun_ns)
		c->wait_samples.begun_ns = time_ns;
	return c->wait_samples.polled ? wait_polls_toggle(c, on, err)
				      : waits_toggle(&c->waits, time_ns, on, err);
}

int collect_waits_end(struct collector *c, uint64_t time_ns, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; has_latency(c) && rc >= 0 &&
			   i < c->waits.threads.n; i++) {
		const struct waiter t = c->waits.threads.v[i];

		if (t.tid)
			rc = write_unlocated(c, t.pid, t.tid, time_ns,
					     latency_take(&c->latency, t.tid,
							  time_ns), err);
	}
	if (rc >= 0)
		rc = c->wait_samples.polled ? wait_polls_end(c, err)
		     : waits_end(&c->waits, time_ns, err);
	for (size_t i = 0; rc >= 0 && i < c->waits.threads.n; i++)
		rc = write_unsampled(c, &c->waits.threads.v[i], time_ns, err);
	return rc;
}
