// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns records of a source into rows of the profile. */
#include "record/collect/collector.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/collect/collect_waits.h"
#include "record/collect/kernel_code.h"
#include "record/collect/hugepage_text.h"

/* Time for which a thread may still get samples after its end. */
#define GONE_NS 2000000000u
/* Time for which pages of files read for tables are kept. */
#define RELEASE_NS 250000000u
#define RELEASE_CALM_NS 60000000000u
#define RELEASE_CALM_BYTES (24ull << 20)

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory while recording");
}

int collector_init(struct collector *c, struct profile *p, const char *proc,
		   const char *sysfs, struct error *err)
{
	memset(c, 0, sizeof(*c));
	c->profile = p;
	c->proc = proc;
	c->sysfs = sysfs;
	if (images_init(&c->images, p, proc) < 0)
		return no_memory(err);
	python_live_init(&c->python_live, &c->images, proc);
	if (kernel_maps_init(&c->kernel, &c->images, proc, sysfs,
			     &c->processes.generation) < 0 ||
	    stacks_init(&c->stacks, p, &c->images, &c->kernel) < 0 ||
	    unwinder_init(&c->unwinder, &c->images) < 0 ||
	    thread_names_init(&c->thread_names) < 0 || strtab_init(&c->wait_tasks) < 0) {
		collector_fini(c);
		return no_memory(err);
	}
	return 0;
}

void collector_fini(struct collector *c)
{
	stacks_fini(&c->stacks);
	unwinder_fini(&c->unwinder);
	image_closer_fini(&c->closer);
	kernel_maps_fini(&c->kernel);
	processes_fini(&c->processes);
	images_fini(&c->images);
	vec_fini(&c->self_samples);
	held_fini(&c->held);
	jit_follow_fini(&c->jit);
	vec_fini(&c->got);
	vec_fini(&c->left_out);
	waits_fini(&c->waits);
	u64map_fini(&c->wait_samples.kinds);
	polled_waits_fini(&c->polled_waits);
	strtab_fini(&c->wait_tasks);
	python_live_fini(&c->python_live);
	latency_fini(&c->latency);
	thread_names_fini(&c->thread_names);
	u64map_fini(&c->task_rows);
	u64map_fini(&c->task_names);
	cgroups_fini(&c->cgroups);
	if (c->statm > 0)
		close(c->statm);
}

void collector_new_run(struct collector *c, uint32_t run)
{
	c->run = run;
	processes_clear(&c->processes);
	waits_clear(&c->waits);
	polled_waits_clear(&c->polled_waits);
	collector_forget_tasks(c);
}

void collector_forget_tasks(struct collector *c)
{
	u64map_clear(&c->task_rows);
	u64map_clear(&c->task_names);
}

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
	return proc ? 0 : no_memory(err);
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
		return no_memory(err);
	if (c->held.rows.n < HELD_MAX &&
	    (!c->profile->nodes_kept || c->profile->nodes.n < HELD_NODES_MAX))
		return 0;
	return release_nodes(c, err);
}

static bool is_left_out(const struct collector *c, uint64_t time_ns)
{
	return time_ns < c->from_ns || (c->until_ns && time_ns >= c->until_ns);
}

static int leave_out(struct collector *c, uint32_t event, uint64_t n,
		     uint64_t weight)
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

/* Context of write_of_task. */
struct task_part {
	const char *task;	/* asyncio task, or "" */
	uint64_t cgroup;	/* ID, or 0: as before */
	uint32_t count;		/* as in record_sample, but not 0 */
	uint64_t first_ns;
};

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
		if (!is_left_out(c, s.time_ns))
			rc = write_got(c, &s, err);
		else if (leave_out(c, s.event, 1, s.weight) < 0)
			rc = no_memory(err);
	}
	return rc;
}

static int write_of_task(struct collector *c, uint32_t pid, uint32_t tid,
			 struct task_part of, struct prof_sample *s, uint32_t loc,
			 struct error *err)
{
	struct process *proc = processes_get(&c->processes, pid);
	struct task *t = processes_task(&c->processes, pid, tid);

