// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns waits into samples of the profile, and looks at threads that sleep. */
#include "record/collect_waits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "symbolize/symbolize.h"

enum {
	LOOK_STACK = 16 << 10,	/* read at once; the rest as it is needed */
	KERNEL_MOST = 128,	/* frames of the kernel */
	MOST = 50000,		/* waits written a second */
};
/* Shorter waits are not worth a look: most have ended by then. */
#define LOOK_AFTER_NS 1000000u
#define THINNING_LEAST_NS 1000u
#define SECOND_NS 1000000000u

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* xorshift64*, S. Vigna 2014. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* Whether a wait is written, and with which weight. */
static bool keep(struct wait_samples *s, uint64_t length, uint64_t *weight)
{
	*weight = length;
	if (length >= s->thinning_ns)
		return true;
	*weight = s->thinning_ns;
	return next_random(&s->random) % s->thinning_ns < length;
}

/* Twice as thin while too much is written. */
static void adapt(struct wait_samples *s, uint64_t time_ns)
{
	if (time_ns - s->second_ns >= SECOND_NS) {
		s->second_ns = time_ns;
		s->written = 0;
	}
	if (++s->written <= s->most)
		return;
	s->thinning_ns = s->thinning_ns ? 2 * s->thinning_ns
					: THINNING_LEAST_NS;
	s->written = s->most / 2;
}

static uint32_t place(struct collector *c, enum wait_found found,
		      struct process *proc, uint32_t *loc)
{
	struct record_sample s = {
		.place = found == WAIT_STARTING ? PLACE_STARTING
			 : found == WAIT_UNKNOWN ? PLACE_SWITCHES_LOST
			 : PLACE_NO_STACK,
	};

	return stacks_add(&c->stacks, proc->maps, &s, loc);
}

/* Where a preempted thread was, without what the kernel did to preempt it. */
static void leave_kernel(const struct profile *p, uint32_t *stack,
			 uint32_t *loc)
{
	uint32_t node = *stack;

	while (node && !prof_is_mark(p->nodes.v[node].loc) &&
	       prof_is_kernel(&p->images.v[p->locs.v[p->nodes.v[node].loc]
						   .image]))
		node = p->nodes.v[node].parent;
	if (!node || prof_is_mark(p->nodes.v[node].loc))
		return;
	*stack = node;
	*loc = p->nodes.v[node].loc;
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
	struct process *proc;
	int rc;

	ws->n++;
	ws->ns[w->found] += length;
	if (w->runnable)
		ws->runnable_ns += length;
	if (!keep(ws, length, &s.weight))
		return 0;
	adapt(ws, w->end_ns);
	if (w->runnable && w->found == WAIT_EXACT)
		leave_kernel(c->profile, &s.stack, &loc);
	if (w->found > WAIT_LOOKED) {
		rc = collector_process(c, w->pid, &proc, err);
		if (rc < 0)
			return rc;
		s.stack = place(c, w->found, proc, &loc);
	}
	return collector_write(c, w->pid, w->tid, &s, loc, err);
}

uint64_t collect_waits_ns(const struct collector *c, size_t event)
{
	const struct wait_samples *s = &c->wait_samples;
	uint64_t sum = 0;

	for (size_t i = 0; i < WAIT_FOUND_KINDS; i++)
		sum += s->ns[i];
	return event == s->runnable ? s->runnable_ns : sum - s->runnable_ns;
}

int collect_waits_facts(struct collector *c)
{
	static const char *const keys[WAIT_FOUND_KINDS] = {
		[WAIT_EXACT] = "wait_ns_exact", [WAIT_LOOKED] = "wait_ns_looked",
		[WAIT_NO_STACK] = "wait_ns_no_stack",
		[WAIT_STARTING] = "wait_ns_starting",
		[WAIT_UNKNOWN] = "wait_ns_unknown",
	};
	char text[32];
	int rc = 0;

	for (size_t i = 0; i < WAIT_FOUND_KINDS && rc >= 0; i++) {
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)c->wait_samples.ns[i]);
		rc = profile_set_env(c->profile, PROF_NONE, keys[i], text);
	}
	if (rc >= 0 && c->wait_samples.thinning_ns) {
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)c->wait_samples.thinning_ns);
		rc = profile_set_env(c->profile, PROF_NONE, "wait_thinning_ns",
				     text);
	}
	return rc;
}

