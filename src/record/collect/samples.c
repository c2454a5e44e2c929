// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes samples: their stacks, their threads, and which of them count. */
#include <string.h>

#include "record/collect/collector.h"

/* Names threads of the kernel itself, and exited tasks without a number
 * (perf_event_pid reports -1 for them).  In a pid namespace, everything outside also
 * has number 0. */
static const char *special_comm(const struct collector *c, uint32_t tid)
{
	if (tid == 0)
		return c->pid_ns ? "[outside or idle]" : "swapper";
	return tid == UINT32_MAX ? "[exited]" : NULL;
}

/* Returns the control group of a process as a string of the profile; PROF_NONE
 * if out of memory.  Where samples do not tell it, it is read once for each program
 * of a process that has samples.  A process that is gone by then has that of its
 * parent. */
static uint32_t cgroup_of(struct collector *c, struct process *proc,
			  const struct task *t)
{
	const char *known = t->cgroup ? cgroups_path(&c->cgroups, c->proc,
						     t->cgroup, proc->pid)
				      : NULL;
	struct buf found = { 0 };

	if (known) {
		proc->cgroup_read = true;
		return proc->cgroup = *known ? profile_str(c->profile, known)
					     : PROF_STR_EMPTY;
	}
	if (proc->cgroup_read || c->images.foreign_proc || !proc->pid)
		return proc->cgroup;
	proc->cgroup_read = true;
	cgroups_read(c->proc, proc->pid, &found);
	if (found.n > 1)	/* all kernel threads are in the root */
		proc->cgroup = profile_str(c->profile, buf_cstr(&found));
	if (found.failed)
		proc->cgroup = PROF_NONE;
	buf_fini(&found);
	return proc->cgroup;
}

/* Returns the str of an asyncio task's name.  Programs may name each task after its
 * work, so their number is limited. */
static uint32_t task_name(struct collector *c, const char *name)
{
	enum { TASK_NAMES_MAX = 4096 };
	uint32_t id = *name ? profile_str(c->profile, name) : PROF_STR_EMPTY;
	uint32_t *known;

	if (id == PROF_STR_EMPTY || id == PROF_NONE)
		return id;
	if (u64map_get(&c->task_names, id) == U64MAP_NONE) {
		if (c->task_names.n >= TASK_NAMES_MAX)
			return profile_str(c->profile, "[other tasks]");
		known = u64map_slot(&c->task_names, id);
		if (!known)
			return PROF_NONE;
		*known = 1;
	}
	return id;
}

/* Returns where the number of a thread's row with this asyncio task (a str), its
 * name and its control group is kept, or NULL. */
static uint32_t *row_of_task(struct collector *c, struct task *t, uint32_t task,
			     bool by_given)
{
	uint64_t key = hash_mix(hash_mix(t->pid, t->tid), hash_mix(task, t->start_ns));
	uint64_t moved_to = t->cgroup == t->first_cgroup ? 0 : t->cgroup;

	if (task == PROF_STR_EMPTY && !moved_to && !by_given)
		return &t->row;
	if (by_given)
		key = hash_mix(key, t->given);
	return u64map_slot(&c->task_rows, hash_mix(key, moved_to));
}

/* Returns the thread's row in the profile, made at its first sample. */
static uint32_t thread_row(struct collector *c, struct task *t,
			   struct process *proc, uint64_t time_ns, const char *task)
{
	const char *given = thread_names_shown(&c->thread_names, t);
	const char *name = special_comm(c, t->tid);
	struct prof_thread row = {
		.run = c->run, .pid = t->pid, .tid = t->tid,
		.parent = proc->parent,
		.start_ns = t->start_ns ? t->start_ns : time_ns,
		.task = task_name(c, task),
	};
	uint32_t *at = row_of_task(c, t, row.task, given != NULL);

	if (row.task == PROF_NONE || !at)
		return PROF_NONE;
	if (*at != UINT32_MAX)
		return *at;
	if (!name)
		name = given ? given : t->comm;
	row.comm = profile_str(c->profile, name);
	row.cgroup = cgroup_of(c, proc, t);
	if (row.comm == PROF_NONE || row.cgroup == PROF_NONE ||
	    vec_push(&c->profile->threads, row) < 0)
		return PROF_NONE;
	return *at = (uint32_t)(c->profile->threads_gone +
				c->profile->threads.n - 1);
}

