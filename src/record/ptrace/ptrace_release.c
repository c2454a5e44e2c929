// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Releases processes that another tracer needs, because a process has only one
 * tracer.  Recorded programs may include tracers: strace and debuggers, whose
 * children request it (PTRACE_TRACEME) or which attach.  The leak check of sanitizers
 * is another: its helper process hides from tracers (CLONE_UNTRACED) and attaches to
 * all threads of the program.
 *
 * tally therefore watches the system calls of programs that may trace
 * (ptrace_image.c), and at first those of all children.  A call that needs one of
 * tally's tracees is held at its entry until that process is released: each of its
 * threads is stopped and released there.  A call interrupted in this way restarts.  A
 * partial write ends with its part, as it does whenever a tracer attaches.
 */
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/proc_read.h"
#include "record/ptrace/ptrace_internal.h"

enum {
	INFO_ENTRY = 1,		/* PTRACE_SYSCALL_INFO_ENTRY */
	I386_PTRACE = 26,
	I386_CLONE = 120,
	NAME_SPACE = 16,
	NOTE_SPACE = 64,
};

struct call_info {		/* struct ptrace_syscall_info */
	uint8_t op, pad[3];
	uint32_t arch;
	uint64_t ip, sp;
	uint64_t nr, args[6];
};

static void name_of(uint32_t pid, char out[NAME_SPACE])
{
	struct buf b = { 0 };

	proc_name(pid, "a program", &b);
	snprintf(out, NAME_SPACE, "%s", b.n ? buf_cstr(&b) : "a program");
	buf_fini(&b);
}

/* Adds a text once, while there is room in the list. */
static void note(struct tracer *t, const char *text)
{
	char *notes = t->ring->shared->left;
	size_t n = strlen(notes), size = sizeof(t->ring->shared->left);

	if (!strstr(notes, text) && n + strlen(text) + 3 < size)
		snprintf(notes + n, size - n, "%s%s", n ? ", " : "", text);
}

/* Adds a released process.  `tracer`: 0 for the process's own leak check. */
static void note_released(struct tracer *t, uint32_t pid, uint32_t tracer)
{
	char name[NAME_SPACE], by[NAME_SPACE], text[NOTE_SPACE];

	name_of(pid, name);
	name_of(tracer, by);
	if (!tracer)
		snprintf(text, sizeof(text), "%s once in its leak check", name);
	else if (!strcmp(name, by))
		snprintf(text, sizeof(text), "what %s traces", name);
	else
		snprintf(text, sizeof(text), "%s once traced by %s", name, by);
	note(t, text);
}

/* Returns the pid namespace of a process; 0: unknown. */
static uint64_t numbers_of(uint32_t pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/ns/pid", pid);
	return stat(path, &st) < 0 ? 0 : st.st_ino;
}

/* Returns the tracee that has this number in k's namespace, which may be another. */
static const struct tracee *find_as(struct tracer *t, const struct tracee *k,
				    uint32_t number)
{
	uint64_t space = numbers_of(k->pid);

	if (!space || space == numbers_of((uint32_t)getpid()))
		return tracee_find(t, number);
	for (size_t i = 0; i < t->v.n; i++) {
		const struct tracee *other = &t->v.v[i];

		if (tracee_own_number(other) == number &&
		    numbers_of(other->pid) == space)
			return other;
	}
	return NULL;
}

/* Returns the process that must be released for this call, and sets its tracer; 0:
 * none. */