/* Where the kernel's scheduler lies; 0 where the kernel hides that. */
static void find_scheduler(struct wait_samples *s, const char *proc)
{
	struct buf b = { 0 };
	const char *start, *end;
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	if (!io_read_file(path, 512 << 20, &b, NULL)) {
		const char *text = buf_cstr(&b);

		start = strstr(text, " __sched_text_start\n");
		end = strstr(text, " __sched_text_end\n");
		while (start && start > text && start[-1] != '\n')
			start--;
		while (end && end > text && end[-1] != '\n')
			end--;
		s->sched_start = start ? strtoull(start, NULL, 16) : 0;
		s->sched_end = end ? strtoull(end, NULL, 16) : 0;
	}
	buf_fini(&b);
}

void collect_waits_begin(struct collector *c, const struct source *src)
{
	struct wait_samples *s = &c->wait_samples;

	if (s->on || !src->waits)
		return;
	*s = (struct wait_samples){
		.on = true, .looks = !src->wait_stacks,
		.blocked = src->blocked, .runnable = src->runnable,
		.random = 0x9e3779b97f4a7c15ull, .most = MOST,
	};
	if (src->wait_stacks)
		find_scheduler(s, c->proc);
	c->waits.cb = take_wait;
	c->waits.ctx = c;
}

/* The kernel's part without the scheduler's, as /proc/PID/wchan has it: what the
 * thread waits in; nothing where the kernel does not name it.  `room` holds
 * KERNEL_MOST addresses. */
static void trim_kernel(const struct wait_samples *s, struct record_sample *in,
			uint64_t *room)
{
	uint32_t n = 0;

	if (!s->sched_start)
		in->nkernel = 0;
	while (n < in->nkernel && in->kernel[n] >= s->sched_start &&
	       in->kernel[n] < s->sched_end)
		n++;
	in->kernel += n;
	in->nkernel -= n;
	if (!n || !in->nkernel)
		return;
	if (in->nkernel > KERNEL_MOST)
		in->nkernel = KERNEL_MOST;
	memcpy(room, in->kernel, in->nkernel * sizeof(*room));
	/* What is innermost now was called. */
	room[0]--;
	in->kernel = room;
}

int collect_wait_sample(struct collector *c, struct process *proc,
			const struct record *r, struct error *err)
{
	struct record own = *r;
	struct wait_stack s = { 0 };
	uint64_t kernel[KERNEL_MOST];
	struct waiter *t;
	int rc;

	if (!r->pid || r->pid == UINT32_MAX)
		return 0;
	/* The scheduler is where all threads leave their processors. */
	trim_kernel(&c->wait_samples, &own.sample, kernel);
	s.stack = collector_stack(c, proc, &own, &s.loc);
	if (s.stack == PROF_NONE)
		return error_set(err, ERR_NOMEM, "out of memory for stacks");
	rc = waits_sample(&c->waits, r->pid, r->tid, &s, err);
	t = waits_find(&c->waits, r->tid);
	if (t)
		t->hidden = !own.sample.copied && !own.sample.nuser;
	return rc;
}

int collect_switch(struct collector *c, const struct record *r,
		   struct error *err)
{
	if (r->kind == RECORD_SWITCH_GAP)
		return waits_lost(&c->waits, r->time_ns, err);
	/* The idle task, and those that have no number any more. */
	if (!r->tid || r->tid == UINT32_MAX)
		return 0;
	return waits_switch(&c->waits, r->pid, r->tid, r->time_ns,
			    r->change.out, r->change.preempted, err);
}

/* The first blank-separated word behind the name in /proc/PID/task/TID/stat. */
static char state_of(const struct collector *c, uint32_t pid, uint32_t tid)
{
	char path[96], text[512];
	const char *name;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/task/%u/stat", c->proc, pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	name = strrchr(text, ')');
	return name && name[1] == ' ' ? name[2] : 0;
}

int collect_waits_asleep(struct collector *c, uint64_t time_ns,
			 struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < c->processes.tasks.n && rc >= 0; i++) {
		const struct task t = c->processes.tasks.v[i];
		char state;

		if (!t.tid || t.tid == UINT32_MAX)
			continue;
		state = state_of(c, t.pid, t.tid);
		if (state == 'S' || state == 'D')
			rc = waits_asleep(&c->waits, t.pid, t.tid, time_ns,
					  err);
	}
	return rc;
}