	if (is_left_out(c, s->time_ns) && of.count == 1)
		return leave_out(c, s->event, 1, s->weight) < 0 ? no_memory(err)
								: 0;
	if (!proc || !t)
		return no_memory(err);
	see_cgroup(c, t, of.cgroup);
	s->thread = thread_row(c, t, proc, s->time_ns, of.task);
	while (c->got.n <= s->event)
		if (vec_push(&c->got, 0) < 0)
			return no_memory(err);
	if (s->thread == PROF_NONE || s->stack == PROF_NONE ||
	    self_samples_add(c, loc, of.count) < 0)
		return no_memory(err);
	return of.count == 1 ? write_got(c, s, err)
			     : write_spread(c, s, of.first_ns, of.count, err);
}

int collector_write(struct collector *c, uint32_t pid, uint32_t tid,
		    struct prof_sample *s, uint32_t loc, struct error *err)
{
	return collector_write_task(c, pid, tid, "", s, loc, err);
}

int collector_write_task(struct collector *c, uint32_t pid, uint32_t tid,
			 const char *task, struct prof_sample *s, uint32_t loc,
			 struct error *err)
{
	return write_of_task(c, pid, tid, (struct task_part){ task, 0, 1, 0 }, s, loc, err);
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
		return no_memory(err);
	for (size_t i = 0; i < h->rows.n; i++)
		before.v[i] = h->rows.v[i].stack;
	if (held_resolve(h, &c->images, c->profile) < 0)
		rc = no_memory(err);
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

static int take_sample(struct collector *c, const struct record *r,
		       struct error *err)
{
	struct prof_sample s = { .time_ns = r->time_ns, .cpu = r->cpu,
				 .event = r->event,
				 .weight = r->sample.weight };
	struct process *proc;
	struct task_part of = { "", r->sample.cgroup,
				r->sample.count ? r->sample.count : 1,
				r->sample.first_ns };
	uint32_t loc;
	int rc;

