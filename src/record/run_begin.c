// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins a run: its source, its rows, the command's start. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/collect/collect_waits.h"
#include "base/text.h"
#include "record/perf/perf_open.h"
#include "record/run.h"
#include "record/source/rights.h"
#include "record/choose/sources.h"

enum { ENV_MAX = 8 };	/* maximum number of a source's variables */

static uint64_t rate(const struct record_options *o)
{
	long most;

	if (o->freq != RECORD_RATE_MAX)
		return o->freq;
	most = perf_sysctl("perf_event_max_sample_rate", 100000);
	return most > 0 ? (uint64_t)most : 1;
}

static int open_source(struct run *r, struct error *err)
{
	struct session *s = r->s;
	const struct record_options *o = s->o;
	uint32_t child = (uint32_t)r->launch.pid;
	struct source_choice why;
	char note[TARGET_NOTE];
	int rc;
	struct source_target t = {
		.cpus = s->target.cpus.v, .ncpus = s->target.cpus.n,
		.all_cpus = !o->cpus, .cgroup_fd = -1,
	};
	struct source_options po = {
		.events = &s->events, .default_event = !o->events->n,
		.callchain = o->callchain, .inherit = o->inherit,
		.user_only = o->user_only, .kernel_only = o->kernel_only,
		.waits = o->waits, .each_wait = o->each_wait, .latency = o->latency,
		.freq = rate(o), .period = o->period,
		.default_rate = o->default_rate, .calm = o->calm,
		.copy = o->copy_stacks, .copy_bytes = o->copy_bytes,
		.verify_stacks = o->verify_stacks,
		.python = o->python,
		.language = o->language,
	};

	if (s->target.attached) {
		rc = target_threads(&s->target, &r->threads, err);
		if (rc < 0)
			return rc;
		target_note(&s->target, note, sizeof(note));
		if (*note && o->inherit)
			session_notice(s, "%s", note);
		t.tids = r->threads.v;
		t.ntids = r->threads.n;
	} else if (s->target.system_wide) {
		t.cgroup_fd = s->target.cgroup_fd;
	} else {
		t.tids = &child;
		t.ntids = 1;
		po.launched = true;
		po.command = o->command[0];
		po.enable_on_exec = o->delay == 0;
	}
	rc = source_open(o->source, &t, &po, &r->source, &why, err);
	if (rc >= 0 && o->control && !r->source->ops->enable)
		return error_set(err, ERR_UNSUPPORTED, "--control: sampling by "
				 "%s cannot be switched on and off; use "
				 "--source=perf", r->source->ops->name);
	if (rc >= 0 && o->waits && (!r->source->waits ||
				    (o->latency && r->source->wait_polls)))
		return error_set(err, ERR_UNSUPPORTED, "%s requires perf events%s%s",
				 o->latency ? "--latency" : "--wait",
				 *why.text ? ", which may not be used here: "
				 : ": use --source=perf", why.text);
	if (rc >= 0 && o->latency && !r->source->events[0].is_time &&
	    (r->source->events[0].type != PERF_TYPE_HARDWARE ||
	     r->source->events[0].config != PERF_COUNT_HW_CPU_CYCLES))
		return error_set(err, ERR_USAGE, "--latency requires samples "
				 "of CPU time: name cycles or a clock first "
				 "(-e cycles,%s)",
				 r->source->events[0].name);
	r->why_reported = *why.text;
	if (*why.text && !s->profile.runs.n)
		session_notice(s, "%s", why.text);
	return rc;
}

/* Combines an event's notes into one text. */
static uint32_t event_note(struct session *s, const struct source_event *e)
{
	struct buf text = { 0 };
	uint32_t id;

	buf_printf(&text, "%s%s%s", e->why, *e->why && *e->note ? "; " : "",
		   e->note);
	for (size_t i = 0; i < s->events.n; i++) {
		const struct event_spec *spec = &s->events.v[i];

		if (spec->filter && !strcmp(spec->text, e->name)) {
			buf_printf(&text, "%sonly where %s", text.n ? "; " : "",
				   spec->filter);
			break;
		}
	}
	id = profile_str(&s->profile, buf_cstr(&text));
	buf_fini(&text);
	return id;
}

static void notify_event(struct session *s, const struct source_event *e,
			 bool only, bool why_reported)
{
	if (*e->why && !why_reported)
		session_notice(s, "%s: recording %s instead", e->why,
			       e->actual);
	if (*e->note && only)
		session_notice(s, "%s", e->note);
	else if (*e->note)
		session_notice(s, "event %s: %s", e->name, e->note);
}

