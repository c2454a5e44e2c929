// SPDX-License-Identifier: GPL-2.0-or-later
/* Interprets stops (ptrace(2), "Attaching and detaching", "Stopped states"). */
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "launch/proc_read.h"
#include "record/ptrace/ptrace_calls.h"
#include "record/ptrace/ptrace_internal.h"

/* Adds a thread or process started by a tracee.  The tracer hears of it twice, from
 * its creator and by its own first stop, in any order. */
static void take_new(struct tracer *t, uint32_t tid)
{
	struct tracee *k = tracee_find(t, tid);
	uint32_t parent = 0;

	if (k)
		return;
	k = tracee_add(t, tid);
	if (!k)
		return;
	k->releasing = k->pid != k->tid && tracee_is_releasing(t, k->pid);
	if (k->pid == k->tid) {
		if (!k->watched)
			k->watched = WATCHED_START;
		parent = proc_parent(k->pid);
		if (maps_watch_fork(&t->watch, k->pid, parent) < 0)
			t->failed = true;
		python_live_fork(&t->python, k->pid, parent);
	}
	tracer_emit_task(t, RECORD_FORK, k, parent);
}

/* Handles exec.  All other threads of the process have ended, and the thread that
 * called exec now has the number of the first thread. */
static void take_exec(struct tracer *t, uint32_t pid)
{
	struct watch_place at = { pid, pid, clock_now() };
	bool releasing = tracee_is_releasing(t, pid);
	struct tracee *k;

	for (size_t i = t->v.n; i-- > 0;)
		if (t->v.v[i].pid == pid) {
			if (t->v.v[i].tid != pid)
				tracer_emit_task(t, RECORD_EXIT, &t->v.v[i], 0);
			tracee_remove(t, &t->v.v[i]);
		}
	k = tracee_add(t, pid);
	if (!k)
		return;
	k->releasing = releasing;
	if (t->opts->on_exec)
		tracer_begin(t);
	python_live_end(&t->python, pid);
	if (maps_watch_exec(&t->watch, &at, tracer_emit, t, &t->err) < 0)
		t->failed = true;
}

static void take_event(struct tracer *t, uint32_t tid, int event)
{
	unsigned long message = 0;
	struct tracee *k;

	switch (event) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		if (!ptrace(PTRACE_GETEVENTMSG, (pid_t)tid, 0, &message) &&
		    message)
			take_new(t, (uint32_t)message);
		break;
	case PTRACE_EVENT_EXEC:
		take_exec(t, tid);
		break;
	default:
		break;
	}
	k = tracee_find(t, tid);
	if (k)
		tracee_go_on(k, 0);
	else
		ptrace(PTRACE_CONT, (pid_t)tid, 0, 0);
}

/* Handles PTRACE_EVENT_STOP: the whole process is stopped, or continues (SIGTRAP); or
 * a new thread begins, or the tracer requested the stop (SIGTRAP, too). */
static void take_trap(struct tracer *t, struct tracee *k, int sig)
{
	uint32_t tid = k->tid;
	bool asked = k->asked;

	if (asked) {
		k->asked = false;
		t->asked--;
	}
	if (signal_stops(sig)) {
		call_stopped(k);
		if (k->releasing)
			tracer_release(t, k);
		else
			ptrace(PTRACE_LISTEN, (pid_t)tid, 0, 0);
		return;
	}
	partial_io_cancel(k);
	if (asked)
		tracer_sample(t, k);
	else if (k->releasing)
		call_interrupted(k);
	if (k->releasing) {
		partial_io_cancel(k);
		if (asked)
			tracer_sampled(t, k);
		tracer_release(t, k);
		return;
	}
	tracee_go_on(k, 0);
	if (asked) {
		tracer_sampled(t, k);
		t->last = tid;
	}
}

/* PTRACE_O_TRACESYSGOOD marks stops that are not signals. */
static void take_signal(struct tracer *t, struct tracee *k, int sig)
{
	if (sig == (SIGTRAP | 0x80)) {
		if (!k->partial && !k->releasing && k->watched &&
		    tracer_watch(t, k))
			return;
		partial_io_step(k);
		sig = 0;
	} else {
		call_signalled(k, sig);
	}
	tracee_go_on(k, sig);
}

void tracer_stop(struct tracer *t, uint32_t tid, int status)
{
	struct tracee *k = tracee_find(t, tid);
	int sig = WSTOPSIG(status), event = status >> 16;

	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		if (k)
			tracer_forget(t, k);
		return;
	}
	if (!WIFSTOPPED(status))
		return;
	if (!k && event != PTRACE_EVENT_EXEC) {
		take_new(t, tid);
		k = tracee_find(t, tid);
	}
	if (event == PTRACE_EVENT_STOP && k)
		take_trap(t, k, sig);
	else if (event)
		take_event(t, tid, event);
	else if (k)
		take_signal(t, k, sig);
	else
		ptrace(PTRACE_CONT, (pid_t)tid, 0, (long)sig);
}
