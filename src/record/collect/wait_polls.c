// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the threads to poll, and polls them. */
#include "record/collect/wait_polls.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "launch/proc_read.h"
#include "launch/proc_text.h"
#include "record/collect/sleeping.h"
#include "record/source/clock_event.h"

/*
 * What threads wait for, by stack: the table wait_kinds of the profile.  A poll of one
 * wait tells the kind of all waits with the same stack.
 */

enum {
	/* Polls of a thread after a wait without a kind, and at most, if its waits are
	 * too short for them. */
	KIND_POLLS = 25,
	KIND_POLLS_MAX = 200,
	KINDS_MAX = 1 << 17,	/* maximum number of rows for kinds in a file */
	/* The same stack may read from different files.  This many of its
	 * waits are polled, then one of every this many. */
	KIND_OBJECTS = 16,
};

/* Returns whether to poll a wait at this stack for its kind. */
static bool stack_kinds_needed(struct collector *c, uint32_t stack)
{
	struct wait_samples *ws = &c->wait_samples;
	uint32_t n = u64map_get(&ws->kinds, (uint64_t)stack << 16);

	if (n == U64MAP_NONE)
		return c->profile->wait_kinds.n < KINDS_MAX;
	return n < KIND_OBJECTS ||
	       (n == KIND_OBJECTS && !(random_next(&ws->random) % KIND_OBJECTS));
}

/* Adds a kind to those of a stack. */
static int add_kind(struct collector *c, uint32_t stack, wait_kind kind,
		    struct error *err)
{
	struct u64map *kinds = &c->wait_samples.kinds;
	struct prof_wait_kind row = { .node = stack };
	uint32_t *n = u64map_slot(kinds, (uint64_t)stack << 16), *slot;
	char text[32];

	/* A stack is always in the same call. */
	if (n && !wait_kind_lacks_object(kind)) {
		if (*n == U64MAP_NONE || !(kind >> 8))
			*n = kind >> 8 ? 1 : KIND_OBJECTS + 1;
		else if (*n < KIND_OBJECTS)
			++*n;
	}
	slot = u64map_slot(kinds, (uint64_t)stack << 16 | kind);
	if (slot && *slot != U64MAP_NONE)
		return 0;
	if (slot)
		*slot = 1;
	wait_kind_text(kind, text, sizeof(text));
	row.kind = profile_str(c->profile, text);
	return !slot || row.kind == PROF_NONE ||
	       vec_push(&c->profile->wait_kinds, row) < 0
	       ? error_set(err, ERR_NOMEM, "out of memory for waits") : 0;
}

int wait_polls_kind(struct collector *c, const struct wait *w, uint32_t stack,
		    struct error *err)
{
	struct wait_samples *ws = &c->wait_samples;
	size_t n = c->profile->wait_kinds.n;
	struct waiter *t;
	int rc;

	if (w->runnable)
		return 0;
	t = ws->polled ? NULL : waits_find(&c->waits, w->tid);
	if (w->kind) {
		rc = n >= KINDS_MAX ? 0 : add_kind(c, stack, w->kind, err);
		if (t && c->profile->wait_kinds.n > n)
			t->kind_polls = 0;
		if (rc < 0 || !wait_kind_lacks_object(w->kind))
			return rc;
	}
	if (!t || w->found > WAIT_POLLED || t->kind_polls >= KIND_POLLS_MAX ||
	    !stack_kinds_needed(c, stack))
		return 0;
	t->kind_left = KIND_POLLS;
	ws->kinds_wanted_ns = w->end_ns;
	return 0;
}

enum {
	POLL_STACK = 16 << 10,	/* bytes read at once; the rest is read as needed */
	POLLS_A_ROUND = 64,
};
/* Shorter waits are not worth a poll: most have ended by then. */
#define POLL_AFTER_NS 500000u
/* Age of a wait up to which its thread is polled again, as it may be in its next wait by
 * now: records arrive one or two rounds late, and a wait of 3 ms has ended by then. */
#define POLL_AGAIN_NS 10000000u

static size_t read_stack(uint32_t pid, uint64_t sp, uint8_t *to, size_t size)
{
	/* its memory may end earlier */
	ssize_t got = proc_memory_pages(pid, sp, to, size);

	return got < 0 ? 0 : (size_t)got & ~(size_t)7;
}

static bool is_mapped(const struct profile *p, uint32_t loc)
{
	return p->images.v[p->locs.v[loc].image].kind != PROF_IMAGE_UNKNOWN;
}

/* Returns the number of the asyncio task that the thread of the last stack runs; 0:
 * none. */
static uint32_t task_of(struct collector *c)
{
	enum { TASKS_MAX = 4096 };
	const char *name = python_task(&c->unwinder.python);
	uint32_t id = c->wait_tasks.str.n < TASKS_MAX ? strtab_add(&c->wait_tasks, name)
						      : strtab_find(&c->wait_tasks, name);

	if (id == UINT32_MAX)
		id = strtab_add(&c->wait_tasks, "[other tasks]");
	return id == UINT32_MAX ? 0 : id;
}

