// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the source of samples by ptrace(2). */
#include "record/ptrace/ptrace_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/proc_read.h"
#include "profile/model.h"
#include "record/source/clock_event.h"
#include "record/ptrace/ptrace_internal.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
	RING_BYTES = 32 << 20,	/* half a second of full copies, at 1 kHz on 1 CPU */
	RATE_MAX = 10000,
	COPY_MAX = 512 << 10,
	FRAMES_MAX = 4096,
};

struct ptrace_source {
	struct source base;
	struct source_event seen[CLOCK_EVENTS];
	struct ptrace_ring ring;
	struct ptrace_options opts;
	pid_t tracer;		/* 0: none, or it has ended */
	int died;		/* wait status if it did not end properly, else 0 */
	int control_fd;
	uint64_t lost, gaps;	/* already reported */
	uint64_t unseen;
};

static struct ptrace_source *of(struct source *s)
{
	return (struct ptrace_source *)s;
}

static int pt_start(struct source *s, struct error *err)
{
	struct ptrace_source *p = of(s);

	atomic_store(&p->ring.shared->sampling, true);
	if (p->tracer && send(p->control_fd, "", 1, MSG_NOSIGNAL) < 0 &&
	    errno != EPIPE && errno != ECONNRESET)
		return error_errno(err, errno, "cannot start the tracer");
	return 0;
}

static int pt_enable(struct source *s, uint32_t event, bool on,
		     struct error *err)
{
	(void)event;
	atomic_store(&of(s)->ring.shared->paused, !on);
	return on ? pt_start(s, err) : 0;
}

/* Waits for the tracer with these flags and notes how it ended.  By itself it ends
 * properly only when all tracees have ended. */
static void wait_for_tracer(struct ptrace_source *p, int flags)
{
	pid_t got;
	int status;

	if (!p->tracer)
		return;
	do
		got = waitpid(p->tracer, &status, flags);
	while (got < 0 && errno == EINTR);
	if (!got)
		return;
	p->died = got > 0 ? status : 0;
	p->tracer = 0;
}

/* Ends the tracer, which releases all its tracees. */
static void pt_stop(struct source *s)
{
	struct ptrace_source *p = of(s);

	if (!p->tracer)
		return;
	atomic_store(&p->ring.shared->quit, true);
	shutdown(p->control_fd, SHUT_RDWR);
	wait_for_tracer(p, 0);
}

/* Says why samples are missing from some time on. */
static int tracer_died(const struct ptrace_source *p, struct error *err)
{
	if (!WIFSIGNALED(p->died))
		return error_set(err, ERR_NOMEM, "the tracing process (tally-ptrace) ran "
				 "out of memory");
	return error_set(err, ERR_IO, "the tracing process (tally-ptrace) was killed by "
			 "signal %d%s", WTERMSIG(p->died),
			 WTERMSIG(p->died) != SIGKILL ? "" : ", as the kernel does "
			 "when memory runs out (dmesg says so)");
}

/* Delivers one sample for the time that no sample represents. */
static int report_unseen(struct ptrace_source *p, record_cb *cb, void *ctx,
			 struct error *err)
{
	uint64_t unseen = atomic_load(&p->ring.shared->unseen);
	struct record r = { .kind = RECORD_SAMPLE, .pid = UINT32_MAX,
			    .tid = UINT32_MAX, .cpu = SOURCE_NONE,
			    .time_ns = clock_now() };
	int rc;

	if (unseen <= p->unseen || p->seen[0].exclude_user ||
	    p->seen[0].exclude_kernel)
		return 0;
	r.sample.weight = unseen - p->unseen;
	r.sample.place = PLACE_NOT_SAMPLED;
	p->unseen = unseen;
	rc = cb(ctx, &r, err);
	return rc < 0 ? rc : 0;
}

static int pt_drain(struct source *s, bool all, record_cb *cb, void *ctx,
		    struct error *err)
{
	struct ptrace_source *p = of(s);
	struct record gap = { .kind = RECORD_GAP, .event = SOURCE_NONE };
	uint64_t n, gaps;
	int r;

