// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens perf events and explains refusals. */
#include "record/perf/perf_open.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "events/events.h"
#include "launch/proc_read.h"
#include "record/perf/perf_abi.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_plan.h"
#include "record/source/options.h"
#include "record/source/rights.h"

static int sys_open(struct perf_event_attr *a, const struct perf_scope *at,
		    int leader)
{
	long fd = syscall(SYS_perf_event_open, a, at->pid, at->cpu,
			  leader, at->flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int perf_sys_open(struct perf_event_attr *a, const struct perf_scope *at)
{
	return sys_open(a, at, -1);
}

static void target_text(const struct perf_scope *at, char *out, size_t size)
{
	if (at->flags & PERF_FLAG_PID_CGROUP)
		snprintf(out, size, "a control group");
	else if (at->pid < 0)
		snprintf(out, size, "the whole system");
	else if (at->pid > 0)
		snprintf(out, size, "process %d", at->pid);
	else
		snprintf(out, size, "this program");
}

/* Returns whether the target is another user's process, for which no setting is
 * enough. */
static bool of_other_user(const struct rights *r, const struct perf_scope *at)
{
	uint64_t uid;

	return at->pid > 0 && !(at->flags & PERF_FLAG_PID_CGROUP) &&
	       !rights_perfmon(r) && proc_other_user((uint32_t)at->pid, &uid);
}

static int level_error(const struct rights *r, const char *target,
		       const char *what, int need, struct error *err)
{
	char name[64], fix[160];

	snprintf(name, sizeof(name), "kernel.perf_event_paranoid=%d", need);
	rights_sysctl(r, name, fix, sizeof(fix));
	if (r->paranoid == RIGHTS_UNKNOWN)
		snprintf(name, sizeof(name), "the setting cannot be read");
	else
		snprintf(name, sizeof(name), "it is %ld", r->paranoid);
	return error_set(err, ERR_PERM, "not allowed to record %s%s: "
			 "kernel.perf_event_paranoid must be %d or less, and %s;"
			 " \"%s\" or the capability %s allows it (see \"tally "
			 "doctor\")", target, what, need, name, fix,
			 rights_above(r));
}

static int no_permission(int errnum, const char *what,
			 const struct perf_scope *at, struct error *err)
{
	bool all = at->pid < 0 || at->flags & PERF_FLAG_PID_CGROUP;
	int need = all ? 0 : 2;
	struct rights r;
	enum denial why;
	char target[64], fix[256], event[EVENT_NAME_MAX + 3] = "";

	if (*what)
		snprintf(event, sizeof(event), " (%s)", what);
	rights_read(&r);
	why = rights_denial(&r, errnum, need);
	target_text(at, target, sizeof(target));
	if (why == DENIED_LEVEL && !of_other_user(&r, at))
		return level_error(&r, target, event, need, err);
	if (why == DENIED_LEVEL)
		why = DENIED_NOT;
	rights_fix(&r, why, need, fix, sizeof(fix));
	if (why == DENIED_FILTER)
		return error_set(err, ERR_PERM, "not allowed to record: a "
				 "seccomp filter forbids perf_event_open; %s "
				 "(see \"tally doctor\")", fix);
	if (why == DENIED_ABSENT)
		return error_set(err, ERR_UNSUPPORTED, "this kernel has no "
				 "perf_event_open: %s", fix);
	if (!all && at->pid > 0 && !rights_perfmon(&r))
		return error_set(err, ERR_PERM, "not allowed to record %s: it "
				 "belongs to another user; use that user's "
				 "account or sudo (see \"tally doctor\")", target);
	return error_set(err, ERR_PERM, "not allowed to record %s%s, though "
			 "kernel.perf_event_paranoid and capabilities allow it: "
			 "%s (see \"tally doctor\")", target, event, fix);
}

static int cgroup_error(int fd, struct error *err)
{
	struct statfs fs;

	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP_SUPER_MAGIC)
		return error_set(err, ERR_UNSUPPORTED, "perf events cannot "
				 "use this control group: it has version 1 "
				 "and not the perf_event controller; \"grep "
				 "-E 'cgroup2|perf_event' /proc/mounts\" "
				 "shows where usable groups are");
	/* kernel/cgroup: implicit controllers appear with the first controller that
	 * is enabled. */
	return error_set(err, ERR_UNSUPPORTED, "perf events cannot use this "
			 "control group: enable any controller in its parent "
			 "(\"echo +pids >/sys/fs/cgroup/cgroup."
			 "subtree_control\") and create the group again");
}

int perf_refused(int errnum, const char *what, const struct perf_scope *at,
		 struct error *err)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		return no_permission(errnum, what, at, err);
	case EMFILE:
		return error_set(err, ERR_FILES, "too many files to record%s%s: "
				 "raise the hard limit (\"ulimit -Hn\", now "
				 "%ld) or record fewer threads, CPUs or events",
				 *what ? " " : "", what, sysconf(_SC_OPEN_MAX));
	case ENOENT:
		if (at->flags & PERF_FLAG_PID_CGROUP && !*what)
			return cgroup_error(at->pid, err);
		/* fall through */
	case EOPNOTSUPP:
	case ENODEV:
		return error_set(err, ERR_UNSUPPORTED,
				 "event %s does not exist on this machine",
				 what);
	case EBUSY:
		return error_set(err, ERR_UNSUPPORTED, "event %s: the "
				 "counters it needs are in use by another "
				 "program", what);
	default:
		return error_errno(err, errnum, "event %s", what);
	}
}

