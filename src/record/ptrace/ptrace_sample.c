// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out what a stopped thread was doing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/random.h"
#include "record/ptrace/ptrace_calls.h"
#include "record/ptrace/ptrace_internal.h"
#include "record/source/options.h"

enum {
	CREDIT_PERIODS = 64,	/* allowance for threads that are seldom seen at first */
	COPIES = 64,		/* the room in the ring is that of so many larger copies */
};

#define NAME_NS 200000000u	/* interval between reads of a thread's name */
#define SWITCH_NS 10000u	/* time for a switch between threads */

#ifdef __x86_64__

static void take_64(const struct user_regs_struct *r, struct record_copy *c)
{
	const uint64_t v[UNWIND_REGS] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
		r->rip,
	};

	memcpy(c->regs.r, v, sizeof(v));
	c->regs.known = (1u << UNWIND_REGS) - 1;
}

static void take_32(const struct regs32 *r, struct record_copy *c)
{
	const uint64_t v[] = { r->ax, r->dx, r->cx, r->bx, r->si, r->di, r->bp,
			       r->sp };

	memcpy(c->regs.r, v, sizeof(v));
	c->regs.r[UNWIND_RIP] = r->ip;
	c->regs.known = 0xff | 1u << UNWIND_RIP;
	c->is32 = true;
}

/* Also returns whether a timer may end the system call that the thread is in.  Returns
 * false if the thread is gone. */
static bool read_regs(struct tracee *k, struct record_sample *s, bool *timed)
{
	union regs r;
	bool is32;

	if (!regs_get(k, &r, &is32))
		return false;
	if (is32)
		take_32(&r.x32, &s->copy);
	else
		take_64(&r.x64, &s->copy);
	s->in_kernel = regs_call(&r, is32) >= 0;
	*timed = call_may_time_out(&r, is32);
	if (s->in_kernel)
		call_asked(k, &r, is32);
	return true;
}

#else

static bool read_regs(struct tracee *k, struct record_sample *s, bool *timed)
{
	(void)k;
	(void)s;
	(void)timed;
	return false;
}

#endif

static size_t read_file(const struct tracee *k, uint64_t addr, void *to,
			size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", k->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = pread(fd, to, size, (off_t)addr);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* Reads up to `size` bytes of the stack.  A shorter result is the whole stack. */
static size_t read_stack(struct tracer *t, const struct tracee *k,
			 uint64_t addr, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)addr, size };
	ssize_t n = -1;

	if (!t->no_vm) {
		n = process_vm_readv((pid_t)k->tid, &local, 1, &remote, 1, 0);
		t->no_vm = n < 0 && (errno == EPERM || errno == ENOSYS);
	}
	if (t->no_vm)
		return read_file(k, addr, to, size);
	return n > 0 ? (size_t)n : 0;
}

/* Returns the size of the next copy.  A nearly empty ring has room for larger ones than
 * perf events can make. */
static size_t copy_most(const struct tracer *t)
{
	uint64_t most = (t->ring->size - ptrace_ring_waiting(t->ring)) / COPIES;

	if (most < SOURCE_COPY_MAX)
		most = SOURCE_COPY_MAX;
	return most < t->opts->copy_bytes ? most : t->opts->copy_bytes;
}

/*
 * Bounds the time of a sample.  If only a small part of the samples is reached, they
 * are not representative, because stops are seen at the ends of system calls first.
 * A sample therefore represents at most two periods on average, or four if it waited
 * for a CPU the time before.  Time beyond that is shown as unsampled.
 */
static uint64_t bounded(struct tracer *t, uint64_t ran)
{
	uint64_t period = t->opts->period_ns, most = CREDIT_PERIODS * period;

	t->credit_ns += 2 * period;
	if (t->credit_ns > most)
		t->credit_ns = most;
	if (ran > t->credit_ns) {
		atomic_fetch_add_explicit(&t->ring->shared->unseen,
					  ran - t->credit_ns,
					  memory_order_relaxed);
		ran = t->credit_ns;
	}
	t->credit_ns -= ran;
	return ran;
}

/* Returns the time that the sample represents; 0: it has not run since the last. */
static uint64_t weigh(struct tracer *t, struct tracee *k,
		      struct tracee_time now)
{
	uint64_t ran;
	bool first = k->first;

	if (!now.turns)		/* this kernel does not report it */
		return t->opts->period_ns;
	if (now.run <= k->time.run)
		return 0;
	ran = now.run - k->time.run;
	k->time = now;
	k->first = false;
	return first ? (uint64_t)((double)t->opts->period_ns * t->crowd)
		     : bounded(t, ran);
}

/*
 * Returns whether the thread was running at the tick.  Runnable threads that waited
 * for a CPU stop when they get one.  Where they wait is not where they run: a thread
 * that slept waits in the call in which it slept, the longer the busier the machine.
 * Its time is included in its next sample.  A thread that gave way to the tracer has
 * waited, too, from the tick until it stopped, which woke the tracer.  So has a thread
 * whose sleep the timer's interrupt ended together with the tracer's: the kernel delays
 * timers by up to 50 us to end several at once, so the moment is not random.
 */
static bool was_running(const struct tracer *t, const struct tracee *k,
			struct tracee_time now, bool timed)
{
	uint64_t waited = now.wait - k->seen.wait, late;