static int self_samples_add(struct collector *c, uint32_t loc, uint32_t count)
{
	if (loc >= c->self_samples.n) {
		size_t n = c->profile->locs.n;

		if (vec_reserve(&c->self_samples, n) < 0)
			return -ERR_NOMEM;
		memset(c->self_samples.v + c->self_samples.n, 0,
		       (n - c->self_samples.n) * sizeof(*c->self_samples.v));
		c->self_samples.n = n;
	}
	c->self_samples.v[loc] += count;
	return 0;
}

/* Takes the name of a thread that its sample says.  Returns 0 or -ERR_NOMEM. */
static int take_thread_name(struct collector *c, const struct record *r)
{
	const char *name = python_take_thread_name(&c->unwinder.python);
	struct task *t = name ? processes_task(&c->processes, r->pid, r->tid) : NULL;

	return !name ? 0 : t ? thread_names_give(&c->thread_names, t, name) : -ERR_NOMEM;
}

/* Tells the source of processes that may soon have samples. */
static void foresee(struct collector *c, struct source_rows *rows)
{
	rows->foresees = false;
	for (size_t i = 0; i < c->processes.procs.n; i++) {
		const struct process *p = &c->processes.procs.v[i];

		if (p->maps)
			rows->foresee(rows, p->pid, p->maps);
	}
}

uint32_t collector_stack(struct collector *c, struct process *proc,
			 const struct record *r, uint32_t *loc)
{
	struct record_sample s;

	s = r->sample;
	stacks_at(&c->stacks, jit_follow_find(&c->jit, r->pid), r->time_ns);
	c->closer.keep_numbers |= s.rows != NULL;
	/* The stack was unwound by other mappings than those known now, so the
	 * locations of the callers are unknown. */
	if (s.rows && s.walked && !s.copied &&
	    !s.rows->same(s.rows, s.space, proc->maps, s.user, s.nuser)) {
		s.nuser = 1;
		s.end = record_end_of(PROF_MARK_BROKEN, PROF_END_CHANGED);
	}
	if (!s.copied)
		return stacks_add(&c->stacks, proc->maps, &s, loc);
	unwinder_sample(&c->unwinder, proc->maps, r->pid, r->tid, &s);
	if (s.rows && s.rows->foresees)
		foresee(c, s.rows);
	if (s.frames && take_thread_name(c, r) < 0)
		return PROF_NONE;
	return stacks_add(&c->stacks, proc->maps, &s, loc);
}

int collector_process(struct collector *c, uint32_t pid, struct process **out,
		      struct error *err)
{
	struct process *proc = processes_get(&c->processes, pid);

	if (proc && !proc->discovered && c->live) {
		int rc = collector_scan(c, pid, err);

		if (rc < 0)
			return rc;
		proc = processes_get(&c->processes, pid);
	}
	*out = proc;
	return proc ? 0 : collector_nomem(err);
}

/* Writes the held samples and forgets the nodes of their stacks. */
static int release_nodes(struct collector *c, struct error *err)
{
	struct profile *p = c->profile;
	int rc = collector_release(c, err);

	if (rc >= 0)
		rc = writer_flush(c->writer, err);
	if (rc < 0 || !p->nodes_kept)
		return rc;
	/* Samples that are held later need nodes that are in memory. */
	profile_nodes_written(p);
	profile_forget_nodes(p);
	stacks_forget(&c->stacks);
	deep_forget_nodes(&c->unwinder.deep);
	held_forget_nodes(&c->held);
	return 0;
}

static int write_sample(struct collector *c, const struct prof_sample *s,
			struct error *err)
{
	if (!c->writer)
		return 0;
	if (!c->held.on)
		return writer_sample(c->writer, s, err);
	if (vec_push(&c->held.rows, *s) < 0)
		return collector_nomem(err);
	if (c->held.rows.n < HELD_MAX &&
	    (!c->profile->nodes_kept || c->profile->nodes.n < HELD_NODES_MAX))
		return 0;
	return release_nodes(c, err);
}

int collector_leave_out(struct collector *c, uint32_t event, uint64_t n, uint64_t weight)
{
	while (c->left_out.n <= event)
		if (vec_push(&c->left_out, (struct left_out){ 0, 0 }) < 0)
			return -ERR_NOMEM;
	c->left_out.v[event].n += n;
	c->left_out.v[event].weight += weight;
	return 0;
}

/* Returns whether a process's path, which /proc told, is that of this control group, as
 * far as is known. */
static bool is_known_cgroup(struct collector *c, uint32_t pid, uint64_t id)
{
	const struct process *proc = processes_find(&c->processes, pid);
	const char *path = proc ? cgroups_path(&c->cgroups, c->proc, id, pid) : NULL;

	return !path || profile_str(c->profile, path) == proc->cgroup;
}

