// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the target: lists of numbers, threads of processes, cgroups. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/search.h"
#include "launch/proc_read.h"
#include "launch/target.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

enum { CPU_MAX = 1 << 16 };

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for a list of numbers");
}

static bool number_take(const char **p, uint32_t *out)
{
	char *end;
	unsigned long v;

	if (**p < '0' || **p > '9')
		return false;
	v = strtoul(*p, &end, 10);
	*p = end;
	*out = (uint32_t)v;
	return v < INT32_MAX;
}

/* Parses "1,3", or with `ranges` also "0-3". */
static int list_parse(const char *text, bool ranges, const char *option,
		      id_list *out, struct error *err)
{
	const char *p = text;

	for (;;) {
		uint32_t a, b;

		if (!number_take(&p, &a))
			break;
		b = a;
		if (ranges && *p == '-') {
			p++;
			if (!number_take(&p, &b))
				break;
		}
		if (b < a || (ranges && b >= CPU_MAX))
			break;
		for (uint64_t i = a; i <= b; i++)
			if (vec_push(out, (uint32_t)i) < 0)
				return no_memory(err);
		if (!*p || *p == '\n')
			return 0;
		if (*p++ != ',')
			break;
	}
	return error_set(err, ERR_USAGE, "%s needs numbers like %s, not \"%s\"",
			 option, ranges ? "0-3,8" : "12,34", text);
}

static int cpus_online(id_list *out, struct error *err)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	struct buf b = { 0 };
	int r = io_read_file(path, 65536, &b, NULL);

	if (!r)
		r = list_parse(buf_cstr(&b), true, path, out, err);
	if (r < 0 || !out->n) {
		long n = sysconf(_SC_NPROCESSORS_CONF);

		out->n = 0;
		r = 0;
		for (long i = 0; i < n && !r; i++)
			if (vec_push(out, (uint32_t)i) < 0)
				r = no_memory(err);
	}
	buf_fini(&b);
	return r;
}

static int id_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ascending(x, y);
}

/* Removes duplicates: one ring per CPU, one set of events per thread. */
static void ids_unique(id_list *l)
{
	size_t n = 0;

	if (!l->n)
		return;
	vec_sort(l, id_order);
	for (size_t i = 0; i < l->n; i++)
		if (!i || l->v[i] != l->v[i - 1])
			l->v[n++] = l->v[i];
	l->n = n;
}

static int cpus_check(const id_list *chosen, struct error *err)
{
	id_list online = { 0 };
	int r = cpus_online(&online, err);

	for (size_t i = 0, k = 0; i < chosen->n && !r; i++) {
		while (k < online.n && online.v[k] < chosen->v[i])
			k++;
		if (k == online.n || online.v[k] != chosen->v[i])
			r = error_set(err, ERR_USAGE, "-C: processor %u is not "
				      "online (see /sys/devices/system/cpu/"
				      "online)", chosen->v[i]);
	}
	vec_fini(&online);
	return r;
}

static bool is_cgroup(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == CGROUP_SUPER_MAGIC ||
				     fs.f_type == CGROUP2_SUPER_MAGIC);
}

int target_cgroup(const char *path, int *out, struct error *err)
{
	static const char *const roots[] = {
		"", "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup",
		"/sys/fs/cgroup/unified",
	};
	char full[4096];

	for (size_t i = 0; i < COUNT(roots); i++) {
		if (!i && *path != '/')
			continue;
		snprintf(full, sizeof(full), "%s/%s", roots[i],
			 path + (*path == '/'));
		*out = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (*out >= 0 && is_cgroup(*out))
			return 0;
		if (*out >= 0)
			close(*out);
		*out = -1;
	}
	return error_set(err, ERR_NOTFOUND, "no cgroup \"%s\": give its "
			 "folder, in full or below /sys/fs/cgroup", path);
}

static int target_check(const struct target_options *o, struct error *err)
{
	bool tasks = o->pids || o->tids;
	bool all = o->all_cpus || o->cgroup;

	if (tasks && all)
		return error_set(err, ERR_USAGE, "-p and -t cannot be combined "
				 "with -a or --cgroup, which select more than "
				 "single threads");
	if (!tasks && !all && !o->cpus && !o->command)
		return error_set(err, ERR_USAGE, "nothing to observe: give a "
				 "command (-- CMD), -p PID, -t TID or -a");
	if (o->descendants && !o->pids)
		return error_set(err, ERR_USAGE,
				 "--descendants requires -p PID");
	if (o->repeat > 1 && !o->command)
		return error_set(err, ERR_USAGE,
				 "--repeat needs a command to run");
	if (o->repeat > 1 && (tasks || all))
		return error_set(err, ERR_USAGE, "--repeat observes the command "
				 "only and cannot be combined with -p, -t, -a or "
				 "--cgroup");
	return 0;
}