/* Adds rows for the events to the profile, once per session. */
static int add_events(struct session *s, const struct source *src, bool why_reported,
		      struct error *err)
{
	for (size_t i = s->profile.events.n; i < src->nevents; i++) {
		const struct source_event *e = &src->events[i];
		struct profile *p = &s->profile;
		struct prof_event row = {
			.name = profile_str(p, e->name),
			.actual = profile_str(p, e->actual),
			.note = event_note(s, e),
			.unit = e->is_time ? PROF_UNIT_NS : PROF_UNIT_COUNT,
			.precise = e->precise,
			.exclude_user = e->exclude_user,
			.exclude_kernel = e->exclude_kernel,
			.type = e->type, .config = e->config,
			.config1 = e->config1, .config2 = e->config2,
			.freq = e->freq, .period = e->period,
		};

		if (row.name == PROF_NONE || row.actual == PROF_NONE ||
		    row.note == PROF_NONE || vec_push(&p->events, row) < 0)
			return error_set(err, ERR_NOMEM,
					 "out of memory for events");
		notify_event(s, e, src->nevents == 1, why_reported);
	}
	s->collector.nevents = (uint32_t)s->profile.events.n;
	return 0;
}

static int add_run(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct buf text = { 0 };
	struct prof_run row = {
		.exit_status = -1,
		.start_ns = clock_now(),
		.start_wall_ns = clock_read(CLOCK_REALTIME),
	};

	if (s->o->command)
		shell_quote(&text, s->o->command);
	row.command = profile_str(&s->profile, buf_cstr(&text));
	buf_fini(&text);
	if (row.command == PROF_NONE || vec_push(&s->profile.runs, row) < 0)
		return error_set(err, ERR_NOMEM, "out of memory for a run");
	r->number = (uint32_t)s->profile.runs.n - 1;
	return 0;
}

/* Adds processes that already run. */
static int scan_target(struct run *r, struct error *err)
{
	struct session *s = r->s;
	int rc = 0;

	if (s->target.system_wide)
		return collector_scan_all(&s->collector, err);
	for (size_t i = 0; i < s->target.pids.n && !rc; i++)
		rc = collector_scan(&s->collector, s->target.pids.v[i], err);
	return rc;
}

/* Names the command before its exec is reported. */
static int name_child(struct run *r, struct error *err)
{
	struct collector *c = &r->s->collector;
	uint32_t pid = (uint32_t)r->launch.pid;
	const char *name = r->s->o->command[0], *slash = strrchr(name, '/');
	struct process *proc = processes_get(&c->processes, pid);

	if (!proc || processes_name(&c->processes, pid, pid,
				    slash ? slash + 1 : name, 0) < 0)
		return error_nomem(err);
	proc->discovered = true;
	proc->parent = (uint32_t)getpid();
	return 0;
}

