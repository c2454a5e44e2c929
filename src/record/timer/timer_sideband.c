// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts mappings, names, forks and exits reported by programs with timers. */
#include "record/timer/timer_sideband.h"

#include <stdio.h>
#include <string.h>

#include "profile/model.h"

#define LOADS_NS 100000000u	/* usual maximum time to load a library */
#define BEGIN_NS 50000000u	/* usual maximum time to start a program */
#define BEGIN_MAX_NS 30000000000u	/* maximum, with all that the program loads */
#define TICKS_EXACT_US 20000u

enum { OUTSIDE_MAX = 16 };	/* maximum number of names */

void timer_sideband_init(struct timer_sideband *n, const char *proc)
{
	memset(n, 0, sizeof(*n));
	maps_watch_init(&n->maps, proc);
}

void timer_sideband_fini(struct timer_sideband *n)
{
	maps_watch_fini(&n->maps);
	u64map_fini(&n->seen);
	vec_fini(&n->execs);
	vec_fini(&n->loads);
	vec_fini(&n->outside);
}

static int no_memory(struct timer_sideband *n)
{
	return error_set(n->err, ERR_NOMEM, "out of memory for programs");
}

static int deliver(struct timer_sideband *n, const struct record *r)
{
	int rc = n->cb(n->ctx, r, n->err);

	return rc < 0 ? rc : 0;
}

static struct record record_of(const struct timer_message *m,
			       enum record_kind kind, uint64_t time_ns)
{
	return (struct record){ .kind = kind, .pid = m->pid, .tid = m->tid,
				.event = SOURCE_NONE, .time_ns = time_ns };
}

static int emit_name(struct timer_sideband *n, const struct timer_message *m,
		     bool exec, uint64_t time_ns)
{
	struct record r = record_of(m, RECORD_COMM, time_ns);
	char name[TIMER_NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)(m->n < sizeof(name)
		 ? m->n : sizeof(name) - 1), m->text);
	r.comm.name = name;
	r.comm.exec = exec;
	return deliver(n, &r);
}

static int emit_fork(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	struct record r = record_of(m, RECORD_FORK, time_ns);
	uint32_t *seen = u64map_slot(&n->seen, m->pid);

	if (!seen)
		return no_memory(n);
	*seen = 1;
	r.fork.ppid = m->ppid;
	r.fork.ptid = m->ptid ? m->ptid : m->ppid;
	return deliver(n, &r);
}

static void exec_forget(struct timer_sideband *n, uint32_t pid)
{
	for (size_t i = 0; i < n->execs.n; i++)
		if (n->execs.v[i].pid == pid) {
			n->execs.v[i] = n->execs.v[--n->execs.n];
			return;
		}
}

/* Adds the name of a program that was not recorded, once. */
static int note_outside(struct timer_sideband *n, const struct timer_exec *e)
{
	for (size_t i = 0; i < n->outside.n; i++)
		if (!strcmp(n->outside.v[i].name, e->name))
			return 0;
	if (n->outside.n >= OUTSIDE_MAX)
		return 0;
	return vec_push(&n->outside, *e) < 0 ? no_memory(n) : 0;
}

static int exec_replace(struct timer_sideband *n, const struct timer_exec *e)
{
	size_t oldest = 0;
	int rc;

	for (size_t i = 1; i < n->execs.n; i++)
		if (n->execs.v[i].time_ns < n->execs.v[oldest].time_ns)
			oldest = i;
	rc = note_outside(n, &n->execs.v[oldest]);
	n->execs.v[oldest] = *e;
	return rc;
}

static int take_exec(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	struct timer_exec e = { .pid = m->pid, .cpu_us = m->cpu_us,
				.time_ns = time_ns,
				.other = m->flags & TIMER_OTHER };
	const char *name = m->text;
	size_t len = m->n;

	for (size_t i = 0; i < m->n; i++)
		if (m->text[i] == '/') {
			name = m->text + i + 1;
			len = m->n - i - 1;
		}
	snprintf(e.name, sizeof(e.name), "%.*s",
		 (int)(len < sizeof(e.name) ? len : sizeof(e.name) - 1), name);
	if (m->kind == TIMER_OUTSIDE_SPAWN)
		return note_outside(n, &e);
	exec_forget(n, m->pid);
	if (n->execs.n < TIMER_EXECS_MAX)
		return vec_push(&n->execs, e) < 0 ? no_memory(n) : 0;
	/* Most of them never began.  Remove one and keep its name. */
	return exec_replace(n, &e);
}