int target_parse(struct target *t, const struct target_options *o,
		 struct error *err)
{
	int r = target_check(o, err);

	t->attached = o->pids || o->tids;
	t->descendants = o->descendants;
	t->system_wide = o->all_cpus || o->cgroup ||
			 (!o->command && !t->attached);
	if (!r && o->pids)
		r = list_parse(o->pids, false, "-p", &t->pids, err);
	if (!r && o->tids)
		r = list_parse(o->tids, false, "-t", &t->tids, err);
	if (!r)
		r = o->cpus ? list_parse(o->cpus, true, "-C", &t->cpus, err)
			    : cpus_online(&t->cpus, err);
	ids_unique(&t->cpus);
	ids_unique(&t->pids);
	ids_unique(&t->tids);
	if (!r && o->cpus)
		r = cpus_check(&t->cpus, err);
	if (!r && o->cgroup)
		r = target_cgroup(o->cgroup, &t->cgroup_fd, err);
	return r;
}

void target_fini(struct target *t)
{
	if (t->cgroup_fd >= 0)
		close(t->cgroup_fd);
	vec_fini(&t->pids);
	vec_fini(&t->tids);
	vec_fini(&t->cpus);
}

/* Returns the process of a thread.  proc(5) accepts any thread's number; the process
 * has the number of the first thread. */
static uint32_t process_of(uint32_t tid)
{
	uint64_t pid = proc_status_of(tid, "Tgid", tid);

	return pid < INT32_MAX ? (uint32_t)pid : tid;
}

static int not_found(const char *what, uint32_t id, struct error *err)
{
	if (access("/proc/self", F_OK))
		return error_set(err, ERR_NOTFOUND, "%s %u cannot be looked up: "
				 "/proc is not mounted (\"mount -t proc proc "
				 "/proc\")", what, id);
	return error_set(err, ERR_NOTFOUND, "no %s %u", what, id);
}

/* Appends the numbers among the names of a folder.  Sets *opened. */
static int numbers_in(const char *path, id_list *out, bool *opened,
		      struct error *err)
{
	DIR *dir = opendir(path);
	uint32_t id;
	int r = 0;

	*opened = dir;
	while (!r && (id = proc_next(dir)))
		if (vec_push(out, id) < 0)
			r = no_memory(err);
	if (dir)
		closedir(dir);
	return r;
}

static int threads_of(uint32_t pid, id_list *out, struct error *err)
{
	char path[64];
	bool opened;
	int r;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	r = numbers_in(path, out, &opened, err);
	return opened ? r : not_found("process", pid, err);
}

static int threads_of_all(const id_list *pids, id_list *out, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < pids->n && r >= 0; i++)
		r = threads_of(pids->v[i], out, err);
	return r;
}

/* Returns the index of a number in an ordered list, or l->n. */
static size_t id_index(const id_list *l, uint32_t id)
{
	size_t at;

	lower_bound(at, 0, l->n, l->v[at] < id);
	return at < l->n && l->v[at] == id ? at : l->n;
}

/* Appends the processes that descend from `roots`, which are ordered, except those of
 * the caller. */
static int descendants_of(const id_list *roots, id_list *out, struct error *err)
{
	enum { UNKNOWN, NO, YES };
	id_list all = { 0 };
	uint32_t own = (uint32_t)getpid();
	size_t *parent = NULL;
	uint8_t *is = NULL;
	bool opened, more = true;
	int r = numbers_in("/proc", &all, &opened, err);

	ids_unique(&all);
	parent = calloc(all.n + 1, sizeof(*parent));
	is = calloc(all.n + 1, 1);
	if (!r && (!parent || !is))
		r = no_memory(err);
	for (size_t i = 0; !r && i < all.n; i++) {
		uint32_t id = all.v[i];

		parent[i] = id_index(&all, proc_parent(id));
		is[i] = id_index(roots, id) < roots->n ? YES
		      : id == own ? NO : UNKNOWN;
	}
	while (!r && more) {
		more = false;
		for (size_t i = 0; !r && i < all.n; i++) {
			if (is[i] != UNKNOWN || is[parent[i]] != YES)
				continue;
			/* zombies have no memory */
			is[i] = proc_status_of(all.v[i], "VmSize", 0) ? YES : NO;
			more = true;
			if (is[i] == YES && vec_push(out, all.v[i]) < 0)
				r = no_memory(err);
		}
	}
	free(parent);
	free(is);
	vec_fini(&all);
	return r;
}

