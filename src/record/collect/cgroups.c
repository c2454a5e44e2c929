// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the paths of control groups by their IDs. */
#include "record/collect/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup_path.h"
#include "base/io.h"

enum {
	TEXT_MAX = 1 << 20,	/* of mountinfo and of /proc/PID/cgroup */
	ROOT_ID = 1,
	IDS_MAX = 4096,		/* more are forgotten and looked up again */
	PATHS_MAX = 1 << 20,
	HANDLE_KERNFS = 0xfe,	/* FILEID_KERNFS, linux/exportfs.h */
};

void cgroups_fini(struct cgroups *g)
{
	u64map_fini(&g->by_id);
	buf_fini(&g->mount);
	buf_fini(&g->paths);
}

/* Returns whether perf events belong to version 2: the file then lists it, and
 * perf_event with no other hierarchy. */
static bool perf_is_unified(const char *text)
{
	bool found = false;

	while (*text) {
		size_t n = strcspn(text, "\n");
		const char *at = memchr(text, ':', n);
		const char *end = at ? memchr(at + 1, ':',
					      (size_t)(text + n - at - 1))
				     : NULL;

		found |= !strncmp(text, "0::", 3);
		for (at = at ? at + 1 : NULL; end && at < end;
		     at += strcspn(at, ",:") + 1)
			if (!strncmp(at, "perf_event", 10) &&
			    (at[10] == ',' || at[10] == ':'))
				return false;
		text += n + (text[n] == '\n');
	}
	return found;
}

/* Finds the mount of the whole hierarchy: proc_pid_mountinfo(5). */
static void find_mount(const char *text, struct buf *out)
{
	while (*text && !out->n) {
		size_t n = strcspn(text, "\n");
		const char *type = memmem(text, n, " - cgroup2 ", 11);
		char root[8], at[512];

		/* Paths with escapes are not used. */
		if (type && sscanf(text, "%*u %*u %*s %7s %511s", root, at) == 2 &&
		    !strcmp(root, "/") && !strchr(at, '\\'))
			buf_str(out, at);
		text += n + (text[n] == '\n');
	}
}

/* Returns whether tally sees paths as the kernel reports them. */
static bool in_first_namespace(const char *proc)
{
	enum { PROC_CGROUP_INIT_INO = 0xeffffffb };	/* linux/proc_ns.h */
	struct stat st;
	char path[256];

	snprintf(path, sizeof(path), "%s/self/ns/cgroup", proc);
	return !stat(path, &st) && st.st_ino == PROC_CGROUP_INIT_INO;
}

static bool read_own(const char *proc, const char *name, struct buf *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/self/%s", proc, name);
	return !io_read_file(path, TEXT_MAX, text, NULL) && !text->failed;
}

static bool look(struct cgroups *g, const char *proc)
{
	struct buf own = { 0 }, mounts = { 0 };

	if (g->looked)
		return g->usable;
	g->looked = true;
	/* Elsewhere, IDs have too many bits for an inode. */
	if (sizeof(((struct stat *)NULL)->st_ino) == sizeof(uint64_t) &&
	    read_own(proc, "cgroup", &own) &&
	    perf_is_unified(buf_cstr(&own)) &&
	    read_own(proc, "mountinfo", &mounts))
		find_mount(buf_cstr(&mounts), &g->mount);
	buf_fini(&own);
	buf_fini(&mounts);
	g->own_paths = in_first_namespace(proc);
	return g->usable = g->mount.n && !g->mount.failed;
}

static const char *add(struct cgroups *g, uint64_t id, const char *path)
{
	size_t n = strlen(path) + 1, at;

	if (g->by_id.n >= IDS_MAX || g->paths.n > PATHS_MAX) {
		u64map_clear(&g->by_id);
		g->paths.n = 0;
	}
	at = g->paths.n;
	buf_bytes(&g->paths, path, n);
	if (g->paths.failed)
		return NULL;
	if (u64map_put(&g->by_id, id, (uint32_t)at) < 0)
		return NULL;
	return (const char *)g->paths.p + at;
}

/* Looks the folder up by its ID, which needs CAP_DAC_READ_SEARCH. */
static const char *by_handle(struct cgroups *g, int mount, uint64_t id)
{
	union {
		struct file_handle h;
		char bytes[sizeof(struct file_handle) + sizeof(id)];
	} u = { .h = { .handle_bytes = sizeof(id),
		       .handle_type = HANDLE_KERNFS } };
	const char *found = NULL;
	char *name;
	int fd;

	memcpy(u.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, &u.h, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	name = io_name_of(fd);
	close(fd);
	if (name && !strncmp(name, buf_cstr(&g->mount), g->mount.n) &&
	    name[g->mount.n] == '/' && name[g->mount.n + 1])
		found = add(g, id, name + g->mount.n);
	free(name);
	return found;
}

/* Returns whether the path is that of the group. */
static bool is_of(int mount, const char *path, uint64_t id)
{
	struct stat st;

	while (*path == '/')
		path++;
	if (!strncmp(path, "..", 2))	/* outside the namespace */
		return false;
	return !fstatat(mount, *path ? path : ".", &st, 0) &&
	       st.st_ino == id;
}

bool cgroups_read(const char *proc, uint32_t pid, struct buf *path)
{
	struct buf text = { 0 };
	char name[600];
	bool alone = false;
	int fd;

	/* This is done for each process: a file of proc needs no look at its kind. */
	snprintf(name, sizeof(name), "%s/%u/cgroup", proc, pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!io_read_fd(fd, name, TEXT_MAX, &text, NULL)) {
		cgroup_path_of(buf_cstr(&text), text.n, path);
		alone = !strncmp(buf_cstr(&text), "0::", 3);
	}
	path->failed |= text.failed;
	close(fd);
	buf_fini(&text);
	return alone;
}

/* Reads the path of a process that may still be in the group. */
static const char *by_process(struct cgroups *g, int mount, const char *proc,
			      uint64_t id, uint32_t pid)
{
	struct buf path = { 0 };
	const char *found = NULL;
	bool alone = cgroups_read(proc, pid, &path);

	if (!path.failed && (path.n > 1 || (alone && path.n)) &&
	    is_of(mount, buf_cstr(&path), id))
		found = add(g, id, path.n > 1 ? buf_cstr(&path) : "");
	buf_fini(&path);
	return found;
}

const char *cgroups_path(struct cgroups *g, const char *proc, uint64_t id,
			 uint32_t pid)
{
	const char *found;
	uint32_t at;
	int mount;

	if (id <= ROOT_ID || !look(g, proc))
		return NULL;
	at = u64map_get(&g->by_id, id);
	if (at != U64MAP_NONE)
		return (const char *)g->paths.p + at;
	mount = open(buf_cstr(&g->mount), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount < 0)
		return NULL;
	found = by_handle(g, mount, id);
	if (!found)
		found = by_process(g, mount, proc, id, pid);
	close(mount);
	return found;
}

void cgroups_made(struct cgroups *g, const char *proc, uint64_t id,
		  const char *path)
{
	if (id > ROOT_ID && look(g, proc) && g->own_paths && *path == '/' &&
	    path[1] && u64map_get(&g->by_id, id) == U64MAP_NONE)
		add(g, id, path);
}
