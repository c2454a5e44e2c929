// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the tracing process: its loop and its threads. */
#include "record/ptrace/ptrace_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "launch/proc_read.h"
#include "record/ptrace/ptrace_calls.h"

enum {
	IDLE_SOME = 64,		/* idle ticks after which a thread is checked less
				 * often */
	IDLE_LONG = 1024,
	SOME_STEP = 4,		/* once in this many ticks */
	LONG_STEP = 16,
	SEIZE_TRIES = 200,	/* attempts, 1 ms each: see seize_one */
	END_TRIES = 1000,	/* likewise: see end_partial_io */
	STOP_WAIT_NS = 50000,	/* maximum wait for a requested stop */
	LOOK_NS = 10000000,	/* interval of checks while processes are being
				 * released */
	WAKE_DIVISOR = 4,	/* fraction of the ring that may be full before the
				 * recorder is woken */
};

/* Returns the time to the next tick: a period, divided by the number of chosen
 * threads, and varied by up to a quarter.  Ticks in step with the program would
 * always see the same part of it. */
static uint64_t tick_length(struct tracer *t)
{
	uint64_t p = t->opts->period_ns;

	if (t->chosen.n)
		p /= t->chosen.n;
	return random_about(p, random_next(&t->random));
}

static int seize(struct tracer *t, uint32_t tid)
{
	unsigned long options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

	if (t->opts->inherit)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			   PTRACE_O_TRACECLONE;
	return ptrace(PTRACE_SEIZE, (pid_t)tid, 0, options) < 0 ? errno : 0;
}

/* Asks a thread to stop. */
static bool ask(struct tracer *t, struct tracee *k)
{
	if (ptrace(PTRACE_INTERRUPT, (pid_t)k->tid, 0, 0) < 0)
		return false;
	k->asked = true;
	t->asked++;
	return true;
}

/* Seizes a thread.  A child of the recorder permits tracing itself (launch.c), but
 * may not have done so yet. */
static int seize_one(struct tracer *t, uint32_t tid, bool ours)
{
	static const struct timespec wait = { 0, 1000000 };
	int e = seize(t, tid);

	for (int i = 0; e == EPERM && ours && i < SEIZE_TRIES &&
	     ptrace_scope() == 1; i++) {
		nanosleep(&wait, NULL);
		e = seize(t, tid);
	}
	return e;
}

/* Adds a seized thread.  Its system calls are watched from its next stop on. */
static int take(struct tracer *t, uint32_t tid)
{
	struct tracee *k = tracee_find(t, tid);

	if (!k)
		k = tracee_add(t, tid);
	if (!k)
		return error_nomem(&t->err);
	if (k->watched && !k->asked)
		ask(t, k);
	return 0;
}

static int seize_all(struct tracer *t)
{
	uint32_t recorder = (uint32_t)getppid();

	for (size_t i = 0; i < t->opts->ntids; i++) {
		uint32_t tid = t->opts->tids[i];
		bool ours = proc_parent(tid) == recorder;
		int e = seize_one(t, tid, ours);

		if (e == ESRCH)
			continue;	/* it has ended in the meantime */
		/* A thread started while attaching is already traced. */
		if (e && tracee_find(t, tid))
			continue;
		if (e)
			return ptrace_refused(e, (pid_t)tid, ours, &t->err);
		if (take(t, tid) < 0)
			return -ERR_NOMEM;
	}
	if (!t->v.n)
		return error_set(&t->err, ERR_NOTFOUND, "the processes to "
				 "record have ended");
	return 0;
}

/* Handles all pending stops.  Returns false when no tracee is left. */
static bool reap(struct tracer *t)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, WNOHANG | __WALL);

		if (!tid)
			return true;
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return false;
		tracer_stop(t, (uint32_t)tid, status);
	}
}