static void dummy_attr(struct perf_event_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->size = PERF_ATTR_SIZE_TALLY;
	a->type = PERF_TYPE_SOFTWARE;
	a->config = PERF_COUNT_SW_DUMMY;
	a->exclude_kernel = 1;
	a->exclude_hv = 1;
}

static void apply_features(struct perf_event_attr *a,
			   const struct perf_features *f)
{
	a->sample_id_all = 1;
	a->sample_type = PERF_SAMPLE_LAYOUT;
	a->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			 PERF_FORMAT_TOTAL_TIME_RUNNING |
			 (f->lost ? PERF_FORMAT_LOST : 0);
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC;
}

void perf_tracking_prepare(struct perf_event_attr *a,
			   const struct perf_features *f, bool inherit,
			   uint32_t watermark)
{
	dummy_attr(a);
	apply_features(a, f);
	a->sample_period = 1;
	a->inherit = inherit;
	a->mmap = 1;
	/* Not with build_id: Linux 5.12 and later, up to 6.18 at least, then mark the
	 * records of all other recorders, too, and perf 6.1 and 6.12 cannot read their
	 * own files any more.  Build IDs are read from the files. */
	a->mmap2 = 1;
	a->comm = 1;
	a->comm_exec = 1;
	a->task = 1;
	a->ksymbol = f->ksymbol;
	a->cgroup = f->cgroup;
	a->watermark = 1;
	a->wakeup_watermark = watermark;
}

void perf_switches_prepare(struct perf_event_attr *a,
			   const struct perf_features *f,
			   const struct perf_sampling *how, uint32_t watermark)
{
	dummy_attr(a);
	apply_features(a, f);
	a->sample_period = 1;
	a->disabled = 1;
	a->enable_on_exec = how->enable_on_exec;
	a->inherit = how->inherit;
	a->context_switch = 1;
	a->watermark = 1;
	a->wakeup_watermark = watermark;
}

bool perf_wakes_prepare(struct perf_event_attr *a, const struct perf_features *f,
			const struct perf_sampling *how, uint32_t *woken_at,
			char *why, size_t size)
{
	static const char system[] = "sched", name[] = "sched_waking";
	const struct perf_scope self = { 0, -1, 0 };
	struct event_spec spec;
	struct error err;
	int fd;

	/* The record uses the numbers of the machine's first pid namespace. */
	if (!proc_first_pid_namespace()) {
		snprintf(why, size, "in a pid namespace of its own");
		return false;
	}
	if (tracepoint_find("/sys", system, name, &spec, &err) != 1 ||
	    !tracepoint_field("/sys", system, name, "pid", woken_at)) {
		snprintf(why, size, tracepoints_readable("/sys")
			 ? "the tracepoint sched:sched_waking is not there"
			 : geteuid()
			 ? "the kernel's list of tracepoints is not readable "
			 		"for this user"
			 : "the kernel's list of tracepoints cannot be read "
			   "(mount -t tracefs tracefs /sys/kernel/tracing)");
		return false;
	}
	memset(a, 0, sizeof(*a));
	a->size = PERF_ATTR_SIZE_TALLY;
	apply_features(a, f);
	a->type = spec.type;
	a->config = spec.config;
	a->sample_type |= PERF_SAMPLE_RAW;
	a->sample_period = 1;
	/* It belongs to no thread that could call exec. */
	a->disabled = !how->enable_on_exec;
	fd = perf_sys_open(a, &self);
	if (fd >= 0) {
		close(fd);
		return true;
	}
	snprintf(why, size, "tracepoints are not allowed: kernel."
		 "perf_event_paranoid=-1 or %s", rights_perfmon_name());
	return false;
}

