// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the table of existing processes and threads. */
#include "record/collect/processes.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"

/* Mappings of a program started this close to the end may not have arrived yet. */
#define START_NS 20000000u

enum { COMMS_LISTED = 12 };

/* Marks a number that is no longer in use (u64map cannot delete keys). */
#define NO_PROCESS (U64MAP_NONE - 1)

static bool is_row(uint32_t row)
{
	return row < NO_PROCESS;
}

static void process_drop(struct processes *p, uint32_t i)
{
	mapset_put(p->procs.v[i].maps);
	memset(&p->procs.v[i], 0, sizeof(p->procs.v[i]));
}

void processes_clear(struct processes *p)
{
	for (size_t i = 0; i < p->procs.n; i++)
		process_drop(p, (uint32_t)i);
	p->procs.n = p->tasks.n = 0;
	p->free_procs.n = p->free_tasks.n = 0;
	p->gone.n = p->gone_head = 0;
	p->unrecorded.n = 0;
	u64map_clear(&p->by_pid);
	u64map_clear(&p->by_tid);
}

void processes_fini(struct processes *p)
{
	processes_clear(p);
	vec_fini(&p->procs);
	vec_fini(&p->tasks);
	vec_fini(&p->free_procs);
	vec_fini(&p->free_tasks);
	vec_fini(&p->gone);
	vec_fini(&p->unrecorded);
	u64map_fini(&p->by_pid);
	u64map_fini(&p->by_tid);
}

/* Returns a free row of procs, all zero, or UINT32_MAX when out of memory. */
static uint32_t process_row(struct processes *p)
{
	if (p->free_procs.n)
		return p->free_procs.v[--p->free_procs.n];
	if (vec_push(&p->procs, (struct process){ 0 }) < 0)
		return UINT32_MAX;
	return (uint32_t)p->procs.n - 1;
}

static uint32_t task_row(struct processes *p)
{
	if (p->free_tasks.n)
		return p->free_tasks.v[--p->free_tasks.n];
	if (vec_push(&p->tasks, (struct task){ 0 }) < 0)
		return UINT32_MAX;
	return (uint32_t)p->tasks.n - 1;
}

/* Adds a process with these mappings, which it takes over, and replaces an older one
 * with this number. */
static struct process *process_put(struct processes *p, uint32_t pid,
				   struct mapset *maps)
{
	uint32_t *slot = u64map_slot(&p->by_pid, pid);
	struct process *proc;
	uint32_t row;

	if (!slot || !maps)
		goto fail;
	row = is_row(*slot) ? *slot : process_row(p);
	*slot = NO_PROCESS;
	if (row == U64MAP_NONE)
		goto fail;
	*slot = row;
	process_drop(p, row);
	proc = &p->procs.v[row];
	proc->pid = pid;
	proc->maps = maps;
	return proc;
fail:
	mapset_put(maps);
	return NULL;
}

struct process *processes_find(struct processes *p, uint32_t pid)
{
	uint32_t row = u64map_get(&p->by_pid, pid);

	return is_row(row) ? &p->procs.v[row] : NULL;
}

uint32_t processes_ancestor(struct processes *p, uint32_t pid, int n)
{
	const struct process *proc = processes_find(p, pid);

	while (proc && n-- > 1)
		proc = processes_find(p, proc->parent);
	return proc ? proc->parent : 0;
}

void processes_forget_rows(struct processes *p)
{
	for (size_t i = 0; i < p->tasks.n; i++)
		p->tasks.v[i].row = UINT32_MAX;
}

struct process *processes_get(struct processes *p, uint32_t pid)
{
	struct process *found = processes_find(p, pid);

	return found ? found
		     : process_put(p, pid, mapset_new(&p->generation));
}

struct task *processes_find_task(struct processes *p, uint32_t tid)
{
	uint32_t row = u64map_get(&p->by_tid, tid);

	return is_row(row) ? &p->tasks.v[row] : NULL;
}

static struct task *task_put(struct processes *p, uint32_t pid, uint32_t tid)
{
	uint32_t *slot = u64map_slot(&p->by_tid, tid);
	struct process *proc;
	struct task *t;
	uint32_t row;