static void wake(struct tracer *t)
{
	struct ptrace_shared *s = t->ring->shared;
	uint64_t one = 1;

	if (!atomic_load(&s->sideband_pending) &&
	    ptrace_ring_waiting(t->ring) < t->ring->size / WAKE_DIVISOR)
		return;
	/* A full counter has already woken it. */
	if (write(t->wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* Threads that have slept for long are checked less often. */
static bool is_due(const struct tracer *t, const struct tracee *k)
{
	uint64_t step = k->idle >= IDLE_LONG ? LONG_STEP
			: k->idle >= IDLE_SOME ? SOME_STEP : 1;

	return !k->asked && !k->releasing && !k->waits_for &&
	       (t->tick + k->tid) % step == 0;
}

/* Chooses the running threads, in random order. */
static void choose(struct tracer *t)
{
	size_t n;

	t->tick++;
	t->chosen.n = t->turn = 0;
	for (size_t i = 0; i < t->v.n; i++) {
		struct tracee *k = &t->v.v[i];

		if (!is_due(t, k))
			continue;
		if (!tracee_runs(t, k)) {
			k->idle += k->idle < IDLE_LONG;
			continue;
		}
		k->idle = 0;
		if (vec_push(&t->chosen, k->tid) < 0)
			t->failed = true;
	}
	n = t->chosen.n;
	for (size_t i = 0; i + 1 < n; i++) {
		size_t j = i + random_next(&t->random) % (n - i);
		uint32_t tid = t->chosen.v[i];

		t->chosen.v[i] = t->chosen.v[j];
		t->chosen.v[j] = tid;
	}
	t->crowd = 1;
	if (n > t->processors) {
		t->chosen.n = t->processors;
		t->crowd = (double)n / t->processors;
	}
}

/* Returns whether it is too early for a sample, because other threads ran, too.  A
 * thread on the tracer's own CPU is not running, so the time that it ran is known. */
static bool is_early(const struct tracer *t, const struct tracee *k)
{
	return !k->first && t->same_cpu == k->tid &&
	       k->seen.run - k->time.run < t->opts->period_ns / 2;
}

/* Moves to the thread that is probably next, after the last one was resumed. */
static void place(struct tracer *t)
{
	uint32_t tid = t->turn < t->chosen.n ? t->chosen.v[t->turn] : t->last;
	struct tracee *next = t->last ? tracee_find(t, tid) : NULL;

	t->last = 0;
	if (next)
		tracer_move(t, next);
}

/* Waits for a stop.  From another CPU it is usually seen at once; a sleeping tracer
 * would leave the thread stopped for longer. */
static void await(struct tracer *t, uint32_t tid)
{
	uint64_t until = clock_now() + STOP_WAIT_NS;
	int status;

	do {
		pid_t got = waitpid((pid_t)tid, &status, WNOHANG | __WALL);

		if (got > 0)
			tracer_stop(t, tid, status);
		if (got)
			return;
	} while (clock_now() < until);
}

static void tick(struct tracer *t, uint64_t now)
{
	bool fresh = t->turn >= t->chosen.n;
	struct tracee *k;

	if (fresh)
		choose(t);
	if (t->turn >= t->chosen.n)
		return;
	k = tracee_find(t, t->chosen.v[t->turn++]);
	if (!k || k->asked || k->releasing || k->waits_for ||
	    !(fresh || tracee_runs(t, k)))
		return;
	t->last = k->tid;
	if (is_early(t, k) || !ask(t, k))
		return;
	k->tick_ns = now;
	k->asked_wait = tracer_time(t).wait;
	k->asked_ns = clock_now();
	if (t->other_cpu == k->tid)
		await(t, k->tid);
}

/* Waits for the next tick, a stop, or a request of the recorder. */
static void wait_for_tick(struct tracer *t)
{
	struct pollfd fds[2] = { { t->signal_fd, POLLIN, 0 },
				 { t->control_fd, POLLIN, 0 } };
	struct timespec wait = { 0, 0 };
	struct signalfd_siginfo si[16];
	uint64_t now = clock_now(), left;
	char word[16];

	left = t->next_ns > now ? t->next_ns - now : 0;
	if (!t->sampling)
		left = LOOK_NS;
	wait.tv_sec = (time_t)(left / 1000000000u);
	wait.tv_nsec = (long)(left % 1000000000u);
	if (ppoll(fds, 2, t->sampling || t->waiting ? &wait : NULL, NULL) <= 0)
		return;
	if (fds[0].revents)
		while (read(t->signal_fd, si, sizeof(si)) == sizeof(si))
			;
	if (fds[1].revents && read(t->control_fd, word, sizeof(word)) == 0)
		atomic_store(&t->ring->shared->quit, true);
}

static bool any_partial(const struct tracer *t)
{
	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].partial)
			return true;
	return false;
}

/* Waits for the rest of incomplete calls before all threads are released, so that no
 * program is left with half a call. */
static void end_partial_io(struct tracer *t)
{
	static const struct timespec wait = { 0, 1000000 };

	for (size_t i = 0; i < t->v.n; i++)
		if (t->v.v[i].partial)
			ptrace(PTRACE_INTERRUPT, (pid_t)t->v.v[i].tid, 0, 0);
	for (int i = 0; i < END_TRIES && any_partial(t);) {
		int status;
		pid_t tid = waitpid(-1, &status, WNOHANG | __WALL);

		if (tid < 0 && errno != EINTR)
			return;
		if (tid > 0) {
			tracer_stop(t, (uint32_t)tid, status);
			continue;
		}
		nanosleep(&wait, NULL);
		i++;
	}
}

static void trace(struct tracer *t)
{
	struct ptrace_shared *s = t->ring->shared;

	while (!t->failed && !atomic_load(&s->quit) && reap(t)) {
		uint64_t now = clock_now();

		if (atomic_load(&s->sampling))
			tracer_begin(t);
		if (t->sampling && now >= t->next_ns) {
			tick(t, now);
			t->next_ns = now + tick_length(t);
		}
		tracer_check_releases(t);
		wake(t);
		place(t);
		wait_for_tick(t);
	}
	end_partial_io(t);
	atomic_store(&s->sideband_pending, true);
	wake(t);
}

static int prepare(struct tracer *t)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGBUS);	/* raised for truncated files: base/io.h */
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	t->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (t->signal_fd < 0)
		return error_errno(&t->err, errno, "signalfd");
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	t->time_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	tracer_move_init(t);
	t->random = clock_now() | 1;
	t->stack = malloc(t->opts->copy_bytes + 1);
	if (!t->stack)
		return error_nomem(&t->err);
	return seize_all(t);
}

int tracer_main(const struct ptrace_options *opts, struct ptrace_ring *ring,
		int wake_fd, int control_fd)
{
	struct tracer t = { .opts = opts, .ring = ring, .wake_fd = wake_fd,
			    .control_fd = control_fd, .signal_fd = -1,
			    .time_fd = -1 };
	int r;

	maps_watch_init(&t.watch, "/proc");
	python_live_init(&t.python, NULL, "/proc");
	r = prepare(&t);
	if (r < 0) {
		ring->shared->error = t.err.code;
		snprintf(ring->shared->why, sizeof(ring->shared->why), "%s",
			 t.err.msg);
	}
	if (write(control_fd, "", 1) == 1 && !r)
		trace(&t);
	tracees_fini(&t);
	maps_watch_fini(&t.watch);
	free(t.stack);
	if (t.signal_fd >= 0)
		close(t.signal_fd);
	if (t.time_fd >= 0)
		close(t.time_fd);
	return t.failed ? -ERR_NOMEM : r;
}