/* Requests the user side as registers and stack, and the kernel's part as its chain.
 * The user part of the chain follows frame pointers to stacks that the copy does not
 * contain (go_callers.h). */
static void copy_attr(struct perf_event_attr *a, uint32_t bytes)
{
	a->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			  PERF_SAMPLE_STACK_USER;
	a->sample_regs_user = PERF_REGS_TALLY;
	a->sample_stack_user = bytes;
}

/* Returns whether stack copies work. tally's unwinder supports x86 only. */
static bool copy_works(const struct perf_features *f)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct perf_event_attr a;
	int fd;

#if !defined(__x86_64__)
	return false;
#endif
	perf_tracking_prepare(&a, f, false, 4096);
	copy_attr(&a, SOURCE_COPY_MIN);
	fd = perf_sys_open(&a, &self);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns whether the kernel also reports the code of trampolines and probes, which
 * it does since the version that has text_poke. */
static bool ksymbol_is_complete(const struct perf_features *f)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct perf_event_attr a;
	int fd;

	if (!f->ksymbol)
		return false;
	perf_tracking_prepare(&a, f, false, 4096);
	a.text_poke = 1;
	fd = perf_sys_open(&a, &self);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool cgroup_works(const struct perf_features *f)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct perf_event_attr a;
	int fd;

	perf_tracking_prepare(&a, f, false, 4096);
	a.sample_type |= PERF_SAMPLE_CGROUP;
	a.cgroup = 1;
	fd = perf_sys_open(&a, &self);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int perf_reachable(struct error *err)
{
	int reach;

	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		return 0;
	reach = rights_reach_in_child();
	if (reach >= 0)
		return 0;
	return error_set(err, ERR_PERM, "a seccomp filter kills callers of "
			 "perf_event_open (%s): it must allow the call (see "
			 "\"tally doctor\")", strsignal(-reach));
}

int perf_features_probe(struct perf_features *f, struct error *err)
{
	const struct perf_scope self = { 0, -1, 0 };
	struct perf_event_attr a;
	long rate = perf_sysctl("perf_event_max_sample_rate", 100000);
	long stack = perf_sysctl("perf_event_max_stack", 127);
	int fd;

	*f = (struct perf_features){ .lost = true, .ksymbol = true };
	f->max_rate = rate > 0 ? (uint64_t)rate : 1;
	f->max_stack = stack > 0 ? (uint32_t)stack : 127;
	for (;;) {
		perf_tracking_prepare(&a, f, true, 4096);
		fd = perf_sys_open(&a, &self);
		if (fd != -EINVAL)
			break;
		/* Drop the newest ability first. */
		if (f->lost)
			f->lost = false;
		else if (f->ksymbol)
			f->ksymbol = false;
		else
			break;
	}
	if (fd < 0)
		return perf_refused(-fd, "", &self, err);
	close(fd);
	f->copy = copy_works(f);
	f->all_ksymbols = ksymbol_is_complete(f);
	f->cgroup = cgroup_works(f);
	return 0;
}

int perf_event_filter(const struct perf_event *e, int fd, struct error *err)
{
	const char *text = e->spec.text, *filter = e->spec.filter;

	if (!filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) >= 0)
		return 0;
	if (errno != EINVAL)
		return error_errno(err, errno, "--filter '%s' of %s", filter,
				   text);
	return error_set(err, ERR_USAGE, "--filter '%s': %s has no such field, "
			 "or this is not an expression (FIELD == VALUE, with "
			 "<, >, "
			 "!=, ~ for patterns of text, && and ||); its fields: "
			 "/sys/kernel/tracing/events/%.*s/%s/format", filter,
			 text, (int)strcspn(text, ":"), text,
			 text[strcspn(text, ":")] ? text + strcspn(text, ":") + 1
			 : "");
}