/* "NUMBER ARGUMENT*6 SP PC", or "-1 SP PC" outside of a system call, or "running". */
static bool read_registers(const struct collector *c, const struct waiter *t,
			   struct unwind_regs *regs)
{
	static const uint8_t arguments[] = {
		UNWIND_RDI, UNWIND_RSI, UNWIND_RDX, UNWIND_R8 + 2, UNWIND_R8,
		UNWIND_R8 + 1,
	};
	unsigned long long v[9];
	char path[96], text[256], *p = text, *end;
	size_t words = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/task/%u/syscall", c->proc, t->pid,
		 t->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = 0;
	if (!strncmp(text, "running", 7))
		return false;
	strtoll(p, &end, 10);
	while (end > p && words < 9) {
		p = end;
		v[words] = strtoull(p, &end, 0);
		words += end > p;
	}
	if (words != 2 && words != 8)
		return false;
	memset(regs, 0, sizeof(*regs));
	regs->r[UNWIND_RSP] = v[words - 2];
	regs->r[UNWIND_RIP] = v[words - 1];
	regs->known = 1u << UNWIND_RSP | 1u << UNWIND_RIP;
	for (size_t i = 0; words == 8 && i < sizeof(arguments); i++) {
		regs->r[arguments[i]] = v[i];
		regs->known |= 1u << arguments[i];
	}
	return regs->r[UNWIND_RSP] && regs->r[UNWIND_RIP];
}

static size_t read_stack(uint32_t pid, uint64_t sp, uint8_t *to, size_t size)
{
	/* Where its memory ends before, page by page. */
	struct iovec local = { to, size }, remote[LOOK_STACK / 4096 + 1];
	size_t n = 0;
	uint64_t at = sp;
	ssize_t got;

	while (at < sp + size && n < sizeof(remote) / sizeof(remote[0])) {
		uint64_t end = (at | 4095) + 1;

		if (end > sp + size || end < at)
			end = sp + size;
		remote[n++] = (struct iovec){ (void *)(uintptr_t)at,
					      (size_t)(end - at) };
		at = end;
	}
	got = process_vm_readv((pid_t)pid, &local, 1, remote, n, 0);
	return got < 0 ? 0 : (size_t)got & ~(size_t)7;
}

/* One look at a thread that sleeps, as far as we know.  Whether it did all the time
 * is told by the times of its switches, which come later. */
static int look(struct collector *c, size_t i, struct error *err)
{
	struct waiter *t = &c->waits.threads.v[i];
	struct record r = { .kind = RECORD_SAMPLE, .pid = t->pid,
			    .tid = t->tid };
	struct record_copy *copy = &r.sample.copy;
	struct wait_stack seen = { .from_ns = clock_now() };
	uint64_t bytes[LOOK_STACK / 8];
	struct process *proc;
	int rc;

	t->look = (struct wait_stack){ .from_ns = seen.from_ns };
	if (!read_registers(c, t, &copy->regs))
		return 0;
	copy->bytes = (const uint8_t *)bytes;
	copy->size = read_stack(t->pid, copy->regs.r[UNWIND_RSP],
				(uint8_t *)bytes, sizeof(bytes));
	if (!copy->size)
		return 0;
	r.sample.copied = true;
	rc = collector_process(c, t->pid, &proc, err);
	if (rc < 0)
		return rc;
	seen.stack = collector_stack(c, proc, &r, &seen.loc);
	seen.to_ns = clock_now();
	if (seen.stack == PROF_NONE)
		return error_set(err, ERR_NOMEM, "out of memory for stacks");
	t = &c->waits.threads.v[i];
	t->look = seen;
	return 0;
}

int collect_waits_rest(struct collector *c, uint64_t now_ns, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < c->waits.threads.n && rc >= 0; i++) {
		const struct waiter *t = &c->waits.threads.v[i];

		/* Once for each wait; one that found it running, again. */
		if (!t->tid || t->state != WAITER_OUT || t->runnable ||
		    t->sampled || t->hidden ||
		    (t->look.to_ns && t->look.from_ns > t->since_ns) ||
		    now_ns < t->since_ns + LOOK_AFTER_NS)
			continue;
		rc = look(c, i, err);
	}
	return rc;
}
