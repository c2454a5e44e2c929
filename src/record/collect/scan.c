// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds processes that exist before recording starts, from proc(5). */
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "record/collect/collector.h"
#include "launch/proc_read.h"
#include "launch/proc_text.h"
#include "record/collect/hugepage_text.h"

enum { MAPS_MAX = 64 << 20, PATH_SPACE = 512 };

struct scan {
	struct collector *c;
	uint32_t pid;
	int result;
};

static bool scan_map(void *ctx, const struct mapping *m)
{
	struct scan *s = ctx;
	struct process *proc = processes_get(&s->c->processes, s->pid);
	struct map_owner who;
	struct map map;

	if (!proc) {
		s->result = -ERR_NOMEM;
		return false;
	}
	who = map_owner_of(&s->c->processes, proc, 0);
	if (images_map(&s->c->images, &who, m, &map) < 0 ||
	    processes_map(&s->c->processes, s->pid, &map) < 0)
		s->result = -ERR_NOMEM;
	return !s->result;
}

static int scan_thread(struct collector *c, uint32_t pid, uint32_t tid)
{
	struct task *known = processes_find_task(&c->processes, tid);
	struct buf b = { 0 };
	char path[PATH_SPACE];
	int r = 0;

	/* Data from records is equally new or newer. */
	if (known && known->pid == pid && known->named)
		return 0;
	snprintf(path, sizeof(path), "%s/%u/task/%u/comm", c->proc, pid, tid);
	if (proc_line(path, &b))
		r = processes_name(&c->processes, pid, tid, buf_cstr(&b), 0);
	buf_fini(&b);
	return r;
}

static int scan_threads(struct collector *c, uint32_t pid)
{
	char path[PATH_SPACE];
	uint32_t tid;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof(path), "%s/%u/task", c->proc, pid);
	dir = opendir(path);
	while (!r && (tid = proc_next(dir)))
		r = scan_thread(c, pid, tid);
	if (dir)
		closedir(dir);
	return r;
}

/* Returns whether the process is a program.  Kernel threads have neither mappings nor
 * a command line. */
static bool is_program(struct collector *c, uint32_t pid)
{
	char path[PATH_SPACE];
	struct buf b = { 0 };
	bool yes;

	snprintf(path, sizeof(path), "%s/%u/cmdline", c->proc, pid);
	yes = !io_read_file(path, MAPS_MAX, &b, NULL) && b.n;
	buf_fini(&b);
	return yes;
}

/* Finds code that was moved to other memory before recording started. */
static int scan_remapped(struct collector *c, struct process *proc)
{
	for (size_t i = 0; i < proc->maps->maps.n; i++) {
		struct map_owner who = map_owner_of(&c->processes, proc, 0);
		struct map pieces[HUGEPAGE_TEXT_PIECES];
		int n = hugepage_text_find_between(&c->images, &who, i, pieces);

		while (n-- > 0)
			if (processes_map(&c->processes, proc->pid,
					  &pieces[n]) < 0)
				return -ERR_NOMEM;
	}
	return 0;
}

/* Reads the parent and the mappings. */
static int scan_process(struct collector *c, uint32_t pid)
{
	struct scan s = { c, pid, 0 };
	struct error why = { 0 };
	struct process *proc;
	struct buf b = { 0 };
	char path[PATH_SPACE];
	uint64_t parent = 0;

	snprintf(path, sizeof(path), "%s/%u/status", c->proc, pid);
	if (!io_read_file(path, 65536, &b, NULL))
		proc_status_number((const char *)b.p, b.n, "PPid", &parent);
	buf_reset(&b);
	snprintf(path, sizeof(path), "%s/%u/maps", c->proc, pid);
	if (!io_read_file(path, MAPS_MAX, &b, &why))
		proc_maps_parse((const char *)b.p, b.n, scan_map, &s);
	else if (why.code == ERR_PERM && is_program(c, pid) && !c->closed++)
		c->closed_pid = pid;
	buf_fini(&b);
	proc = processes_get(&c->processes, pid);
	if (!proc || s.result < 0 || scan_remapped(c, proc) < 0)
		return -ERR_NOMEM;
	proc->discovered = true;
	if (!proc->parent)
		proc->parent = (uint32_t)parent;
	return 0;
}

int collector_scan(struct collector *c, uint32_t pid, struct error *err)
{
	struct process *proc = processes_get(&c->processes, pid);

	if ((proc && proc->discovered) || c->images.foreign_proc)
		return 0;
	if (scan_process(c, pid) < 0 || scan_threads(c, pid) < 0)
		return error_set(err, ERR_NOMEM,
				 "out of memory while reading %s/%u", c->proc,
				 pid);
	return 0;
}

int collector_scan_all(struct collector *c, struct error *err)
{
	DIR *dir = opendir(c->proc);
	uint32_t pid;
	int r = 0;

	while (!r && (pid = proc_next(dir)))
		r = collector_scan(c, pid, err);
	if (dir)
		closedir(dir);
	return r;
}