	if (r->event >= c->nevents) {
		c->ignored++;
		return 0;
	}
	rc = collector_process(c, r->pid, &proc, err);
	if (rc < 0)
		return rc;
	if (c->wait_samples.on && r->event == c->wait_samples.blocked)
		return collect_wait_sample(c, proc, r, err);
	if (c->wait_samples.on && r->event == c->wait_samples.waking)
		return collect_waking(c, proc, r, err);
	s.stack = collector_stack(c, proc, r, &loc);
	if (r->sample.copied && r->sample.frames)
		of.task = python_task(&c->unwinder.python);
	rc = write_of_task(c, r->pid, r->tid, of, &s, loc, err);
	if (r->sample.halted_ns && c->wait_samples.polled)
		collect_halted(c, r);
	/* Only one event determines where a thread runs. */
	if (rc >= 0 && c->wait_samples.on && !r->event)
		rc = collect_latency(c, r, &s, loc, err);
	return rc;
}

struct map_owner collector_owner(struct collector *c, const struct process *proc,
				 uint64_t time_ns)
{
	return (struct map_owner){ .pid = proc->pid, .processes = &c->processes,
				   .time_ns = time_ns, .maps = proc->maps };
}

static int take_mmap(struct collector *c, const struct record *r)
{
	struct map m, pieces[HUGEPAGE_TEXT_PIECES];
	struct map_owner who;
	struct process *proc;
	int n;

	/* Some sources report the kernel's own text with pid -1.  Pid 0 represents
	 * all processes outside tally's pid namespace. */
	if (r->pid == UINT32_MAX || !r->pid)
		return 0;
	proc = processes_get(&c->processes, r->pid);
	if (!proc)
		return -ERR_NOMEM;
	who = collector_owner(c, proc, r->time_ns);
	if (images_map(&c->images, &who, &r->mmap, &m) < 0)
		return -ERR_NOMEM;
	c->held.on |= c->images.jit_dumps.n && !c->images.other_clock;
	n = hugepage_text_find(&c->images, &who, &m, pieces);
	if (processes_map(&c->processes, r->pid, &m) < 0)
		return -ERR_NOMEM;
	while (n-- > 0)
		if (processes_map(&c->processes, r->pid, &pieces[n]) < 0)
			return -ERR_NOMEM;
	return 0;
}

static int take_comm(struct collector *c, const struct record *r)
{
	if (r->comm.exec) {
		if (processes_exec(&c->processes, r->pid, r->time_ns) < 0)
			return -ERR_NOMEM;
		c->execs++;
	}
	return processes_name(&c->processes, r->pid, r->tid, r->comm.name,
			      r->time_ns);
}

static int take_loss(struct collector *c, const struct record *r)
{
	bool lost = r->kind == RECORD_LOST;
	struct prof_loss row = {
		.run = c->run,
		.event = r->event < c->nevents ? r->event : PROF_NONE,
		.cpu = r->cpu,
		.kind = lost ? PROF_LOST : PROF_THROTTLED,
		.time_ns = r->time_ns,
		.count = lost ? r->lost : 1,
	};

	if (lost && row.event != PROF_NONE && is_left_out(c, r->time_ns))
		return leave_out(c, row.event, row.count, 0);
	if (lost)
		c->lost += row.count;
	else
		c->throttled++;
	return vec_push(&c->profile->losses, row) < 0 ? -ERR_NOMEM : 0;
}

/* Handles lost mapping records.  A known mapping may belong to another program by
 * now, and a wrong name is worse than none.  Mappings are read from PROC again at the
 * process's next sample. */
static int take_gap(struct collector *c, const struct record *r)
{
	c->gaps += r->lost;
	return c->images.foreign_proc ? 0 : processes_reread(&c->processes);
}

int collector_round(struct collector *c, struct error *err)
{
	return jit_follow_look(&c->jit, &c->images) < 0 ? no_memory(err) : 0;
}

int collector_record(void *ctx, const struct record *r, struct error *err)
{
	struct collector *c = ctx;
	int rc = 0;

	switch (r->kind) {
	case RECORD_SAMPLE:
		return take_sample(c, r, err);
	case RECORD_MMAP:
		rc = take_mmap(c, r);
		break;
	case RECORD_COMM:
		rc = take_comm(c, r);
		if (rc >= 0 && r->comm.exec && c->wait_samples.on)
			return collect_exec(c, r, err);
		break;
	case RECORD_FORK:
		rc = processes_fork(&c->processes, r->pid, r->tid,
				    r->fork.ppid, r->fork.ptid, r->time_ns);
		if (rc >= 0 && c->wait_samples.on && !c->wait_samples.alone)
			return collect_fork(c, r, err);
		break;
	case RECORD_EXIT:
		if (c->wait_samples.on && collect_exit(c, r, err) < 0)
			return -err->code;
		rc = processes_exit(&c->processes, r->pid, r->tid, r->time_ns);
		if (rc >= 0 && c->images.own_maps && r->pid == r->tid)
			rc = vec_push(&c->images.ended, r->pid) < 0
			     ? -ERR_NOMEM : 0;
		break;
	case RECORD_SWITCH:
	case RECORD_SWITCH_GAP:
		return c->wait_samples.on ? collect_switch(c, r, err) : 0;
	case RECORD_WAKE:
		waits_wake(&c->waits, r->wake.tid, r->time_ns,
			   &(struct waker){ .pid = r->pid, .tid = r->tid,
					    .interrupt = r->wake.interrupt });
		return 0;
	case RECORD_KSYMBOL:
		rc = kernel_code_record(&c->kernel, &c->images, &r->ksymbol,
					&c->processes.generation);
		break;
	case RECORD_CGROUP:
		if (!c->images.foreign_proc)
			cgroups_made(&c->cgroups, c->proc, r->cgroup.id, r->cgroup.path);
		return 0;
	case RECORD_LOST:
	case RECORD_THROTTLE:
		rc = take_loss(c, r);
		break;
	case RECORD_GAP:
		rc = take_gap(c, r);
		break;
	}
	return rc < 0 ? no_memory(err) : 0;
}

/* Returns the bytes of mapped files that are in memory (proc_pid_statm(5)); 0 if unknown. */
static uint64_t resident_files(struct collector *c)
{
	char text[128];
	uint64_t pages;
	ssize_t n;

	if (!c->statm)
		c->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	n = pread(c->statm, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	return sscanf(text, "%*u %*u %" SCNu64, &pages) == 1
	       ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* With `calm`, pages of files are kept, but not many: a lookup in a file maps 64 KB of it
 * (fault_around_bytes, Linux). */
static bool release_is_due(struct collector *c, uint64_t now_ns)
{
	uint64_t kept = now_ns - c->released_ns;

	if (!c->calm)
		return kept > RELEASE_NS;
	return kept > RELEASE_CALM_NS || resident_files(c) > RELEASE_CALM_BYTES;
}

int collector_idle(struct collector *c, uint64_t now_ns, struct error *err)
{
	struct image_closer_input open = {
		.images = &c->images, .processes = &c->processes,
		.unwinder = &c->unwinder, .python = &c->python_live,
		.samples = c->samples, .self_samples = c->self_samples.v,
		.n_self_samples = c->self_samples.n, .calm = c->calm,
	};
	int rc;

	c->images.batch++;
	unwinder_idle(&c->unwinder);
	if (release_is_due(c, now_ns)) {
		unwinder_release(&c->unwinder);
		c->released_ns = now_ns;
	}
	if (now_ns > GONE_NS)
		processes_purge(&c->processes, now_ns - GONE_NS);
	jit_follow_forget(&c->jit, &c->processes);
	rc = image_closer_idle(&c->closer, &open, now_ns, err);
	if (rc >= 0 && c->wait_samples.on)
		rc = collect_waits_idle(c, now_ns, err);
	if (rc < 0)
		return rc;
	if (kernel_maps_refresh(&c->kernel, &c->images, c->proc, c->sysfs,
				&c->processes.generation, now_ns) < 0)
		return no_memory(err);
	return 0;
}

/* Context of the callbacks, because symbolize_options has only one. */
struct symbolizing {
	struct collector *c;
	collector_progress *progress;
	void *ctx;
};

static int open_image(void *ctx, uint32_t image)
{
	struct symbolizing *s = ctx;
	int fd = jit_follow_open(&s->c->jit, &s->c->images, image);

	return fd >= 0 ? fd : images_open_row(&s->c->images, image);
}

static void perfmap_use(void *ctx, uint32_t image, struct symbolize_perfmap_use *use)
{
	struct symbolizing *s = ctx;

	jit_follow_use(&s->c->jit, &s->c->images, image, use);
}

static int open_jitdump(void *ctx, uint32_t image, struct symbolize_jitdump_use *use)
{
	struct symbolizing *s = ctx;

	use->first = s->c->held.on;
	return images_open_jitdump(&s->c->images, image, &use->by_offset);
}

static const char *generated(void *ctx, uint32_t image, uint64_t *size)
{
	const struct symbolizing *s = ctx;

	return kernel_code_name(&s->c->images, image, size);
}

static void report_progress(void *ctx, const char *image, size_t done,
			    size_t total)
{
	const struct symbolizing *s = ctx;
	char text[160];

	snprintf(text, sizeof(text), "symbols: %zu of %zu %.100s", done, total,
		 image);
	s->progress(s->ctx, text);
}

int collector_symbolize(struct collector *c, const struct symbolize_options *o,
			collector_progress *progress, void *ctx,
			struct error *err)
{
	struct symbolizing s = { c, progress, ctx };
	struct symbolize_options own = *o;
	size_t n = c->profile->locs.n;
	int rc;

	/* Free the unwinder's memory for symbolizing. */
	if (!c->forked)
		unwinder_fini(&c->unwinder);
	/* Locations that only appear as callers have no samples of their own. */
	if (images_check_rows(&c->images) < 0 ||
	    image_closer_restore(&c->closer, c->profile) < 0 ||
	    vec_reserve(&c->self_samples, n + 1) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for symbols");
	memset(c->self_samples.v + c->self_samples.n, 0,
	       (n - c->self_samples.n) * sizeof(*c->self_samples.v));
	c->self_samples.n = n;
	own.self_samples = o->no_code ? NULL : c->self_samples.v;
	own.code_budget = symbolize_code_budget(c->samples);
	own.open_image = open_image;
	own.perfmap_use = perfmap_use;
	own.open_jitdump = open_jitdump;
	own.generated = generated;
	own.progress = progress ? report_progress : NULL;
	own.ctx = &s;
	rc = profile_symbolize(c->profile, &own, err);
	if (progress)
		progress(ctx, NULL);
	return rc;
}
