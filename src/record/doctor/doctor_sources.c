// SPDX-License-Identifier: GPL-2.0-or-later
/* The sources that samples can come from (--source): what each can do is tried
 * elsewhere for perf and the kernel module, here for the others. */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/doctor/doctor.h"
#include "record/ptrace/ptrace_refused.h"
#include "record/ptrace/ptrace_source.h"

enum { TRY_MS = 3000, ROUND_MS = 20 };

/* An error names its fix behind the last colon or in parentheses; here it stands
 * with what was found. */
static void found_error(struct doctor_check *c, const struct error *err)
{
	c->state = DOCTOR_NO;
	doctor_found(c, "%s", err->msg);
}

static void try_perf(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "source perf", DOCTOR_OK);

	if (d->own_user) {
		doctor_found(c, "perf events with all features; the first "
				"choice");
		return;
	}
	c->state = DOCTOR_NO;
	doctor_found(c, "no perf events for this user: see \"own programs\"");
}

static int count_sample(void *ctx, const struct record *r, struct error *err)
{
	int *samples = ctx;

	(void)err;
	*samples += r->kind == RECORD_SAMPLE;
	return 0;
}

/* Samples of a child that works; their number, or an error. */
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
	char fix[sizeof(c->fix)];

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
	rights_sysctl(&d->rights, "kernel.yama.ptrace_scope=0", fix,
		      sizeof(fix));
	doctor_fix(c, "%s", fix);
}

static void try_ptrace(struct doctor *d)
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
		found_error(c, &err);
	} else if (!r) {
		c->state = DOCTOR_NO;
		doctor_found(c, "a child was traced, but there were no "
			     "samples");
	} else {
		ptrace_works(d, c);
	}
}

void doctor_sources(struct doctor *d)
{
	try_perf(d);
	doctor_timer(d);
	try_ptrace(d);
}
