// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks what perf events may record: own programs, the kernel, others, everything. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "record/doctor/doctor.h"
#include "record/perf/perf_try.h"

enum { NEED_OWN = 2, NEED_KERNEL = 1, NEED_SYSTEM = 0 };

static void why_level(const struct doctor *d, struct doctor_check *c, int need)
{
	const struct rights *r = &d->rights;

	if (r->paranoid == RIGHTS_UNKNOWN)
		doctor_found(c, "not allowed without %s",
			     rights_perfmon_name());
	else
		doctor_found(c, "not allowed: kernel.perf_event_paranoid is "
			     "%ld and %s is missing", r->paranoid,
			     rights_above(r));
	if (need == NEED_OWN)
		doctor_found(c, " (this kernel refuses everything at that "
			     "level)");
	if (r->inner_users && r->caps)
		doctor_found(c, "; capabilities of a user namespace do not "
			     "count here");
}

static void fix_denial(const struct doctor *d, struct doctor_check *c,
		       enum denial why, int need)
{
	char fix[sizeof(c->fix)];

	rights_fix(&d->rights, why, need, fix, sizeof(fix));
	doctor_fix(c, "%s", fix);
}

/* Explains what refused a request, and the way out. */
static void explain(const struct doctor *d, struct doctor_check *c, int errnum,
		    int need)
{
	enum denial why = rights_denial(&d->rights, errnum, need);

	switch (why) {
	case DENIED_ABSENT:
		doctor_found(c, "this kernel has no perf_event_open");
		break;
	case DENIED_FILTER:
		doctor_found(c, "a seccomp filter forbids perf_event_open "
			     "(%s)", strerror(errnum));
		break;
	case DENIED_LEVEL:
		why_level(d, c, need);
		break;
	case DENIED_POLICY:
		doctor_found(c, "refused (%s) though kernel.perf_event_paranoid"
			     " and capabilities allow it: a security module",
			     strerror(errnum));
		break;
	case DENIED_NOT:
		doctor_found(c, "perf_event_open: %s", strerror(errnum));
		break;
	}
	fix_denial(d, c, why, need);
}

static void explain_map(const struct doctor *d, struct doctor_check *c, int e)
{
	doctor_found(c, "no memory may be locked for samples (%s)",
		     strerror(e));
	doctor_fix_sysctl(d, c, "kernel.perf_event_mlock_kb=516");
	doctor_fix(c, ", or raise \"ulimit -l\"");
}

/* Returns whether calls are safe.  A filter may kill the caller, so a child tries
 * first. */
static bool reach(struct doctor *d)
{
	int r = rights_reach_in_child();
	struct doctor_check *c;

	if (r >= 0)
		return true;
	c = doctor_add(d, "own programs", DOCTOR_NO);
	doctor_found(c, "callers of perf_event_open are killed (%s) by a "
		     "seccomp filter", strsignal(-r));
	fix_denial(d, c, DENIED_FILTER, NEED_OWN);
	return false;
}

static void try_own(struct doctor *d)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct doctor_check *c = doctor_add(d, "own programs", DOCTOR_NO);
	struct perf_event_attr a;
	struct perf_try t;

	perf_try_clock(&a, false);
	perf_try_run(&t, &a, &self, false);
	if (t.open_errno) {
		explain(d, c, t.open_errno, NEED_OWN);
	} else if (t.map_errno) {
		explain_map(d, c, t.map_errno);
	} else if (!t.user) {
		doctor_found(c, "an event was opened, but there were no "
				"samples");
	} else {
		doctor_state(c, DOCTOR_OK, "user code can be sampled");
		d->own_user = true;
	}
}

static void try_kernel(struct doctor *d)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct doctor_check *c = doctor_add(d, "kernel code", DOCTOR_NO);
	struct perf_event_attr a;
	struct perf_try t;

	perf_try_clock(&a, true);
	perf_try_run(&t, &a, &self, true);
	if (t.open_errno) {
		explain(d, c, t.open_errno, NEED_KERNEL);
	} else if (t.map_errno || !t.kernel) {
		doctor_found(c, "an event was opened, but there were no "
				"samples");
	} else {
		doctor_state(c, DOCTOR_OK, "the kernel part of your own programs can "
			     "be sampled");
		d->own_kernel = true;
	}
}

static bool may_read_maps(pid_t pid)
{
	struct buf b = { 0 };
	char path[64];
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	ok = !io_read_file(path, 64 << 20, &b, NULL);
	buf_fini(&b);
	return ok;
}

static bool may_watch(pid_t pid, int *errnum)
{
	struct perf_scope at = { pid, -1, 0 };
	struct perf_event_attr a;
	int e;

	perf_try_clock(&a, false);
	e = perf_try_open(&a, &at);
	/* A process that has just ended proves nothing. */
	if (e && e != ESRCH)
		*errnum = e;
	return !e;
}

static void found_others(struct doctor *d, struct doctor_check *c, bool maps)
{
	d->others = true;
	doctor_state(c, DOCTOR_OK, "processes of other users can be sampled (-p)");
	if (maps)
		return;
	doctor_state(c, DOCTOR_LIMITED, ", but not their earlier mappings: no symbols "
		     "of running programs");
	doctor_fix(c, "add the capability CAP_SYS_PTRACE, or use sudo");
}

static void try_others(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "other users", DOCTOR_NO);
	struct other_users s;
	bool watched = false, maps = false;
	int errnum = 0;

	try_other_users(&s);
	for (int i = 0; i < s.n && !(watched && maps); i++) {
		watched |= may_watch(s.pid[i], &errnum);
		maps |= may_read_maps(s.pid[i]);
	}
	d->others_closed = s.n && !maps;
	try_other_users_end(&s);
	if (watched) {
		found_others(d, c, maps);
	} else if (errnum) {
		doctor_found(c, "processes of other users may not be recorded "
			     "(%s)", strerror(errnum));
		doctor_fix(c, "sudo tally record -p PID, or add the capability "
			   "%s", rights_perfmon_name());
	} else {
		doctor_found(c, "not tested: no process of another user is "
			     "visible here%s", d->rights.inner_pids
			     ? " (own pid namespace)" : "");
	}
}

static void try_system(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "whole system", DOCTOR_NO);
	int cpu = sched_getcpu();
	struct perf_scope at = { -1, cpu < 0 ? 0 : cpu, 0 };
	struct perf_event_attr a;
	struct perf_try t;

	perf_try_clock(&a, d->own_kernel);
	perf_try_run(&t, &a, &at, false);
	if (t.open_errno) {
		explain(d, c, t.open_errno, NEED_SYSTEM);
		return;
	}
	d->system = true;
	doctor_state(c, DOCTOR_OK, "everything on a processor can be sampled (-a)");
	if (d->others_closed) {
		doctor_state(c, DOCTOR_LIMITED, "; no symbols of running programs of "
			     "other users");
		doctor_fix(c, "use sudo, or add the capability CAP_SYS_PTRACE");
	} else if (d->rights.inner_pids) {
		doctor_state(c, DOCTOR_LIMITED, "; programs outside this pid namespace "
			     "have no names here");
		doctor_fix(c, "run tally on the host, or in a container with "
			   "--pid=host");
	}
}

void doctor_programs(struct doctor *d)
{
	if (!reach(d))
		return;
	try_own(d);
	if (!d->own_user)
		return;
	try_kernel(d);
	try_others(d);
	try_system(d);
}