/* Reads the stack of a sleeping thread.  Returns 1, 0 if it does not sleep or cannot
 * be read, or an error. */
static int see(struct collector *c, uint32_t pid, uint32_t tid, bool *closed,
	       struct wait_stack *seen, struct error *err)
{
	struct record r = { .kind = RECORD_SAMPLE, .pid = pid, .tid = tid };
	struct record_copy *copy = &r.sample.copy;
	uint64_t bytes[POLL_STACK / 8];
	struct sleeping now;
	struct process *proc;
	bool asleep;
	int rc;

	seen->from_ns = clock_now();
	asleep = sleeping_read(c->proc, pid, tid, &now);
	*closed = now.closed;
	if (!asleep)
		return 0;
	seen->kind = now.kind;
	copy->regs = now.regs;
	copy->bytes = (const uint8_t *)bytes;
	copy->size = read_stack(pid, copy->regs.r[UNWIND_RSP],
				(uint8_t *)bytes, sizeof(bytes));
	if (!copy->size)
		return 0;
	r.sample.copied = true;
	rc = collector_process(c, pid, &proc, err);
	if (rc < 0)
		return rc;
	python_live_maps(&c->python_live, pid, proc->maps);
	seen->more = python_live_frames(&c->python_live, pid, tid, &r.sample);
	if (!seen->more)
		r.sample.frames = NULL;
	seen->stack = collector_stack(c, proc, &r, &seen->loc);
	seen->task = seen->more ? task_of(c) : 0;
	seen->to_ns = clock_now();
	if (seen->stack == PROF_NONE)
		return error_set(err, ERR_NOMEM, "out of memory for stacks");
	/* Records of its mappings have not arrived yet. */
	return is_mapped(c->profile, seen->loc);
}

/* Polls a thread that seems to sleep.  The times of its switches, which arrive later,
 * show whether it slept for the whole poll. */
static int poll_stack(struct collector *c, size_t i, struct error *err)
{
	struct waiter *t = &c->waits.threads.v[i];
	struct wait_stack seen = { 0 };
	int rc = see(c, t->pid, t->tid, &t->closed, &seen, err);

	if (rc > 0)
		waits_add_poll(&c->waits.threads.v[i], &seen);
	return rc < 0 ? rc : 0;
}

/* The same, but only for the kind of its wait. */
static void poll_kind(struct collector *c, struct waiter *t)
{
	struct wait_stack seen = { .no_stack = true, .from_ns = clock_now() };
	struct sleeping now;
	bool asleep = sleeping_read(c->proc, t->pid, t->tid, &now);

	t->closed = now.closed;
	t->kind_left -= t->kind_left > 0;
	t->kind_polls++;
	seen.kind = now.kind;
	seen.to_ns = clock_now();
	if (asleep && seen.kind)
		waits_add_poll(t, &seen);
}

static void read_stolen_time(struct collector *c)
{
	enum { EACH_NS = 100000000 };
	long ticks = sysconf(_SC_CLK_TCK);
	char text[256];
	ssize_t n = proc_beginning(text, sizeof(text), "%s/stat", c->proc);

	if (ticks > 0)
		polled_waits_stolen(&c->polled_waits,
				    proc_stat_stolen(text, n < 0 ? 0 : (size_t)n) *
				    (SECOND / (uint64_t)ticks));
	c->wait_samples.next_stolen_ns = clock_now() + EACH_NS;
}

static void request_mappings(struct collector *c, uint32_t pid)
{
	struct process *proc = processes_find(&c->processes, pid);

	if (proc)
		proc->discovered = false;
}

/* Polls a thread.  If it is not asleep, its data is used at a later poll. */
static int poll_thread(struct collector *c, uint32_t pid, uint32_t tid,
		       struct error *err)
{
	struct polled_thread *t = polled_waits_thread(&c->polled_waits, pid, tid, err);
	struct wait_poll p = { 0 }, after = { 0 };
	struct wait_stack seen = { 0 };
	bool closed = false, kernel, slept;
	int rc;

	if (!t)
		return -err->code;
	t->round = c->wait_samples.rounds;
	if (!sleeping_schedstat(c->proc, pid, tid, &p))
		return 0;
	/* It has not run since. */
	p.asleep = t->asleep.looked && t->asleep.turns == p.turns;
	if (p.asleep)
		return polled_waits_poll(&c->polled_waits, t, &p, err);
	rc = see(c, pid, tid, &closed, &seen, err);
	if (rc < 0 || !sleeping_schedstat(c->proc, pid, tid, &after))
		return rc < 0 ? rc : 0;
	/* The records of its mappings may arrive only when it runs again.  They are
	 * therefore read from /proc, once per wait. */
	if (!rc && seen.to_ns && t->asleep.turns != after.turns)
		request_mappings(c, pid);
	slept = after.turns == p.turns && after.ran_ns == p.ran_ns;
	after.looked = rc && slept;
	after.asleep = closed ? sleeping_is_asleep(sleeping_state(
				c->proc, pid, tid, &kernel))
			      : seen.to_ns && slept;
	after.stack = seen.stack;
	after.loc = seen.loc;
	after.task = seen.task;
	after.kind = seen.kind;
	return polled_waits_poll(&c->polled_waits, t, &after, err);
}

