// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the table of traced threads, reads their data from /proc, reads and sets their
 * registers, and resumes them. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "launch/proc_read.h"
#include "launch/proc_text.h"
#include "record/ptrace/ptrace_calls.h"
#include "record/ptrace/ptrace_internal.h"

enum { PATH_SPACE = 64, STATUS_MAX = 1 << 16 };

#define NO_PROCESS (U64MAP_NONE - 1)

struct tracee *tracee_find(struct tracer *t, uint32_t tid)
{
	uint32_t row = u64map_get(&t->by_tid, tid);

	return row < t->v.n ? &t->v.v[row] : NULL;
}

static int open_file(const struct tracee *k, const char *name)
{
	char path[PATH_SPACE];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", k->pid, k->tid,
		 name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void open_files(struct tracer *t, struct tracee *k)
{
	k->running_fd = t->no_state ? -1 : open_file(k, "syscall");
	if (k->running_fd < 0) {
		t->no_state = true;
		k->running_fd = open_file(k, "stat");
	}
	k->time_fd = open_file(k, "schedstat");
}

static uint32_t *slot_of(struct tracer *t, uint32_t tid)
{
	uint32_t *slot = u64map_slot(&t->by_tid, tid);

	if (!slot)
		t->failed = true;
	return slot;
}

/* Normally the first thread has already checked the program. */
static void look_at_program(struct tracer *t, struct tracee *k)
{
	const struct tracee *first = tracee_find(t, k->pid);
	unsigned int what;

	if (first && first->tid != k->tid) {
		k->watched = first->watched == WATCHED_ALWAYS ? WATCHED_ALWAYS : 0;
		k->python = first->python;
		return;
	}
	what = tracer_image(t, k->pid);
	k->watched = what & TRACER_TRACES ? WATCHED_ALWAYS : 0;
	k->python = what & TRACER_PYTHON;
}

struct tracee *tracee_add(struct tracer *t, uint32_t tid)
{
	struct tracee k = { .pid = tid, .tid = tid, .first = true };
	uint32_t *slot = slot_of(t, tid);

	if (!slot)
		return NULL;
	*slot = NO_PROCESS;
	k.pid = (uint32_t)proc_status_of(tid, "Tgid", tid);
	look_at_program(t, &k);
	open_files(t, &k);
	k.time = tracee_time(&k);
	if (vec_push(&t->v, k) < 0) {
		t->failed = true;
		return NULL;
	}
	*slot = (uint32_t)t->v.n - 1;
	return &t->v.v[*slot];
}

#ifdef __x86_64__

bool regs_get(const struct tracee *k, union regs *r, bool *is32)
{
	struct iovec io = { r, sizeof(*r) };

	if (ptrace(PTRACE_GETREGSET, (pid_t)k->tid, NT_PRSTATUS, &io) < 0)
		return false;
	*is32 = io.iov_len == sizeof(r->x32);
	return true;
}

void regs_set(const struct tracee *k, const union regs *r, bool is32)
{
	struct iovec io = { (void *)(uintptr_t)r,
			    is32 ? sizeof(r->x32) : sizeof(r->x64) };

	ptrace(PTRACE_SETREGSET, (pid_t)k->tid, NT_PRSTATUS, &io);
}

int64_t regs_call(const union regs *r, bool is32)
{
	return is32 ? (int32_t)r->x32.orig_ax : (int64_t)r->x64.orig_rax;
}

#endif

/* Any stop replaces one that was requested, so the request is repeated.  It may cut a
 * call for the rest of a transfer, which another call then completes. */
void tracee_go_on(const struct tracee *k, int sig)
{
	if (k->releasing || k->asked)
		ptrace(PTRACE_INTERRUPT, (pid_t)k->tid, 0, 0);
	ptrace(k->partial || k->watched ? PTRACE_SYSCALL : PTRACE_CONT,
	       (pid_t)k->tid, 0, (long)sig);
}

static void close_files(struct tracee *k)
{
	if (k->running_fd >= 0)
		close(k->running_fd);
	if (k->time_fd >= 0)
		close(k->time_fd);
	free(k->partial);
}

void tracee_remove(struct tracer *t, struct tracee *k)
{
	struct tracee *last = &t->v.v[t->v.n - 1];
	uint32_t *slot = slot_of(t, k->tid);

	if (slot)
		*slot = NO_PROCESS;
	if (k->asked)
		t->asked--;
	if (k->waits_for)
		t->waiting--;
	close_files(k);
	if (k != last) {
		slot = slot_of(t, last->tid);
		if (slot)
			*slot = (uint32_t)(k - t->v.v);
		*k = *last;
	}
	t->v.n--;
}

void tracees_fini(struct tracer *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		close_files(&t->v.v[i]);
	vec_fini(&t->v);
	vec_fini(&t->chosen);
	u64map_fini(&t->by_tid);
	u64map_fini(&t->images);
	u64map_fini(&t->not_python);
	python_live_fini(&t->python);
}

/* In place of a system call, proc(5) shows "running".  A stat file has the state
 * after the name in parentheses. */
static bool could_run(struct tracer *t, struct tracee *k)
{
	char text[128];
	const char *name_end;
	ssize_t n = -1;

	if (k->running_fd >= 0)
		n = pread(k->running_fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return false;
	text[n] = 0;
	if (*text == 'r')
		return true;
	if (!t->no_state)
		return false;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'R';
}

bool tracee_runs(struct tracer *t, struct tracee *k)
{
	if (!could_run(t, k))
		return false;
	/* A thread that has waited for a CPU since its last sample has done nothing.
	 * A thread without a turn may have been on its CPU since before tracing
	 * began. */
	k->seen = tracee_time(k);
	return k->first || !k->seen.turns || k->seen.turns != k->time.turns;
}

/* Documentation/scheduler/sched-stats.rst */
static struct tracee_time read_time(int fd)
{
	struct tracee_time time = { 0, 0, 0 };
	char text[96], *p = text;
	ssize_t n = -1;

	if (fd >= 0)
		n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return time;
	text[n] = 0;
	time.run = strtoull(p, &p, 10);
	time.wait = strtoull(p, &p, 10);
	time.turns = strtoull(p, &p, 10);
	return time;
}

struct tracee_time tracee_time(const struct tracee *k)
{
	return read_time(k->time_fd);
}

struct tracee_time tracer_time(const struct tracer *t)
{
	return read_time(t->time_fd);
}

/* Returns the text of a stat file after the name in parentheses; NULL: none. */
static const char *read_stat(const struct tracee *k, char *text, size_t size)
{
	ssize_t n = -1;
	int fd = open_file(k, "stat");

	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	return strrchr(text, ')');
}

int tracee_processor(const struct tracee *k)
{
	enum { FIELD = 39, STATE = 3 };	/* field numbers of proc(5) */
	char text[512];
	const char *p = read_stat(k, text, sizeof(text));

	for (int i = STATE - 1; p && i < FIELD; i++)
		p = strchr(p + 1, ' ');
	return p ? atoi(p + 1) : -1;
}

uint32_t tracee_own_number(const struct tracee *k)
{
	struct buf b = { 0 };
	char path[PATH_SPACE];
	uint32_t n = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", k->tid);
	if (!io_read_file(path, STATUS_MAX, &b, NULL))
		n = proc_status_own((const char *)b.p, b.n);
	buf_fini(&b);
	return n;
}

bool tracee_has_ended(const struct tracee *k)
{
	char text[512];
	const char *p = read_stat(k, text, sizeof(text));

	return p && p[1] == ' ' && (p[2] == 'Z' || p[2] == 'X');
}