/* Sets the event, its target and the counted modes. */
static void apply_choice(struct perf_event_attr *a, const struct event_spec *s,
			 const struct perf_sampling *how)
{
	memset(a, 0, sizeof(*a));
	a->size = PERF_ATTR_SIZE_TALLY;
	a->type = s->type;
	a->config = s->config;
	a->config1 = s->config1;
	a->config2 = s->config2;
	a->disabled = 1;
	a->enable_on_exec = how->enable_on_exec;
	a->inherit = how->inherit;
	a->pinned = s->pinned;
	a->exclude_user = s->exclude_user || how->exclude_user;
	a->exclude_kernel = s->exclude_kernel || how->exclude_kernel;
	a->exclude_hv = s->exclude_hv || how->exclude_user ||
			how->exclude_kernel;
	a->exclude_host = s->exclude_host;
	a->exclude_guest = s->exclude_guest;
}

void perf_counting_prepare(struct perf_event *e,
			   const struct perf_sampling *how)
{
	e->counting = true;
	apply_choice(&e->attr, &e->spec, how);
	e->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			      PERF_FORMAT_TOTAL_TIME_RUNNING;
}

void perf_event_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how)
{
	const struct event_spec *s = &e->spec;
	struct perf_event_attr *a = &e->attr;
	uint64_t period = s->period ? s->period : s->freq ? 0 : how->period;

	apply_choice(a, s, how);
	apply_features(a, f);
	if (how->callchain)
		a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (how->callchain && how->copy_bytes)
		copy_attr(a, how->copy_bytes);
	if (f->cgroup)
		a->sample_type |= PERF_SAMPLE_CGROUP;
	/* Each hit of a tracepoint is a sample unless the user specifies a period. */
	if (!period && !s->freq && s->type == PERF_TYPE_TRACEPOINT)
		period = 1;
	if (period) {
		a->sample_period = period;
	} else {
		a->freq = 1;
		a->sample_freq = s->freq ? s->freq : how->freq;
		if (a->sample_freq > f->max_rate) {
			a->sample_freq = f->max_rate;
			source_event_note(&e->seen, "rate lowered to %llu Hz "
				"(kernel.perf_event_max_sample_rate)",
				(unsigned long long)f->max_rate);
		}
	}
	a->precise_ip = s->max_precise ? 3 : s->precise;
	/* The kernel accepts and ignores precision for its own events. */
	if (s->type == PERF_TYPE_SOFTWARE) {
		a->precise_ip = 0;
		if (s->precise)
			source_event_note(&e->seen, "events of the kernel "
					  "have no precision (:p)");
	}
}

/* Sets the attributes common to the events that sample threads leaving a CPU and
 * threads waking others. */
static void prepare_in_scheduler(struct perf_event *e,
				 const struct perf_features *f,
				 const struct perf_sampling *how)
{
	struct perf_sampling own = *how;

	/* These happen in the kernel, whatever modes are selected. */
	own.exclude_user = own.exclude_kernel = false;
	own.freq = own.period = 0;
	e->spec.unit = EVENT_UNIT_NS;
	e->spec.software = true;
	snprintf(e->seen.actual, sizeof(e->seen.actual), "%s", e->spec.text);
	perf_event_prepare(e, f, &own);
	/* The kernel's part is always the path to its scheduler, and takes as long to
	 * unwind as the rest. */
	e->attr.exclude_callchain_kernel = 1;
}

void perf_waking_prepare(struct perf_event *e, const struct perf_features *f,
			 const struct perf_sampling *how,
			 const struct perf_event_attr *wakes)
{
	e->spec = (struct event_spec){
		.type = wakes->type, .config = wakes->config, .period = 1,
	};
	snprintf(e->spec.text, sizeof(e->spec.text), "waking");
	prepare_in_scheduler(e, f, how);
	e->attr.sample_type |= PERF_SAMPLE_RAW;
}

void perf_waits_prepare(struct perf_event *e, const struct perf_features *f,
			const struct perf_sampling *how)
{
	e->waits = true;
	e->spec = (struct event_spec){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES, .period = 1,
	};
	snprintf(e->spec.text, sizeof(e->spec.text), "blocked");
	prepare_in_scheduler(e, f, how);
}