/* Returns whether any of these threads may have started a process that still exists.
 * It is known that none has where the kernel lists their children (proc(5)). */
static bool may_have_children(const id_list *tids)
{
	enum { MOST = 64 };	/* of more threads, all of /proc is read sooner */
	char text[2];

	for (size_t i = 0; i < tids->n; i++)
		if (i == MOST || proc_beginning(text, sizeof(text), "/proc/%u/task/%u/children",
						tids->v[i], tids->v[i]))
			return true;
	return false;
}

static int add_descendants(struct target *t, struct error *err)
{
	id_list found = { 0 };
	int r = descendants_of(&t->pids, &found, err);

	t->left_out = t->descendants ? 0 : found.n;
	for (size_t i = 0; t->descendants && !r && i < found.n; i++)
		if (vec_push(&t->pids, found.v[i]) < 0)
			r = no_memory(err);
	ids_unique(&t->pids);
	vec_fini(&found);
	return r;
}

void target_note(const struct target *t, char *text, size_t size)
{
	*text = '\0';
	if (t->left_out)
		snprintf(text, size, "%zu %s that the given ones started earlier "
			 "%s left out: --descendants adds them", t->left_out,
			 t->left_out == 1 ? "process" : "processes",
			 t->left_out == 1 ? "is" : "are");
}

int target_threads(struct target *t, id_list *out, struct error *err)
{
	int rc;

	for (size_t i = 0; i < t->pids.n; i++)
		t->pids.v[i] = process_of(t->pids.v[i]);
	ids_unique(&t->pids);
	rc = threads_of_all(&t->pids, out, err);
	if (!rc && may_have_children(out))
		rc = add_descendants(t, err) ?: threads_of_all(&t->pids, out, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < t->tids.n; i++) {
		char path[64];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%u", t->tids.v[i]);
		if (stat(path, &st) < 0)
			return not_found("thread", t->tids.v[i], err);
		if (vec_push(out, t->tids.v[i]) < 0)
			return no_memory(err);
	}
	ids_unique(out);
	return 0;
}

int target_watch(const struct target *t, struct target_ends *w,
		 struct error *err)
{
	for (size_t i = 0; i < t->pids.n; i++) {
		int fd = (int)syscall(SYS_pidfd_open, t->pids.v[i], 0);

		if (vec_push(&w->fds, fd) < 0) {
			if (fd >= 0)
				close(fd);
			return no_memory(err);
		}
	}
	return 0;
}

void target_watch_end(struct target_ends *w)
{
	for (size_t i = 0; i < w->fds.n; i++)
		if (w->fds.v[i] >= 0)
			close(w->fds.v[i]);
	vec_fini(&w->fds);
}

/* Returns whether a thread lives; threads have no descriptor to wait on.  A thread
 * that has ended, but was not yet waited for, is a zombie, state Z (proc(5)). */
static bool thread_lives(uint32_t tid)
{
	struct buf b = { 0 };
	const char *name_end;
	char path[64];
	bool lives = false;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	if (!io_read_file(path, 4096, &b, NULL)) {
		name_end = strrchr(buf_cstr(&b), ')');
		lives = name_end && strncmp(name_end, ") Z", 3) &&
			strncmp(name_end, ") X", 3);
	}
	buf_fini(&b);
	return lives;
}

bool target_ended(const struct target *t, const struct target_ends *w,
		  const struct pollfd *fds)
{
	bool any = false;

	for (size_t i = 0; i < w->fds.n; i++) {
		if (w->fds.v[i] >= 0 && !(fds[i].revents & POLLIN))
			any = true;
		else if (w->fds.v[i] < 0 && thread_lives(t->pids.v[i]))
			any = true;
	}
	for (size_t i = 0; i < t->tids.n && !any; i++)
		any = thread_lives(t->tids.v[i]);
	return !any;
}