/* Makes the source itself end sampling, however busy the recorder is then. */
static void report_end(struct run *r)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;
	int fd;

	/* Do not use s->signal_fd: tally's own children may end before the
	 * recording. */
	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(ends); i++)
		sigaddset(&set, ends[i]);
	fd = r->launch.pid
	     ? (int)syscall(SYS_pidfd_open, r->launch.pid, 0)
	     : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r->source->ops->end_at(r->source, r->end_ns, &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

int run_waits(struct run *r, bool on, struct error *err)
{
	struct collector *c = &r->s->collector;
	uint64_t now = clock_now();
	int rc;

	if (!c->wait_samples.on)
		return 0;
	rc = collect_waits_toggle(c, now, on, err);
	/* In a control group, not all existing threads are recorded. */
	if (rc >= 0 && on && r->s->target.cgroup_fd < 0)
		rc = collect_waits_asleep(c, r->launch.go >= 0 &&
					     !r->s->target.system_wide
					     ? (uint32_t)r->launch.pid : 0,
					  now, err);
	return rc;
}

int run_go(struct run *r, struct error *err)
{
	struct session *s = r->s;
	const struct record_options *o = s->o;
	uint64_t delay = o->delay > 0 ? (uint64_t)(o->delay * 1e9) : 0;
	uint64_t now = clock_now();
	int rc = 0;

	r->start_ns = delay ? now + delay : 0;
	r->end_ns = o->duration > 0 ? now + delay +
				      (uint64_t)(o->duration * 1e9)
				    : UINT64_MAX;
	r->flushed_ns = s->rotation.begun_ns = now;
	s->collector.jit.early_ns = r->source->early_ns;
	s->collector.jit.watch = !o->calm;
	if (o->hold) {
		s->collector.from_ns = UINT64_MAX;
		s->rotation.begun_ns = 0;
	}
	if (r->source->ops->end_at)
		report_end(r);
	if (o->delay == 0 && (s->target.attached || s->target.system_wide))
		rc = r->source->ops->start(r->source, err);
	if (!rc && o->delay == 0)
		rc = run_waits(r, true, err);
	if (!rc && o->command) {
		const char *env[ENV_MAX + 1] = { o->setting };
		size_t n = o->setting != NULL;

		for (const char *const *e = r->source->env;
		     e && *e && n < ENV_MAX; e++)
			env[n++] = *e;
		r->launch.env = env;
		s->collector.images.own_maps = o->setting != NULL;
		if (o->setting && profile_set_env(&s->profile, PROF_NONE,
						  "runtime_env", o->setting) < 0)
			return error_nomem(err);
		rc = launch_go(&r->launch, o->command[0], err);
		r->launch.env = NULL;
		if (rc < 0)
			s->result->exec_status =
				rc == -ERR_NOTFOUND ? 127 : 126;
	}
	return rc;
}

/*
 * Images and /proc are read through descriptors.  Without free descriptors, stacks
 * would break silently.  The free descriptors beyond the required minimum may hold
 * images open, so this precedes the first image.
 */
static int check_descriptors(struct run *r, struct error *err)
{
	/* SPARE: number that the source did without for lack of room. */
	enum { SPARE = 2, LOOK = 64 };
	struct images *im = &r->s->collector.images;
	long limit = sysconf(_SC_OPEN_MAX);
	int fd[LOOK], n = 0, more;

	while (n < LOOK && (fd[n] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fd[i]);
	more = IMAGES_FREE_FDS + SPARE - n;
	if (n < IMAGES_FREE_FDS)
		return error_set(err, ERR_IO, "too many files to record this: "
				 "it needs %ld, but the hard limit is %ld; "
				 "raise it (\"ulimit -Hn %ld\")",
				 limit + more, limit, limit + more);
	if (n < LOOK && im->max_fds > im->fds + (size_t)(n - IMAGES_FREE_FDS))
		im->max_fds = im->fds + (size_t)(n - IMAGES_FREE_FDS);
	return 0;
}

/* Returns a limit of open files that is enough, after a source that found too few has
 * closed its own. */
static long enough_descriptors(const struct session *s, size_t threads)
{
	/* WAITS: events of waits in each place.  OTHERS: what any source opens once, the
	 * pipes to the command, and what check_descriptors requires. */
	enum { WAITS = 4, OTHERS = 32 };
	size_t events = 1 + s->events.n + (s->o->waits ? WAITS : 0);
	size_t n = threads * s->target.cpus.n * events + s->target.pids.n + OTHERS;

	for (int fd = 0, limit = (int)sysconf(_SC_OPEN_MAX); fd < limit; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return (long)n;
}

static int prepare(struct run *r, struct error *err)
{
	struct session *s = r->s;
	int rc = 0;

	if (s->o->command)
		rc = launch_prepare(&r->launch, s->o->command, &s->before, err);
	if (!rc)
		rc = open_source(r, err) ?:
		     add_events(s, r->source, r->why_reported, err);
	if (!rc)
		collect_waits_begin(&s->collector, r->source,
				    !s->o->inherit && !s->target.system_wide);
	if (!rc && !s->profile.runs.n)
		rc = environment_fill(s, r->source, err);
	if (!rc)
		rc = add_run(r, err);
	if (rc < 0)
		return rc;
	collector_new_run(&s->collector, r->number);
	if (r->launch.pid)
		rc = name_child(r, err);
	if (!rc && s->target.attached)
		rc = target_watch(&s->target, &r->ends, err);
	if (!rc)
		rc = check_descriptors(r, err);
	if (!rc && (s->target.attached || s->target.system_wide))
		rc = scan_target(r, err);
	if (!rc && s->collector.closed)
		rc = environment_closed(s, err);
	return rc;
}

int run_name_files(const struct session *s, size_t threads, int rc,
		   struct error *err)
{
	long n = rc == -ERR_FILES ? enough_descriptors(s, threads ? threads : 1) : 0;

	if (n)
		error_prefix(err, "this needs up to %ld open files (\"ulimit -Hn "
			     "%ld\")", n, n);
	return rc;
}

int run_prepare(struct run *r, struct error *err)
{
	return run_name_files(r->s, r->threads.n, prepare(r, err), err);
}