	if (!slot)
		return NULL;
	row = is_row(*slot) ? *slot : task_row(p);
	*slot = NO_PROCESS;
	if (row == U64MAP_NONE)
		return NULL;
	*slot = row;
	t = &p->tasks.v[row];
	*t = (struct task){ .pid = pid, .tid = tid, .row = UINT32_MAX };
	proc = tid != pid ? processes_find(p, pid) : NULL;
	if (proc)
		proc->threaded = true;
	return t;
}

struct task *processes_task(struct processes *p, uint32_t pid, uint32_t tid)
{
	struct task *t = processes_find_task(p, tid), *leader;

	if (t && t->pid == pid)
		return t;
	t = task_put(p, pid, tid);
	leader = processes_find_task(p, pid);
	if (t && leader && leader != t && leader->named) {
		memcpy(t->comm, leader->comm, sizeof(t->comm));
		t->named = true;
	}
	return t;
}

int processes_fork(struct processes *p, uint32_t pid, uint32_t tid,
		   uint32_t ppid, uint32_t ptid, uint64_t time_ns)
{
	struct task *t, *from;
	struct process *proc;

	if (pid != ppid) {
		struct process *parent = processes_get(p, ppid);
		uint32_t cgroup;
		bool known;

		if (!parent)
			return -ERR_NOMEM;
		known = parent->discovered;
		cgroup = parent->cgroup;
		proc = process_put(p, pid, mapset_get(parent->maps));
		if (!proc)
			return -ERR_NOMEM;
		proc->parent = ppid;
		proc->discovered = known;
		proc->cgroup = cgroup;
	}
	t = task_put(p, pid, tid);
	if (!t)
		return -ERR_NOMEM;
	t->start_ns = time_ns;
	from = processes_find_task(p, ptid);
	if (from && from->named) {
		memcpy(t->comm, from->comm, sizeof(t->comm));
		t->named = true;
	}
	return 0;
}

int processes_exec(struct processes *p, uint32_t pid, uint64_t time_ns)
{
	struct process *proc = processes_get(p, pid);
	struct mapset *maps = proc ? mapset_new(&p->generation) : NULL;

	if (!maps)
		return -ERR_NOMEM;
	mapset_put(proc->maps);
	proc->maps = maps;
	proc->exec_ns = time_ns;
	/* service managers move a process before it starts its program */
	proc->cgroup_read = false;
	proc->discovered = true;	/* records report its mappings from now on */
	return 0;
}

int processes_name(struct processes *p, uint32_t pid, uint32_t tid,
		   const char *comm, uint64_t time_ns)
{
	struct task *t = processes_task(p, pid, tid);

	if (!t)
		return -ERR_NOMEM;
	if ((t->named || *t->comm) &&
	    !strncmp(t->comm, comm, sizeof(t->comm) - 1)) {
		t->named = true;
		if (!t->start_ns)
			t->start_ns = time_ns;
		return 0;
	}
	t->own_comm |= t->named;
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->named = true;
	t->row = UINT32_MAX;
	t->start_ns = time_ns;
	return 0;
}

int processes_map(struct processes *p, uint32_t pid, const struct map *m)
{
	struct process *proc = processes_get(p, pid);

	return proc ? mapset_insert(&proc->maps, m, &p->generation)
		    : -ERR_NOMEM;
}

int processes_reread(struct processes *p)
{
	for (size_t i = 0; i < p->procs.n; i++) {
		struct process *proc = &p->procs.v[i];
		struct mapset *maps;

		if (!proc->maps)
			continue;	/* free row */
		maps = mapset_new(&p->generation);
		if (!maps)
			return -ERR_NOMEM;
		mapset_put(proc->maps);
		proc->maps = maps;
		proc->discovered = false;
	}
	for (size_t i = 0; i < p->tasks.n; i++)
		p->tasks.v[i].named = false;
	return 0;
}

int processes_exit(struct processes *p, uint32_t pid, uint32_t tid,
		   uint64_t time_ns)
{
	struct gone g = { time_ns, pid, tid };

	return vec_push(&p->gone, g) < 0 ? -ERR_NOMEM : 0;
}

static bool has_threads(const struct processes *p, uint32_t pid)
{
	for (size_t i = 0; i < p->tasks.n; i++)
		if (p->tasks.v[i].pid == pid)
			return true;
	return false;
}