static int poll_process(struct collector *c, uint32_t pid, struct error *err)
{
	char path[64];
	uint32_t tid;
	int rc = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%u/task", c->proc, pid);
	d = opendir(path);
	while (rc >= 0 && (tid = proc_next(d)))
		rc = poll_thread(c, pid, tid, err);
	if (d)
		closedir(d);
	return rc;
}

/* Ends the waits of threads that were not seen in this round, or of all. */
static int end_polled(struct collector *c, bool all, struct error *err)
{
	struct polled_waits *w = &c->polled_waits;
	int rc = 0;

	for (size_t i = 0; i < w->threads.n && rc >= 0; i++)
		if (w->threads.v[i].tid &&
		    (all || w->threads.v[i].round != c->wait_samples.rounds))
			rc = polled_waits_end(w, &w->threads.v[i], err);
	return rc;
}

/* Polls all threads, using at most two percent of the time. */
static int poll_round(struct collector *c, struct error *err)
{
	enum { EACH_NS = 1000000000 / CLOCK_LOOKS, SHARE = 50 };
	struct wait_samples *s = &c->wait_samples;
	uint64_t start = clock_now(), took, most;
	int rc = 0;

	s->rounds++;
	if (start >= s->next_stolen_ns)
		read_stolen_time(c);
	for (size_t i = 0; i < c->processes.procs.n && rc >= 0; i++)
		if (c->processes.procs.v[i].pid &&
		    c->processes.procs.v[i].pid != (uint32_t)getpid())
			rc = poll_process(c, c->processes.procs.v[i].pid, err);
	if (rc >= 0)
		rc = end_polled(c, false, err);
	took = clock_now() - start;
	/* A round that reads a file for the first time is not representative. */
	most = 2 * s->poll_took_ns + 100000;
	took = (7 * s->poll_took_ns + (took < most ? took : most)) / 8;
	s->poll_took_ns = took;
	s->next_poll_ns = start + (took * SHARE > EACH_NS ? took * SHARE
							  : EACH_NS);
	return rc;
}

/* A sample at the switch lacks Python's functions.  A sleeping thread's frames can
 * still be read, because they do not change. */
static bool has_more(struct collector *c, const struct waiter *t)
{
	const struct process *proc = processes_find(&c->processes, t->pid);

	if (!proc)
		return false;
	python_live_maps(&c->python_live, t->pid, proc->maps);
	if (!python_live_knows(&c->python_live, t->pid))
		return false;
	c->wait_samples.python = true;
	return true;
}

/* What to poll a thread for. */
enum poll_for { POLL_FOR_NOTHING, POLL_FOR_KIND, POLL_FOR_STACK };

static enum poll_for what_to_poll(struct collector *c, const struct waiter *t,
				  uint64_t now_ns)
{
	/* It may be asleep by now, or in another wait: its records arrive later. */
	enum poll_for later = t->kind_left ? POLL_FOR_KIND : POLL_FOR_NOTHING;

	if (!t->tid || t->hidden || t->closed)
		return POLL_FOR_NOTHING;
	if (c->wait_samples.polls && (t->state != WAITER_OUT ||
				      now_ns <= t->since_ns + POLL_AGAIN_NS))
		return POLL_FOR_STACK;
	if (t->state != WAITER_OUT || t->runnable || t->woken_ns ||
	    now_ns <= t->since_ns + POLL_AFTER_NS)
		return later;
	if (!waits_has_poll(t) && (!t->sampled || has_more(c, t)))
		return POLL_FOR_STACK;
	if (!t->sampled || waits_has_kind(t))
		return later;
	return stack_kinds_needed(c, t->left.stack) ? POLL_FOR_KIND : later;
}

int wait_polls_idle(struct collector *c, uint64_t now_ns, struct error *err)
{
	size_t n = c->waits.threads.n, most = POLLS_A_ROUND;
	uint32_t *next = &c->wait_samples.next_poll;
	int rc = 0;

	if (c->wait_samples.polled)
		return c->wait_samples.polling &&
		       now_ns >= c->wait_samples.next_poll_ns
		       ? poll_round(c, err) : 0;

	for (size_t k = 0; k < n && most && rc >= 0; k++) {
		size_t i = (*next + k) % n;
		enum poll_for what;

		what = what_to_poll(c, &c->waits.threads.v[i], now_ns);
		if (what == POLL_FOR_NOTHING)
			continue;
		most--;
		if (what == POLL_FOR_KIND)
			poll_kind(c, &c->waits.threads.v[i]);
		else
			rc = poll_stack(c, i, err);
		if (!most)
			*next = (uint32_t)(i + 1);
	}
	return rc;
}

int wait_polls_end(struct collector *c, struct error *err)
{
	read_stolen_time(c);
	return end_polled(c, true, err);
}

int wait_polls_toggle(struct collector *c, bool on, struct error *err)
{
	bool was = c->wait_samples.polling;

	c->wait_samples.polling = on;
	if (on)
		read_stolen_time(c);
	return was && !on ? wait_polls_end(c, err) : 0;
}
