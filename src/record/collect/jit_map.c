// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds, checks and removes the perf maps and jitdump files of JIT compilers. */
#include "record/collect/jit_map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "record/collect/file_open.h"
#include "symbolize/jitdump.h"
#include "launch/proc_text.h"

enum { TEXT_MAX = 64 << 10 };

/* Tolerance: clocks differ by a tick, and file times are coarse. */
#define SLACK_NS 2000000000ll

/* The process that makes the file, and conditions that the file must meet. */
struct maker {
	uint32_t pid, inner;	/* its number here and in its own namespace */
	uint32_t owner;		/* uid; UINT32_MAX: unknown */
	int64_t since_ns;	/* earliest time of the file, by the wall clock */
	int64_t until_ns;	/* latest start of the file; 0: any time */
	bool lives;
	bool strict;		/* only files of tally's user count */
};

static bool proc_read(const struct images *im, uint32_t pid, const char *file,
		      struct buf *out)
{
	char path[PATH_SPACE];

	buf_reset(out);
	snprintf(path, sizeof(path), "%s/%u/%s", im->proc, pid, file);
	return !io_read_file(path, TEXT_MAX, out, NULL);
}

/* Reads the process's start: field 22 of stat(5), in ticks since boot. */
static bool started(struct buf *b, int64_t *since_ns)
{
	const char *s = strrchr(buf_cstr(b), ')');
	unsigned long long ticks;
	long hz = sysconf(_SC_CLK_TCK);

	for (int i = 2; s && i < 22; i++)
		s = strchr(s + 1, ' ');
	if (!s || hz <= 0 || sscanf(s, " %llu", &ticks) != 1 ||
	    ticks > INT64_MAX / SECOND)
		return false;
	*since_ns = (int64_t)(clock_read(CLOCK_REALTIME) - clock_read(CLOCK_BOOTTIME) +
			      ticks * (SECOND / (unsigned long long)hz));
	return true;
}

/* Reads a process's data from /proc while it lives. */
static void maker_ask(const struct images *im, struct maker *m)
{
	char path[PATH_SPACE];
	struct buf b = { 0 };
	struct stat st;

	if (im->foreign_proc)
		return;
	snprintf(path, sizeof(path), "%s/%u", im->proc, m->pid);
	if (!stat(path, &st) && proc_read(im, m->pid, "stat", &b) &&
	    started(&b, &m->since_ns)) {
		m->lives = true;
		m->owner = st.st_uid;
		if (proc_read(im, m->pid, "status", &b))
			m->inner = proc_status_own((const char *)b.p, b.n);
	}
	buf_fini(&b);
}

/* Returns when a file was created.  If its file system does not record that, returns
 * the time of its last write. */
static int64_t made_ns(int fd, const struct stat *st)
{
	struct statx x;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) &&
	    x.stx_mask & STATX_BTIME)
		return x.stx_btime.tv_sec * (int64_t)SECOND + x.stx_btime.tv_nsec;
	return clock_ns(st->st_mtim);
}

static bool owner_counts(const struct stat *st, const struct maker *m)
{
	if (m->strict)
		return st->st_uid == geteuid();
	return !st->st_uid ||
	       st->st_uid == (m->owner == UINT32_MAX ? geteuid() : m->owner);
}

/* Returns the descriptor if the file counts; else closes it and returns -1. */
static int checked(int fd, const struct maker *m)
{
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && owner_counts(&st, m) &&
	    clock_ns(st.st_mtim) >= m->since_ns - SLACK_NS &&
	    (!m->until_ns || made_ns(fd, &st) - SLACK_NS <= m->until_ns))
		return fd;
	close(fd);
	return -1;
}

static int maker_open(const struct images *im, const struct maker *m)
{
	char path[PATH_SPACE];
	struct stat st;
	int fd = -1;

	if (m->lives && m->inner) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", m->inner);
		fd = checked(open_of_process(im->proc, m->pid, path, false, &st),
			     m);
	}
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", m->pid);
	return checked(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			    O_CLOEXEC), m);
}

void jit_map_take(struct images *im, struct recorded_image *r)
{
	struct maker m = { .pid = (uint32_t)r->base, .owner = UINT32_MAX };

	/* Each file of a recording has its own rows of the same images. */
	if (!m.pid || r->named || r->fd >= 0)
		return;
	maker_ask(im, &m);
	if (m.lives)
		r->owner = m.owner;
	if (!m.lives || im->fds >= im->max_fds)
		return;
	r->fd = maker_open(im, &m);
	im->fds += r->fd >= 0;
}