/*
 * exec and the loader run before a timer can.  Their total time is known, but not how
 * it was spent.  It is attributed to the loader's first instruction, and to the
 * kernel below that, in proportion to the kernel's ticks.  Times too short for ticks
 * stay unattributed: about half is the kernel's (execve, mappings, page faults).
 */
static void note_begun(struct timer_sideband *n, const struct timer_message *m,
		       uint64_t time_ns)
{
	struct timer_started *b = &n->begun[n->nbegun % TIMER_RINGS_MAX];
	uint32_t before = 0, all;
	uint64_t since = BEGIN_MAX_NS, parts = (uint64_t)m->user_us + m->sys_us;

	for (size_t i = 0; i < n->execs.n; i++)
		if (n->execs.v[i].pid == m->pid) {
			before = n->execs.v[i].cpu_us;
			since = time_ns - n->execs.v[i].time_ns;
		}
	all = m->cpu_us - before;
	/* A thread cannot run longer than the time that has passed. */
	if (!m->entry || !all || since > BEGIN_MAX_NS ||
	    (uint64_t)all * 1000 > since)
		return;
	*b = (struct timer_started){ .pid = m->pid, .entry = m->entry };
	if (all >= TICKS_EXACT_US && parts) {
		b->user_us = (uint32_t)((uint64_t)all * m->user_us / parts);
		b->sys_us = all - b->user_us;
	} else {
		b->unknown_us = all;
	}
	n->nbegun++;
}

/* Handles the start of a program.  One spawned without fork was unknown before. */
static int take_start(struct timer_sideband *n, const struct timer_message *m,
		      uint64_t time_ns)
{
	int rc = 0;

	note_begun(n, m, time_ns);
	exec_forget(n, m->pid);
	maps_watch_exit(&n->maps, m->pid);
	if (u64map_get(&n->seen, m->pid) == U64MAP_NONE)
		rc = emit_fork(n, m, time_ns);
	return rc < 0 ? rc : emit_name(n, m, true, time_ns);
}

static int take_fork(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	if (maps_watch_fork(&n->maps, m->pid, m->ppid) < 0)
		return no_memory(n);
	return emit_fork(n, m, time_ns);
}

static int take_thread(struct timer_sideband *n, const struct timer_message *m,
		       uint64_t time_ns)
{
	struct record r = record_of(m, RECORD_FORK, time_ns);

	r.fork.ppid = r.fork.ptid = m->pid;
	return deliver(n, &r);
}

static int emit_part(struct timer_sideband *n, const struct timer_message *m,
		     const struct timer_started *b, bool kernel, uint64_t time_ns)
{
	struct record r = record_of(m, RECORD_SAMPLE, time_ns);

	r.event = 0;
	r.sample.weight = 1000ull * (kernel ? b->sys_us : b->user_us);
	r.sample.in_kernel = kernel;
	r.sample.user = &b->entry;
	r.sample.nuser = 1;
	if (!r.sample.weight || (kernel ? n->no_kernel : n->no_user))
		return 0;
	n->weight += r.sample.weight;
	return deliver(n, &r);
}

/* Delivers time that cannot be attributed to code. */
static int emit_unlocated(struct timer_sideband *n, struct record r, const char *place,
			  uint64_t weight)
{
	r.event = 0;
	r.sample.weight = weight;
	r.sample.place = place;
	/* If only user or only kernel code is requested, unattributed time does not
	 * count. */
	if (!weight || n->no_kernel || n->no_user)
		return 0;
	n->weight += weight;
	return deliver(n, &r);
}

int timer_sideband_remainder(struct timer_sideband *n, uint64_t counted_ns,
			     uint64_t period_ns, uint64_t now_ns)
{
	struct record r = { .kind = RECORD_SAMPLE, .pid = UINT32_MAX,
			    .tid = UINT32_MAX, .time_ns = now_ns };

	if (counted_ns < n->weight + period_ns)
		return 0;
	n->remainder = counted_ns - n->weight;
	return emit_unlocated(n, r, PLACE_NOT_SAMPLED, n->remainder);
}