	/* 0: this kernel does not report it. */
	if (!k->seen.turns || now.turns == k->seen.turns)
		return true;
	if (timed)
		return false;
	late = tracer_time(t).wait - k->asked_wait;
	return waited >= k->asked_ns - k->tick_ns &&
	       waited + late <= clock_now() - k->tick_ns + SWITCH_NS;
}

static int name_cb(void *ctx, const struct record *r, struct error *err)
{
	struct tracer *t = ctx;
	struct tracee *k = tracee_find(t, r->tid);

	if (!k || !strncmp(k->comm, r->comm.name, sizeof(k->comm) - 1))
		return 0;
	snprintf(k->comm, sizeof(k->comm), "%s", r->comm.name);
	return tracer_emit(t, r, err);
}

/* Returns the time at which the thread stopped: at the request, or when it next got a
 * CPU.  The tracer notices later.  The kernel counts the time in between as queued. */
static uint64_t stopped_since(const struct tracee *k, struct tracee_time now)
{
	uint64_t at = k->tick_ns + (now.wait - k->seen.wait);
	uint64_t latest = clock_now();

	if (!k->seen.turns || at < k->asked_ns)
		return k->asked_ns;
	return at < latest ? at : latest;
}

static void look_at_name(struct tracer *t, struct tracee *k,
			 const struct watch_place *at)
{
	if (at->time_ns < k->name_ns)
		return;
	k->name_ns = at->time_ns + NAME_NS;
	if (maps_watch_name(&t->watch, at, false, name_cb, t, &t->err) < 0)
		t->failed = true;
}

/* Commits the held sample, after the names and mappings that it needs. */
static void commit(struct tracer *t)
{
	const struct record *r = &t->held;
	bool copied = r->sample.copied;
	size_t stack = ptrace_stack_bytes(&r->sample);
	size_t frames = r->sample.frames ? r->sample.frame_bytes : 0;
	size_t size = copied ? stack + frames : sizeof(uint64_t);
	struct ptrace_entry *e = ptrace_ring_room(t->ring, size);

	if (!e) {
		atomic_fetch_add(&t->ring->shared->lost, 1);
		python_live_lost(&t->python, r->pid);
		return;
	}
	e->r = *r;
	if (copied) {
		memcpy(e->bytes, t->stack, r->sample.copy.size);
		if (frames)
			memcpy(e->bytes + stack, r->sample.frames, frames);
	} else {
		memcpy(e->bytes, &r->sample.copy.regs.r[UNWIND_RIP], size);
		e->r.sample.nuser = !r->sample.in_kernel;
	}
	ptrace_ring_commit(t->ring, e, size);
}

/* Reports the mappings of a sampled thread that are not known yet. */
static void look_at_maps(struct tracer *t, const struct watch_place *at)
{
	if (maps_watch_sample(&t->watch, at, t->held.sample.copy.regs.r[UNWIND_RIP],
			      tracer_emit, t, &t->err) < 0)
		t->failed = true;
}

/* The first tick comes within a period, at random.  At once it would always see how a
 * program begins, and count it for a whole period. */
void tracer_begin(struct tracer *t)
{
	if (t->sampling)
		return;
	t->sampling = true;
	t->next_ns = clock_now() + random_next(&t->random) % t->opts->period_ns;
}

void tracer_sample(struct tracer *t, struct tracee *k)
{
	struct record *r = &t->held;
	struct record_sample *s = &r->sample;
	struct tracee_time now;
	bool timed = false;
	size_t most;

	*r = (struct record){ .kind = RECORD_SAMPLE, .pid = k->pid,
			      .tid = k->tid, .cpu = SOURCE_NONE };
	t->holds = false;
	k->stopped_ns = 0;
	/* The registers show which call was interrupted. */
	if (!read_regs(k, s, &timed))
		return;
	now = tracee_time(k);
	if (!was_running(t, k, now, timed)) {
		t->credit_ns += 2 * t->opts->period_ns;
		return;
	}
	k->stopped_ns = stopped_since(k, now);
	tracer_move_next(k, s->in_kernel);
	s->weight = weigh(t, k, now);
	if (!s->weight || !t->sampling ||
	    atomic_load(&t->ring->shared->paused) ||
	    (s->in_kernel ? t->opts->no_kernel : t->opts->no_user))
		return;
	r->time_ns = clock_now();
	t->holds = true;
	s->copied = t->opts->copy_bytes != 0;
	if (!s->copied)
		return;
	most = copy_most(t);
	s->copy.size = read_stack(t, k, s->copy.regs.r[UNWIND_RSP], t->stack, most);
	s->copy.all = s->copy.size && s->copy.size < most;
	/* An interpreter's mapping must be known before the first read. */
	if (k->python && !maps_watch_knows(&t->watch, k->pid, s->copy.regs.r[UNWIND_RIP]))
		look_at_maps(t, &(struct watch_place){ k->pid, k->tid, clock_now() });
	tracer_python(t, k, s);
}

void tracer_sampled(struct tracer *t, struct tracee *k)
{
	struct watch_place at = { k->pid, k->tid, t->held.time_ns };
	struct record_sample *s = &t->held.sample;

	if (k->stopped_ns)
		k->halted_ns += clock_now() - k->stopped_ns;
	if (!t->holds)
		return;
	t->holds = false;
	s->halted_ns = k->halted_ns;
	k->halted_ns = 0;
	atomic_fetch_add_explicit(&t->ring->shared->weight, s->weight,
				  memory_order_relaxed);
	look_at_name(t, k, &at);
	look_at_maps(t, &at);
	commit(t);
}