void perf_event_on_kind(struct perf_event *e, const struct pmu_unit *kind)
{
	uint32_t type;
	uint64_t config;

	/* A clock may have replaced it. */
	if (!event_is_of_cores(&e->spec) ||
	    e->attr.type == PERF_TYPE_SOFTWARE)
		return;
	event_on_unit(&e->spec, kind, &type, &config);
	e->attr.type = type;
	e->attr.config = config;
}

static void event_become_clock(struct perf_event *e)
{
	e->attr.type = PERF_TYPE_SOFTWARE;
	e->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	e->attr.config1 = e->attr.config2 = 0;
	e->attr.precise_ip = 0;
	e->spec.unit = EVENT_UNIT_NS;
	e->spec.software = true;
	e->is_default = false;
	snprintf(e->seen.why, sizeof(e->seen.why),
		 "no hardware counter for cycles on this machine");
	if (!e->attr.freq) {
		/* A period in cycles has no meaning in nanoseconds. */
		e->attr.freq = 1;
		e->attr.sample_freq = 999;
		source_event_note(&e->seen, "999 Hz instead of a period in "
				  "cycles");
	}
	if (e->spec.precise)
		source_event_note(&e->seen, "clocks have no precision (:p)");
	snprintf(e->seen.actual, sizeof(e->seen.actual), "cpu-clock%s",
		 event_mode(&e->spec));
}

static bool is_missing(int errnum)
{
	return errnum == ENOENT || errnum == EOPNOTSUPP || errnum == ENODEV ||
	       errnum == EINVAL;
}