/* Returns whether a file was written for this recording, by tally's user. */
static bool is_own(const struct images *im, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       clock_ns(st->st_mtim) >= im->began_ns;
}

/* Removes a file that was created because of this recording, once its program has
 * ended, and the list of its libraries that .NET before 10 writes with it. */
static void remove_map(const struct images *im, const struct maker *m, int fd)
{
	char path[PATH_SPACE];
	struct stat opened, named;

	if (!im->own_maps || m->lives)
		return;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", m->pid);
	if (!fstat(fd, &opened) && !lstat(path, &named) &&
	    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
	    is_own(im, &opened))
		unlink(path);
	snprintf(path, sizeof(path), "/tmp/perfinfo-%u.map", m->pid);
	if (!lstat(path, &named) && is_own(im, &named))
		unlink(path);
}

int jit_map_open(const struct images *im, const struct recorded_image *r)
{
	struct maker m = { .pid = (uint32_t)r->base, .owner = r->owner,
			   .since_ns = im->began_ns,
			   .until_ns = im->ended_ns,
			   .strict = im->foreign_proc };
	int fd;

	/* r->fd also holds names that the recorder itself has found. */
	if (!m.pid || r->named)
		return r->fd < 0 ? -1 : fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	maker_ask(im, &m);
	if (r->fd >= 0) {
		remove_map(im, &m, r->fd);
		return fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
	}
	/* Another process has the number now. */
	if (m.lives && r->owner != UINT32_MAX && m.owner != r->owner)
		return -1;
	fd = maker_open(im, &m);
	if (fd >= 0)
		remove_map(im, &m, fd);
	return fd;
}

void jit_maps_remove(struct images *im)
{
	for (size_t i = 0; i < im->ended.n; i++) {
		struct maker m = { .pid = im->ended.v[i], .owner = UINT32_MAX,
				   .since_ns = im->began_ns };
		int fd;

		maker_ask(im, &m);
		fd = m.lives ? -1 : maker_open(im, &m);
		if (fd < 0)
			continue;
		remove_map(im, &m, fd);
		close(fd);
	}
	im->ended.n = 0;
}

/* Parses "…/jit-PID.dump". */
static bool dump_pid(const char *path, uint32_t *pid)
{
	const char *slash = strrchr(path, '/');
	char rest[8] = "";

	return slash && sscanf(slash, "/jit-%9u.%7s", pid, rest) == 2 &&
	       !strcmp(rest, "dump") && *pid;
}

static size_t read_head(void *ctx, uint64_t at, void *to, size_t n)
{
	return io_read_at(*(const int *)ctx, at, to, n);
}

/* Returns whether the file has the header of a program with this own number. */
static bool is_dump_of(int fd, uint32_t pid)
{
	const struct jitdump_door door = { read_head, &fd };
	struct jitdump *j;
	bool is;

	if (jitdump_open(&door, &j) < 0)
		return false;
	is = jitdump_pid(j) == pid;
	jitdump_close(j);
	return is;
}

bool jit_dump_counts(const struct images *im, uint32_t pid, const char *path,
		     const struct stat *st, char **why)
{
	struct maker m = { .pid = pid, .owner = UINT32_MAX,
			   .strict = im->foreign_proc };
	uint32_t named;

	if (!dump_pid(path, &named))
		return false;
	maker_ask(im, &m);
	if (!owner_counts(st, &m))
		*why = strdup("its jitdump file belongs to another user");
	else if (m.inner && named != m.inner)
		*why = strdup("its jitdump file belongs to another process");
	else
		return true;
	return false;
}

int jit_dump_open(const struct images *im, const struct recorded_image *r)
{
	uint32_t image = r->base <= UINT32_MAX && !r->named
			 ? u64map_get(&im->jit_dumps, r->base) : U64MAP_NONE;
	const struct recorded_image *dump;
	uint32_t pid;

	if (image >= im->v.n)
		return -1;
	dump = &im->v.v[image];
	return dump->fd >= 0 && dump_pid(dump->path, &pid) && is_dump_of(dump->fd, pid)
	       ? fcntl(dump->fd, F_DUPFD_CLOEXEC, 0) : -1;
}