/* Drops the address space with the last thread.  Most processes have only one; some
 * end their first thread long before the others (pthread_exit in main). */
static void process_purge(struct processes *p, const struct gone *g)
{
	uint32_t row = u64map_get(&p->by_pid, g->pid);
	struct process *proc;

	if (!is_row(row))
		return;
	proc = &p->procs.v[row];
	proc->headless |= g->tid == g->pid;
	if (!proc->headless || (proc->threaded && has_threads(p, g->pid)) ||
	    vec_push(&p->free_procs, row) < 0)
		return;
	process_drop(p, row);
	u64map_put(&p->by_pid, g->pid, NO_PROCESS);
}

static bool is_running(uint32_t pid)
{
	struct pollfd p = { .events = POLLIN };
	bool runs;

	p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	runs = p.fd >= 0 && !poll(&p, 1, 0);
	if (p.fd >= 0)
		close(p.fd);
	return runs;
}

size_t processes_running(struct processes *p, uint32_t but, struct buf *out)
{
	enum { LISTED = 5 };
	size_t n = 0;

	for (size_t i = 0; i < p->procs.n; i++) {
		uint32_t pid = p->procs.v[i].pid;
		const struct task *t;

		if (!p->procs.v[i].maps || pid == but ||
		    pid == (uint32_t)getpid() || !is_running(pid))
			continue;
		if (n++ == LISTED)
			buf_str(out, ", …");
		if (n > LISTED)
			continue;
		t = processes_find_task(p, pid);
		buf_printf(out, "%s%u", n > 1 ? ", " : "", pid);
		if (t && *t->comm)
			buf_printf(out, " (%s)", t->comm);
	}
	return n;
}

/* Returns whether the kernel ended the process's events when its program started. */
static bool is_unrecorded(const struct process *proc)
{
	return proc->exec_ns && !proc->maps->maps.n;
}

/* Adds a name to a list that has it once. */
static int list_comm(struct comm_list *l, const char *name)
{
	struct comm c;

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return 0;
	if (l->n > COMMS_LISTED)
		return 0;
	snprintf(c.name, sizeof(c.name), "%s", name);
	return vec_push(l, c);
}

int processes_unrecorded(struct processes *p, uint64_t now_ns, struct buf *out)
{
	for (size_t i = 0; i < p->procs.n; i++) {
		const struct process *proc = &p->procs.v[i];
		const struct task *t;

		if (!proc->maps || !is_unrecorded(proc) ||
		    proc->exec_ns + START_NS > now_ns)
			continue;
		t = processes_find_task(p, proc->pid);
		if (t && list_comm(&p->unrecorded, t->comm) < 0)
			return -ERR_NOMEM;
	}
	for (size_t i = 0; i < p->unrecorded.n && i < COMMS_LISTED; i++)
		buf_printf(out, "%s%s", i ? ", " : "", p->unrecorded.v[i].name);
	if (p->unrecorded.n > COMMS_LISTED)
		buf_str(out, ", …");
	return 0;
}

/* Removes an entry unless the number belongs to a newer thread. */
static void task_purge(struct processes *p, const struct gone *g)
{
	uint32_t row = u64map_get(&p->by_tid, g->tid);
	const struct process *proc;

	if (!is_row(row) || p->tasks.v[row].pid != g->pid ||
	    p->tasks.v[row].start_ns > g->time_ns ||
	    vec_push(&p->free_tasks, row) < 0)
		return;
	proc = processes_find(p, g->pid);
	if (proc && proc->pid == g->tid && is_unrecorded(proc))
		list_comm(&p->unrecorded, p->tasks.v[row].comm);
	memset(&p->tasks.v[row], 0, sizeof(p->tasks.v[row]));
	u64map_put(&p->by_tid, g->tid, NO_PROCESS);
	process_purge(p, g);
}

void processes_purge(struct processes *p, uint64_t time_ns)
{
	size_t i = p->gone_head;

	for (; i < p->gone.n && p->gone.v[i].time_ns < time_ns; i++)
		task_purge(p, &p->gone.v[i]);
	p->gone_head = i;
	if (i && i * 2 >= p->gone.n) {
		memmove(p->gone.v, p->gone.v + i,
			(p->gone.n - i) * sizeof(*p->gone.v));
		p->gone.n -= i;
		p->gone_head = 0;
	}
}