static int emit_started(struct timer_sideband *n, const struct timer_message *m,
			uint64_t time_ns)
{
	for (size_t i = 0; i < TIMER_RINGS_MAX; i++) {
		struct timer_started b = n->begun[i];
		int rc;

		if (b.pid != m->pid)
			continue;
		n->begun[i].pid = 0;
		if (time_ns < n->counts_from)
			return 0;
		rc = emit_part(n, m, &b, false, time_ns);
		if (rc >= 0)
			rc = emit_part(n, m, &b, true, time_ns);
		return rc < 0 ? rc : emit_unlocated(n, record_of(m, RECORD_SAMPLE,
								 time_ns),
						    PLACE_BEFORE_FIRST,
						    1000ull * b.unknown_us);
	}
	return 0;
}

static int take_maps(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	const struct watch_place at = { m->pid, m->tid, time_ns };
	int rc = maps_watch_text(&n->maps, &at, m->text, m->n, n->cb, n->ctx,
				 n->err);

	return rc < 0 ? rc : emit_started(n, m, time_ns);
}

static int take_load(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	struct timer_load l = { m->pid, time_ns + LOADS_NS };

	for (size_t i = 0; i < n->loads.n; i++)
		if (n->loads.v[i].pid == m->pid) {
			n->loads.v[i] = l;
			return 0;
		}
	if (n->loads.n >= TIMER_LOADS_MAX)
		return 0;	/* its samples will trigger a reading */
	return vec_push(&n->loads, l) < 0 ? no_memory(n) : 0;
}

static int take_sample(struct timer_sideband *n, const struct timer_message *m,
		       uint64_t time_ns)
{
	const struct watch_place at = { m->pid, m->tid, time_ns };
	struct record r = record_of(m, RECORD_SAMPLE, time_ns);
	uint64_t ip = m->sample.copied ? m->sample.copy.regs.r[UNWIND_RIP]
				       : m->sample.user[0];
	int rc;

	n->weight += m->sample.weight;
	if (m->sample.in_kernel ? n->no_kernel : n->no_user)
		return 0;
	rc = maps_watch_sample(&n->maps, &at, ip, n->cb, n->ctx, n->err);
	if (rc < 0)
		return rc;
	r.cpu = m->cpu;
	r.event = 0;
	r.sample = m->sample;
	return deliver(n, &r);
}

static int take_exit(struct timer_sideband *n, const struct timer_message *m,
		     uint64_t time_ns)
{
	struct record r = record_of(m, RECORD_EXIT, time_ns);

	maps_watch_exit(&n->maps, m->pid);
	r.tid = m->pid;
	return deliver(n, &r);
}

int timer_sideband_message(struct timer_sideband *n, const struct timer_message *m,
			   uint64_t time_ns)
{
	switch (m->kind) {
	case TIMER_SAMPLE:
		return take_sample(n, m, time_ns);
	case TIMER_START:
		return take_start(n, m, time_ns);
	case TIMER_MAPS:
		return take_maps(n, m, time_ns);
	case TIMER_FORK:
		return take_fork(n, m, time_ns);
	case TIMER_THREAD:
		return take_thread(n, m, time_ns);
	case TIMER_EXIT:
		return take_exit(n, m, time_ns);
	case TIMER_NAME:
		return emit_name(n, m, false, time_ns);
	case TIMER_LOAD:
		return take_load(n, m, time_ns);
	case TIMER_EXEC:
	case TIMER_OUTSIDE_SPAWN:
		return take_exec(n, m, time_ns);
	case TIMER_EXEC_FAILED:
		exec_forget(n, m->pid);
		break;
	}
	return 0;
}

int timer_sideband_loads(struct timer_sideband *n, uint64_t now_ns)
{
	for (size_t i = 0; i < n->loads.n;) {
		struct timer_load *l = &n->loads.v[i];
		const struct watch_place at = { l->pid, l->pid, now_ns };
		int rc = maps_watch_read(&n->maps, &at, n->cb, n->ctx, n->err);

		if (rc < 0)
			return rc;
		if (l->until_ns < now_ns)
			*l = n->loads.v[--n->loads.n];
		else
			i++;
	}
	return 0;
}

int timer_sideband_end(struct timer_sideband *n, uint64_t now_ns)
{
	int rc = 0;

	/* A program that has just begun may have much to load. */
	for (size_t i = 0; i < n->execs.n && !rc; i++)
		if (n->execs.v[i].time_ns + BEGIN_NS < now_ns)
			rc = note_outside(n, &n->execs.v[i]);
	n->execs.n = 0;
	return rc;
}