static uint32_t needed(struct tracer *t, const struct tracee *k,
		       const struct call_info *i, uint32_t *tracer)
{
	bool is32 = i->arch == AUDIT_ARCH_I386;
	const struct tracee *other;

	if (!is32 && i->arch != AUDIT_ARCH_X86_64)
		return 0;
	*tracer = 0;
	if (i->nr == (is32 ? I386_CLONE : SYS_clone))
		return i->args[0] & CLONE_UNTRACED ? k->pid : 0;
	if (i->nr != (is32 ? I386_PTRACE : SYS_ptrace))
		return 0;
	switch (i->args[0]) {
	case PTRACE_TRACEME:
		*tracer = proc_parent(k->pid);
		return k->pid;
	case PTRACE_ATTACH:
	case PTRACE_SEIZE:
		*tracer = k->pid;
		other = find_as(t, k, (uint32_t)i->args[1]);
		return other && other->pid != k->pid ? other->pid : 0;
	default:
		return 0;
	}
}

static void release(struct tracer *t, struct tracee *k)
{
	k->waits_for = 0;
	t->waiting--;
	tracee_go_on(k, 0);
}

/* Returns whether the process has tracees other than the one being held. */
static bool has_others(const struct tracer *t, uint32_t pid, uint32_t tid)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].pid == pid && t->v.v[i].tid != tid)
			return true;
	return false;
}

/* Handles a thread of this process that is no longer traced, and resumes a tracer
 * that waits for it. */
static void released(struct tracer *t, uint32_t pid)
{
	for (size_t i = t->waiting ? t->v.n : 0; i-- > 0;) {
		struct tracee *k = &t->v.v[i];

		if (k->waits_for != pid || has_others(t, pid, k->tid))
			continue;
		if (k->pid == pid) {
			k->waits_for = 0;
			t->waiting--;
			tracer_release(t, k);
			return;		/* it has checked the others */
		}
		release(t, k);
	}
}

static void mark_releasing(struct tracer *t, struct tracee *k)
{
	k->releasing = true;
	/* Two processes need each other, so one call fails. */
	if (k->waits_for)
		release(t, k);
	else
		ptrace(PTRACE_INTERRUPT, (pid_t)k->tid, 0, 0);
}

bool tracer_watch(struct tracer *t, struct tracee *k)
{
	struct call_info i = { .op = 0 };
	uint32_t pid, tracer, tid = k->tid;

	if (k->watched != WATCHED_ALWAYS)
		k->watched--;
	/* Before Linux 5.3 this request does not exist. */
	if (ptrace(PTRACE_GET_SYSCALL_INFO, (pid_t)tid, sizeof(i), &i) < 0) {
		k->watched = 0;
		return false;
	}
	pid = i.op == INFO_ENTRY ? needed(t, k, &i, &tracer) : 0;
	if (!pid)
		return false;
	note_released(t, pid, tracer);
	k->waits_for = pid;
	t->waiting++;
	for (size_t n = 0; n < t->v.n; n++)
		if (t->v.v[n].pid == pid && t->v.v[n].tid != tid)
			mark_releasing(t, &t->v.v[n]);
	released(t, pid);
	return true;
}

bool tracee_is_releasing(const struct tracer *t, uint32_t pid)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].pid == pid && t->v.v[i].releasing)
			return true;
	return false;
}

void tracer_forget(struct tracer *t, struct tracee *k)
{
	uint32_t pid = k->pid;

	tracer_emit_task(t, RECORD_EXIT, k, 0);
	if (pid == k->tid) {
		maps_watch_exit(&t->watch, pid);
		python_live_end(&t->python, pid);
	}
	tracee_remove(t, k);
	released(t, pid);
}

void tracer_release(struct tracer *t, struct tracee *k)
{
	/* If the thread was killed, waitpid reports its end. */
	if (ptrace(PTRACE_DETACH, (pid_t)k->tid, 0, 0) >= 0)
		tracer_forget(t, k);
}

/* The end of a first thread is reported only after all other threads have ended. */
void tracer_check_releases(struct tracer *t)
{
	for (size_t i = t->waiting ? t->v.n : 0; i-- > 0;)
		if (i < t->v.n && t->v.v[i].releasing &&
		    tracee_has_ended(&t->v.v[i]))
			tracer_forget(t, &t->v.v[i]);
}