/* Returns whether only the precision is unsupported on this machine. */
static bool opens_without_precision(const struct perf_event *e,
				    const struct perf_scope *at)
{
	struct perf_event_attr a = e->attr;
	int fd;

	if (!a.precise_ip)
		return false;
	a.precise_ip = 0;
	fd = sys_open(&a, at, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Changes the attributes after a refusal.  Returns false when nothing is left to
 * try. */
static bool event_give_way(struct perf_event *e, const struct perf_scope *at,
			   int errnum)
{
	if ((errnum == EACCES || errnum == EPERM) && !e->attr.exclude_kernel &&
	    !e->attr.exclude_user) {
		long level = perf_sysctl("perf_event_paranoid", 2);

		e->attr.exclude_kernel = 1;
		e->attr.exclude_hv = 1;
		if (e->waits) {
			/* The event opens now, but delivers no samples. */
			source_event_note(&e->seen, "stacks of waits by polling "
					  "sleeping threads: samples need "
					  "kernel.perf_event_paranoid=1 or "
					  "CAP_PERFMON");
			return true;
		}
		if (level > 1)
			source_event_note(&e->seen, "kernel part not visible: "
					  "kernel.perf_event_paranoid is %ld",
					  level);
		else
			source_event_note(&e->seen, "kernel part not visible: "
					  "not allowed here (tally doctor)");
		return true;
	}
	if (is_missing(errnum) && e->attr.precise_ip && e->spec.max_precise) {
		e->attr.precise_ip--;
		return true;
	}
	/* Some PMUs do not support excluding guests. */
	if (errnum == EINVAL && e->attr.exclude_guest &&
	    e->attr.type != PERF_TYPE_HARDWARE) {
		e->attr.exclude_guest = 0;
		return true;
	}
	if (is_missing(errnum) && e->is_default && !e->counting &&
	    !opens_without_precision(e, at)) {
		event_become_clock(e);
		return true;
	}
	return false;
}

/* Records the settled event.  Applies what a clock timer does with a rate
 * (perf_swevent_init_hrtimer). */
static void event_settle(struct perf_event *e)
{
	struct source_event *s = &e->seen;
	const struct perf_event_attr *a = &e->attr;

	e->settled = true;
	snprintf(s->name, sizeof(s->name), "%s", e->spec.text);
	if (!*s->actual)
		snprintf(s->actual, sizeof(s->actual), "%s", e->spec.text);
	/* Without the core type. */
	s->type = a->type == PERF_TYPE_SOFTWARE ? a->type : e->spec.type;
	s->config = a->type == PERF_TYPE_SOFTWARE ? a->config : e->spec.config;
	s->config1 = a->config1;
	s->config2 = a->config2;
	s->is_time = e->spec.unit == EVENT_UNIT_NS;
	s->exclude_user = a->exclude_user;
	s->exclude_kernel = a->exclude_kernel;
	s->precise = (uint8_t)a->precise_ip;
	s->freq = a->freq ? a->sample_freq : 0;
	s->period = a->freq ? 0 : a->sample_period;
	if (a->freq && s->is_time && a->sample_freq)
		s->period = 1000000000 / a->sample_freq;
}

static int event_missing(const struct perf_event *e, int errnum,
			 const struct perf_scope *at, struct error *err)
{
	if (is_missing(errnum) && e->attr.precise_ip && !e->spec.max_precise)
		return error_set(err, ERR_UNSUPPORTED, "event %s: this machine "
				 "does not offer that precision (:p); try it "
				 "without", e->spec.text);
	if ((errnum == EACCES || errnum == EPERM) && !e->attr.exclude_kernel &&
	    perf_sysctl("perf_event_paranoid", 2) > 1)
		return error_set(err, ERR_PERM, "event %s: not allowed to "
				 "record the kernel: kernel.perf_event_paranoid "
				 "is %ld; \"sudo sysctl kernel.perf_event_"
				 "paranoid=1\" or the capability %s allows it "
				 "(see \"tally doctor\")", e->spec.text,
				 perf_sysctl("perf_event_paranoid", 2),
				 rights_perfmon_name());
	/* Types beyond the kernel's list are PMUs found in sysfs, so the event
	 * exists. */
	if (errnum == EINVAL && e->spec.type >= PERF_TYPE_MAX)
		return error_set(err, ERR_UNSUPPORTED, "event %s cannot be "
				 "%s%s: its unit %s", e->spec.text,
				 e->counting ? "counted" : "sampled",
				 at->pid < 0 ? "" : " for single programs (-a "
				 "takes the whole system)", e->counting
				 ? "does not count so" : "only counts");
	if (is_missing(errnum) && e->spec.type != PERF_TYPE_SOFTWARE)
		return error_set(err, ERR_UNSUPPORTED, "event %s: this machine "
				 "has no counter for it; cpu-clock works "
				 "everywhere, \"tally list\" shows what else "
				 "does", e->spec.text);
	return perf_refused(errnum, e->spec.text, at, err);
}

int perf_event_open(struct perf_event *e, const struct perf_scope *at,
		    struct error *err)
{
	if (event_pin_control(&e->spec)) {
		error_set(err, ERR_UNSUPPORTED, "event %s: the kernel does not "
			  "set the pin control (pc); only \"record "
			  "--source=kmod\" does", e->spec.text);
		return INT_MIN;
	}
	for (;;) {
		int fd = sys_open(&e->attr, at, e->leader - 1);

		if (fd >= 0) {
			if (!e->settled)
				event_settle(e);
			return fd;
		}
		if (fd == -ESRCH || (fd == -ENODEV && e->settled))
			return fd;
		if (e->settled || !event_give_way(e, at, -fd)) {
			event_missing(e, -fd, at, err);
			return INT_MIN;
		}
	}
}

/* Tries to open an event. */

int event_usable(const struct event_spec *spec, struct error *err)
{
	const struct perf_scope self = { 0, -1, 0 }, cpu = { -1, 0, 0 };
	const struct perf_sampling how = { .freq = 1000 };
	struct perf_features f;
	struct perf_event e = { .spec = *spec };
	int fd, r = perf_reachable(err);

	if (!r)
		r = perf_features_probe(&f, err);
	if (r < 0)
		return r;
	perf_event_prepare(&e, &f, &how);
	fd = perf_sys_open(&e.attr, &self);
	if (fd == -EACCES || fd == -EPERM) {
		e.attr.exclude_kernel = 1;
		e.attr.exclude_hv = 1;
		fd = perf_sys_open(&e.attr, &self);
	}
	if (fd == -EINVAL) {
		/* A PMU without guest support, or without support for single tasks. */
		e.attr.exclude_guest = 0;
		fd = perf_sys_open(&e.attr, &self);
	}
	if (fd == -EINVAL)
		fd = perf_sys_open(&e.attr, &cpu);
	if (fd == -EINVAL)
		return error_set(err, ERR_UNSUPPORTED,
				 "it cannot be sampled, only counted");
	if (fd < 0)
		return perf_refused(-fd, spec->text, &self, err);
	close(fd);
	return 0;
}