	/* Its last records are then in the ring. */
	wait_for_tracer(p, WNOHANG);
	if (read(s->wake_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return error_errno(err, errno, "eventfd");
	s->sideband_pending = atomic_exchange(&p->ring.shared->sideband_pending, false);
	r = ptrace_ring_read(&p->ring, &s->damaged, cb, ctx, err);
	if (r >= 0 && all)
		r = report_unseen(p, cb, ctx, err);
	p->ring.shared->left[sizeof(p->ring.shared->left) - 1] = 0;
	if (all && p->ring.shared->left[0]) {
		s->outside = p->ring.shared->left;
		s->outside_why = "a process can have only one tracer; try "
				 "--source=timer";
	}
	gaps = atomic_load(&p->ring.shared->gaps);
	if (r >= 0 && gaps != p->gaps) {
		gap.time_ns = clock_now();
		gap.lost = gaps - p->gaps;
		p->gaps = gaps;
		r = cb(ctx, &gap, err);
	}
	return r >= 0 && p->died ? tracer_died(p, err) : r;
}

static int pt_count(struct source *s, size_t event, struct source_count *out,
		    record_cb *cb, void *ctx, struct error *err)
{
	struct ptrace_source *p = of(s);
	struct record r = { .kind = RECORD_LOST, .cpu = SOURCE_NONE };
	uint64_t lost = atomic_load(&p->ring.shared->lost);

	memset(out, 0, sizeof(*out));
	if (event)
		return 0;
	out->value = atomic_load(&p->ring.shared->weight) +
		     atomic_load(&p->ring.shared->unseen);
	out->enabled_ns = out->running_ns = out->value;
	if (!p->seen[0].exclude_user && !p->seen[0].exclude_kernel)
		out->wanted = clock_event_samples(&p->seen[0], (double)out->value);
	if (lost == p->lost)
		return 0;
	r.time_ns = clock_now();
	r.lost = lost - p->lost;
	p->lost = lost;
	return cb(ctx, &r, err);
}

static void pt_close(struct source *s)
{
	struct ptrace_source *p = of(s);

	pt_stop(s);
	if (p->control_fd >= 0)
		close(p->control_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	ptrace_ring_fini(&p->ring);
	free(p);
}

static const struct source_ops ptrace_ops = {
	.name = PROF_SOURCE_PTRACE,
	.start = pt_start,
	.stop = pt_stop,
	.enable = pt_enable,
	.drain = pt_drain,
	.count = pt_count,
	.close = pt_close,
};

static void close_between(int first, int last)
{
	if (first > last)
		return;
	if (syscall(SYS_close_range, (unsigned int)first, (unsigned int)last,
		    0u) == 0)
		return;
	if (last > sysconf(_SC_OPEN_MAX))
		last = (int)sysconf(_SC_OPEN_MAX);
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

/* Closes the recorder's open files, which this process must not hold: pipes whose
 * closing signals an end, the terminal. */
static void close_others(int a, int b)
{
	int low = a < b ? a : b, high = a < b ? b : a;
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != a && fd != b && fd != null)
			dup2(null, fd);
	close_between(3, low - 1);
	close_between(low > 3 ? low + 1 : 3, high - 1);
	close_between(high > 3 ? high + 1 : 3, INT32_MAX);
}

/* Runs the child. */
static _Noreturn void child_main(struct ptrace_source *p, int control_fd,
				 pid_t recorder)
{
	/* First of all: the child must not outlive the recorder.  Later, the other
	 * end of control_fd serves for this, because no call may be left incomplete. */
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != recorder)
		_exit(0);
	prctl(PR_SET_NAME, "tally-ptrace", 0, 0, 0);
	/* A terminal's signals are for the program only. */
	setsid();
	close_others(control_fd, p->base.wake_fd);
	_exit(tracer_main(&p->opts, &p->ring, p->base.wake_fd, control_fd) < 0);
}

static int start_tracer(struct ptrace_source *p, struct error *err)
{
	struct ptrace_shared *s = p->ring.shared;
	pid_t recorder = getpid();
	int pair[2];
	char word;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_errno(err, errno, "cannot make a pair of sockets");
	p->tracer = fork();
	if (!p->tracer) {
		close(pair[0]);
		child_main(p, pair[1], recorder);
	}
	close(pair[1]);
	p->control_fd = pair[0];
	if (p->tracer < 0) {
		p->tracer = 0;
		return error_errno(err, errno, "cannot fork");
	}
	do
		n = read(p->control_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (s->error) {
		s->why[sizeof(s->why) - 1] = 0;
		return error_set(err, (enum errcode)s->error, "%s", s->why);
	}
	if (n != 1)
		return error_set(err, ERR_IO, "the tracer ended before it "
				 "started");
	return 0;
}

static int check_target(const struct source_target *t, struct error *err)
{
	if (!t->tids)
		return error_set(err, ERR_UNSUPPORTED, "ptrace records "
				 "programs started by tally and processes "
				 "(-p), not processors or cgroups");
	if (!t->all_cpus)
		return error_set(err, ERR_UNSUPPORTED, "ptrace cannot choose "
				 "processors (-C)");
	if (!proc_is_own())
		return error_set(err, ERR_UNSUPPORTED, "ptrace needs /proc, of "
				 "its own process namespace: "
				 "\"mount -t proc proc /proc\"");
	return 0;
}

static void set_options(struct ptrace_source *p, const struct source_target *t,
			const struct source_options *o)
{
	uint32_t copy = o->copy_bytes && o->copy_bytes < COPY_MAX
			? o->copy_bytes : COPY_MAX;

	p->opts = (struct ptrace_options){
		.tids = t->tids, .ntids = t->ntids, .inherit = o->inherit,
		.on_exec = o->enable_on_exec,
		.no_user = p->seen[0].exclude_user,
		.no_kernel = p->seen[0].exclude_kernel,
		.copy_bytes = o->callchain ? copy : 0,
		.period_ns = p->seen[0].period,
	};
	p->base.copy_bytes = p->opts.copy_bytes;
	p->base.max_stack = FRAMES_MAX;
	p->base.no_kernel = true;
}

static void note(struct source_event *e)
{
	if (!e->exclude_kernel)
		source_event_note(e, "system calls are shown as [kernel]; page "
				  "faults and interrupts are attributed to the "
				  "interrupted code");
}

static int ptrace_source_open(const struct source_target *target,
			      const struct source_options *o,
			      struct source **out, struct error *err)
{
	struct ptrace_source *p;
	int r = check_target(target, err);

	*out = NULL;
	if (r < 0)
		return r;
#ifndef __x86_64__
	return error_set(err, ERR_UNSUPPORTED, "ptrace as a source is for "
			 "x86-64 only");
#endif
	p = calloc(1, sizeof(*p));
	if (!p || ptrace_ring_init(&p->ring, RING_BYTES) < 0) {
		free(p);
		return error_set(err, ERR_NOMEM, "out of memory for samples");
	}
	p->base.ops = &ptrace_ops;
	p->control_fd = -1;
	p->base.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = clock_event_fill(o, "ptrace", RATE_MAX, p->seen, err);
	if (!r && p->base.wake_fd < 0)
		r = error_errno(err, errno, "eventfd");
	if (!r) {
		set_options(p, target, o);
		r = start_tracer(p, err);
	}
	if (r < 0) {
		pt_close(&p->base);
		return r;
	}
	note(p->seen);
	clock_events_set(o, p->seen, &p->base);
	*out = &p->base;
	return 0;
}

/* Limit of sampling a child in `tally doctor`, and the interval of checks. */
enum { TRY_MS = 3000, ROUND_MS = 20 };

static int count_sample(void *ctx, const struct record *r, struct error *err)
{
	int *samples = ctx;

	(void)err;
	*samples += r->kind == RECORD_SAMPLE;
	return 0;
}

/* Samples a busy child.  Returns the number of samples, or an error. */
static int sample_child(pid_t child, struct error *err)
{
	struct event_spec clock = { .text = "cpu-clock", .type = 1 };
	struct event_list events = { &clock, 1, 1 };
	uint32_t tid = (uint32_t)child;
	struct source_target target = { .tids = &tid, .ntids = 1,
				      .cgroup_fd = -1, .all_cpus = true };
	struct source_options o = { .events = &events, .freq = 999,
					 .callchain = true, .copy = true };
	struct source *s;
	int samples = 0, r = ptrace_source_open(&target, &o, &s, err);

	if (r < 0)
		return r;
	r = s->ops->start(s, err);
	for (int ms = 0; !r && !samples && ms < TRY_MS; ms += ROUND_MS) {
		poll(NULL, 0, ROUND_MS);
		r = s->ops->drain(s, false, count_sample, &samples, err);
	}
	s->ops->stop(s);
	s->ops->close(s);
	return r < 0 ? r : samples;
}

static _Noreturn void child_works(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
	for (;;)
		__asm__ volatile("");
}

static void ptrace_works(struct doctor *d, struct doctor_check *c)
{
	int scope = ptrace_scope();

	d->own_ptrace = true;
	doctor_found(c, "programs started by tally can be sampled by ptrace");
	if (scope <= 0 || d->rights.root) {
		doctor_found(c, ", and your running processes (-p)");
		return;
	}
	c->state = DOCTOR_LIMITED;
	doctor_found(c, ", but not running processes (-p): "
		     "kernel.yama.ptrace_scope is %d and CAP_SYS_PTRACE is "
		     "missing", scope);
	doctor_fix_sysctl(d, c, "kernel.yama.ptrace_scope=0");
}

static void diagnose(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "source ptrace", DOCTOR_OK);
	struct error err = { 0 };
	pid_t child = fork();
	int r;

	if (child < 0) {
		c->state = DOCTOR_NO;
		doctor_found(c, "not tested: no child process could be "
			     "started");
		return;
	}
	if (!child)
		child_works();
	r = sample_child(child, &err);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (r < 0) {
		c->state = DOCTOR_NO;
		doctor_found(c, "%s", err.msg);
	} else if (!r) {
		c->state = DOCTOR_NO;
		doctor_found(c, "a child was traced, but there were no "
			     "samples");
	} else {
		ptrace_works(d, c);
	}
}

const struct source_type ptrace_source_type = {
	.name = "ptrace",
	.frames_of_running = true,
	.open = ptrace_source_open,
	.diagnose = diagnose,
};