/* Notes the control group at a sample.  A thread has a row for each.  Waits have no ID:
 * a row that was made by one keeps the path that /proc told. */
static void see_cgroup(struct collector *c, struct task *t, uint64_t id)
{
	if (!id || id == t->cgroup)
		return;
	if (!t->first_cgroup &&
	    (t->row == UINT32_MAX || is_known_cgroup(c, t->pid, id)))
		t->first_cgroup = id;
	t->cgroup = id;
}

static int write_got(struct collector *c, const struct prof_sample *s,
		     struct error *err)
{
	c->got.v[s->event]++;
	c->samples++;
	return write_sample(c, s, err);
}

/* Writes `n` samples, two or more, of which the source knows the sum and the times of the
 * first and the last, evenly spread between these. */
static int write_spread(struct collector *c, const struct prof_sample *sum,
			uint64_t first_ns, uint32_t n, struct error *err)
{
	uint64_t all_ns = first_ns < sum->time_ns ? sum->time_ns - first_ns : 0;
	uint64_t step = all_ns / (n - 1), over = all_ns % (n - 1);
	int rc = 0;

	for (uint32_t i = 0, left = n - 1; i < n && rc >= 0; i++, left--) {
		struct prof_sample s = *sum;

		s.time_ns -= step * left + over * left / (n - 1);
		s.weight = sum->weight / n + (i < sum->weight % n);
		if (!collector_leaves_out(c, s.time_ns))
			rc = write_got(c, &s, err);
		else if (collector_leave_out(c, s.event, 1, s.weight) < 0)
			rc = collector_nomem(err);
	}
	return rc;
}

int collector_write_extra(struct collector *c, uint32_t pid, uint32_t tid,
			  const struct sample_extra *of, struct prof_sample *s,
			  uint32_t loc, struct error *err)
{
	struct process *proc = processes_get(&c->processes, pid);
	struct task *t = processes_task(&c->processes, pid, tid);

	if (of->count == 1 && collector_leaves_out(c, s->time_ns))
		return collector_leave_out(c, s->event, 1, s->weight) < 0
		       ? collector_nomem(err) : 0;
	if (!proc || !t)
		return collector_nomem(err);
	see_cgroup(c, t, of->cgroup);
	s->thread = thread_row(c, t, proc, s->time_ns, of->task);
	while (c->got.n <= s->event)
		if (vec_push(&c->got, 0) < 0)
			return collector_nomem(err);
	if (s->thread == PROF_NONE || s->stack == PROF_NONE ||
	    self_samples_add(c, loc, of->count) < 0)
		return collector_nomem(err);
	return of->count == 1 ? write_got(c, s, err)
			      : write_spread(c, s, of->first_ns, of->count, err);
}

int collector_write(struct collector *c, uint32_t pid, uint32_t tid,
		    struct prof_sample *s, uint32_t loc, struct error *err)
{
	static const struct sample_extra none = { "", 0, 1, 0 };

	return collector_write_extra(c, pid, tid, &none, s, loc, err);
}

static void move_self_sample(struct collector *c, uint32_t from, uint32_t to)
{
	if (from >= c->self_samples.n || self_samples_add(c, to, 1) < 0)
		return;
	c->self_samples.v[from] -= c->self_samples.v[from] > 0;
}

int collector_release(struct collector *c, struct error *err)
{
	struct held_samples *h = &c->held;
	const struct profile *p = c->profile;
	VEC(uint32_t) before = { NULL, 0, 0 };
	int rc = 0;

	if (!h->rows.n)
		return 0;
	if (vec_reserve(&before, h->rows.n) < 0)
		return collector_nomem(err);
	for (size_t i = 0; i < h->rows.n; i++)
		before.v[i] = h->rows.v[i].stack;
	if (held_resolve(h, &c->images, c->profile) < 0)
		rc = collector_nomem(err);
	for (size_t i = 0; i < h->rows.n && !rc; i++) {
		if (h->rows.v[i].stack != before.v[i])
			move_self_sample(c,
				p->nodes.v[before.v[i] - p->nodes_gone].loc,
				p->nodes.v[h->rows.v[i].stack - p->nodes_gone].loc);
		rc = c->writer ? writer_sample(c->writer, &h->rows.v[i], err) : 0;
	}
	h->rows.n = 0;
	vec_fini(&before);
	return rc;
}
