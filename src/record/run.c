// SPDX-License-Identifier: GPL-2.0-or-later
/* One run: open the events, let it go, collect until it ends. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "record/session.h"
#include "record/source_choose.h"
#include "record/signals.h"

/*
 * Sleep between two rounds.  While new files appear (a program starts, loads
 * libraries) they are looked at soon, before they are gone; also while programs
 * are started, as the next may be a new one.  Then rounds get longer.
 * Stacks that are deeper than their copies are read from memory: the sooner, the
 * likelier they are as they were.
 */
enum { ROUND_MIN_MS = 5, ROUND_DEEP_MS = 2, ROUND_EXEC_MS = 20,
       ROUND_MAX_MS = 200 };
#define ROUND_GAP_NS 4000000u
/* Written at least once a second; two rounds go by before records are in
 * order. */
#define FLUSH_NS 600000000u

struct run {
	struct session *s;
	uint32_t number;	/* prof_run */
	struct launch launch;
	struct source *source;
	id_list threads;	/* -t and -p: whom to wait for */
	struct target_ends ends;
	uint64_t end_ns;	/* of --duration, or UINT64_MAX */
	uint64_t start_ns;	/* of --delay, 0 once started */
	uint64_t flushed_ns, drained_ns;
	unsigned int round_ms;
	size_t images;		/* seen up to the last round */
	uint64_t execs, deep;
	bool done;
	bool told;		/* why the source is not the best one */
};

static uint64_t now_ns(void)
{
	return session_clock(CLOCK_MONOTONIC);
}

static int open_source(struct run *r, struct error *err)
{
	struct session *s = r->s;
	const struct record_options *o = s->o;
	uint32_t child = (uint32_t)r->launch.pid;
	struct source_choice why;
	int rc;
	struct perf_target t = {
		.cpus = s->target.cpus.v, .ncpus = s->target.cpus.n,
		.all_cpus = !o->cpus, .cgroup_fd = -1,
	};
	struct perf_source_options po = {
		.events = &s->events, .default_event = !o->events->n,
		.callchain = o->callchain, .inherit = o->inherit,
		.user_only = o->user_only, .kernel_only = o->kernel_only,
		.freq = o->freq, .period = o->period,
		.copy = o->copy_stacks, .copy_bytes = o->copy_bytes,
	};

	if (s->target.attached) {
		rc = target_threads(&s->target, &r->threads, err);
		if (rc < 0)
			return rc;
		t.tids = r->threads.v;
		t.ntids = r->threads.n;
	} else if (s->target.system_wide) {
		t.cgroup_fd = s->target.cgroup_fd;
	} else {
		t.tids = &child;
		t.ntids = 1;
		po.launched = true;
		po.command = o->command[0];
		po.enable_on_exec = o->delay <= 0;
	}
	rc = source_choose(o->source, &t, &po, &r->source, &why, err);
	r->told = *why.text;
	if (*why.text && !s->profile.runs.n)
		session_notice(s, "%s", why.text);
	return rc;
}

/* The reader gets one text. */
static uint32_t event_note(struct profile *p, const struct source_event *e)
{
	char text[sizeof(e->why) + sizeof(e->note) + 2];

	snprintf(text, sizeof(text), "%s%s%s", e->why,
		 *e->why && *e->note ? "; " : "", e->note);
	return profile_str(p, text);
}

static void tell_event(struct session *s, const struct source_event *e,
		       bool only, bool told)
{
	if (*e->why && !told)
		session_notice(s, "%s: recording %s instead", e->why,
			       e->actual);
	if (*e->note && only)
		session_notice(s, "%s", e->note);
	else if (*e->note)
		session_notice(s, "event %s: %s", e->name, e->note);
}

/* Rows of the profile's events; once a session. */
static int add_events(struct session *s, const struct source *src, bool told,
		      struct error *err)
{
	for (size_t i = s->profile.events.n; i < src->nevents; i++) {
		const struct source_event *e = &src->events[i];
		struct profile *p = &s->profile;
		struct prof_event row = {
			.name = profile_str(p, e->name),
			.actual = profile_str(p, e->actual),
			.note = event_note(p, e),
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
		tell_event(s, e, src->nevents == 1, told);
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
		.start_ns = now_ns(),
		.start_wall_ns = session_clock(CLOCK_REALTIME),
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

/* Processes that ran before us. */
static int scan_target(struct run *r, struct error *err)
{
	struct session *s = r->s;
	int rc;

	if (s->target.system_wide)
		return collector_scan_all(&s->collector, err);
	rc = target_watch(&s->target, &r->ends, err);
	for (size_t i = 0; i < s->target.pids.n && !rc; i++)
		rc = collector_scan(&s->collector, s->target.pids.v[i], err);
	return rc;
}

/* The command has a name before its exec is told of. */
static int name_child(struct run *r, struct error *err)
{
	struct collector *c = &r->s->collector;
	uint32_t pid = (uint32_t)r->launch.pid;
	const char *name = r->s->o->command[0], *slash = strrchr(name, '/');
	struct process *proc = processes_get(&c->processes, pid);

	if (!proc || processes_name(&c->processes, pid, pid,
				    slash ? slash + 1 : name, 0) < 0)
		return error_set(err, ERR_NOMEM, "out of memory");
	proc->discovered = true;
	proc->parent = (uint32_t)getpid();
	return 0;
}

static void stop_recording(struct run *r, int signo)
{
	r->s->stop = true;
	r->s->result->stop_signal = signo;
	r->done = true;
}

/*
 * Ctrl-C reaches the command as it reaches us: we wait for what it does with
 * it. A signal that was sent to us alone is passed on.  Without command a
 * signal ends the recording.
 */
static void handle_signal(struct run *r, const struct signalfd_siginfo *si)
{
	int signo = (int)si->ssi_signo;

	if (signo == SIGCHLD) {
		if (launch_poll(&r->launch))
			r->done = true;
		return;
	}
	if (!r->launch.pid) {
		stop_recording(r, signo);
		return;
	}
	r->s->stop = true;	/* no further repetition */
	if (signal_is_ours(si) && !r->launch.ended)
		kill(r->launch.pid, signo);
}

static void read_signals(struct run *r)
{
	struct signalfd_siginfo si;

	while (read(r->s->signal_fd, &si, sizeof(si)) == sizeof(si))
		handle_signal(r, &si);
}

static int timeout_ms(const struct run *r, uint64_t now)
{
	uint64_t wait = r->round_ms * 1000000ull;

	if (r->start_ns && r->start_ns < now + wait)
		wait = r->start_ns > now ? r->start_ns - now : 0;
	if (r->end_ns < now + wait)
		wait = r->end_ns > now ? r->end_ns - now : 0;
	return (int)((wait + 999999) / 1000000);
}

static int wait_round(struct run *r, struct pollfd *fds, struct error *err)
{
	uint64_t now = now_ns();
	size_t n = 2 + r->ends.fds.n;

	fds[0] = (struct pollfd){ r->s->signal_fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ r->source->wake_fd, POLLIN, 0 };
	for (size_t i = 0; i < r->ends.fds.n; i++)
		fds[2 + i] = (struct pollfd){ r->ends.fds.v[i], POLLIN, 0 };
	if (poll(fds, n, timeout_ms(r, now)) < 0 && errno != EINTR)
		return error_errno(err, errno, "poll");
	/* Who starts programs all the time does not wake us for each. */
	now = now_ns();
	if (!fds[0].revents && now < r->drained_ns + ROUND_GAP_NS &&
	    r->round_ms > ROUND_DEEP_MS)
		poll(fds, 1, (int)((r->drained_ns + ROUND_GAP_NS - now) /
				   1000000 + 1));
	if (fds[0].revents)
		read_signals(r);
	if (r->s->target.attached &&
	    target_ended(&r->s->target, &r->ends, fds + 2))
		r->done = true;
	now = now_ns();
	if (now >= r->end_ns)
		r->done = true;
	if (r->start_ns && now >= r->start_ns && !r->done) {
		r->start_ns = 0;
		return r->source->ops->start(r->source, err);
	}
	return 0;
}

/* A full disk ends the recording, not the command. */
static int write_failed(struct session *s, int rc, struct error *err)
{
	if (rc >= 0 || !s->writer || s->write_error.code)
		return rc;
	s->write_error = *err;
	s->collector.writer = NULL;
	session_notice(s, "%s; nothing more is recorded", err->msg);
	return 0;
}

/* Reads the counters: losses since the last time, and totals. */
static int read_counts(struct run *r, bool final, struct error *err)
{
	struct session *s = r->s;
	int rc = 0;

	for (size_t e = 0; e < r->source->nevents && !rc; e++) {
		struct source_count c;
		struct prof_stat row = { .run = r->number,
					 .event = (uint32_t)e };

		rc = r->source->ops->count(r->source, e, &c, collector_record,
					   &s->collector, err);
		row.value = c.value;
		row.enabled_ns = c.enabled_ns;
		row.running_ns = c.running_ns;
		row.wanted = c.wanted;
		if (!rc && final && vec_push(&s->profile.stats, row) < 0)
			rc = error_set(err, ERR_NOMEM, "out of memory");
	}
	return rc;
}

/* A processor came: the source is to follow all threads there, too. */
static int follow(struct run *r, struct error *err)
{
	struct processes *p = &r->s->collector.processes;
	id_list tids = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->tasks.n && !rc; i++)
		if (p->tasks.v[i].tid)
			rc = vec_push(&tids, p->tasks.v[i].tid);
	for (size_t i = 0; i < r->threads.n && !rc; i++)
		if (!processes_find_task(p, r->threads.v[i]))
			rc = vec_push(&tids, r->threads.v[i]);
	rc = rc < 0 ? error_set(err, ERR_NOMEM, "out of memory for threads")
		    : r->source->ops->follow(r->source, tids.v, tids.n, err);
	vec_fini(&tids);
	return rc;
}

static int drain(struct run *r, bool all, struct error *err)
{
	struct session *s = r->s;
	uint64_t now = now_ns();
	int rc = r->source->ops->drain(r->source, all, collector_record,
				       &s->collector, err);

	rc = write_failed(s, rc, err);
	if (rc < 0)
		return rc;
	r->drained_ns = now;
	if (r->source->cpu_came && !all) {
		rc = follow(r, err);
		if (rc < 0)
			return rc;
	}
	rc = collector_rest(&s->collector, now, err);
	if (rc < 0)
		return rc;
	if (!all && now - r->flushed_ns < FLUSH_NS)
		return 0;
	r->flushed_ns = now;
	rc = read_counts(r, all, err);
	if (rc >= 0 && s->writer && !s->write_error.code)
		rc = write_failed(s, writer_flush(s->writer, err), err);
	return rc;
}

static void next_round(struct run *r)
{
	size_t images = r->s->collector.images.v.n;

	r->round_ms *= 2;
	if (images != r->images || !r->round_ms || r->source->news)
		r->round_ms = ROUND_MIN_MS;
	else if (r->s->collector.execs != r->execs &&
		 r->round_ms > ROUND_EXEC_MS)
		r->round_ms = ROUND_EXEC_MS;
	if (r->s->collector.walks.cut != r->deep && r->round_ms > ROUND_DEEP_MS)
		r->round_ms = ROUND_DEEP_MS;
	if (r->round_ms > ROUND_MAX_MS)
		r->round_ms = ROUND_MAX_MS;
	r->images = images;
	r->deep = r->s->collector.walks.cut;
	r->execs = r->s->collector.execs;
}

static int loop(struct run *r, struct error *err)
{
	struct pollfd *fds = calloc(2 + r->ends.fds.n, sizeof(*fds));
	int rc = fds ? 0 : error_set(err, ERR_NOMEM, "out of memory");

	/* It may have ended before its signal was asked for. */
	if (r->launch.pid && launch_poll(&r->launch))
		r->done = true;
	while (!rc && !r->done) {
		next_round(r);
		rc = wait_round(r, fds, err);
		if (!rc && !r->done)
			rc = drain(r, false, err);
	}
	free(fds);
	return rc;
}

static int note_outside(struct run *r, struct error *err)
{
	if (profile_set_env(&r->s->profile, PROF_NONE, "not_recorded",
			    r->source->outside) < 0)
		return error_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

static int note_unrecorded(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct buf names = { 0 };
	int rc = 0;

	/* A program whose mappings were lost looks the same. */
	if (!s->collector.gaps)
		collector_unrecorded(&s->collector,
				     s->profile.runs.v[r->number].end_ns,
				     &names);
	if (!names.n && r->source->outside) {
		session_notice(s, "not recorded: %s (static, of another machine, "
			       "root or user: timers cannot get into it, "
			       "--source=ptrace may)", r->source->outside);
		return note_outside(r, err);
	}
	if (names.n) {
		session_notice(s, "not recorded: %s (a program that changes its "
			       "user or may not be read is recorded only by "
			       "root with -a)", buf_cstr(&names));
		rc = profile_set_env(&s->profile, PROF_NONE, "not_recorded",
				     buf_cstr(&names));
	}
	buf_fini(&names);
	return rc < 0 ? error_set(err, ERR_NOMEM, "out of memory") : 0;
}

static int finish(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct prof_run *row = &s->profile.runs.v[r->number];
	int rc;

	r->source->ops->stop(r->source);
	row->end_ns = now_ns();
	signals_end_command(&r->launch, r->s->signal_fd);
	row = &s->profile.runs.v[r->number];
	if (r->launch.pid) {
		const struct rusage *u = &r->launch.usage;

		row->exit_status = r->launch.wait_status;
		row->user_ns = (uint64_t)u->ru_utime.tv_sec * 1000000000u +
			       (uint64_t)u->ru_utime.tv_usec * 1000u;
		row->sys_ns = (uint64_t)u->ru_stime.tv_sec * 1000000000u +
			      (uint64_t)u->ru_stime.tv_usec * 1000u;
		s->result->wait_status = r->launch.wait_status;
	}
	rc = drain(r, true, err);
	if (rc >= 0)
		rc = note_unrecorded(r, err);
	s->result->late += r->source->late;
	s->result->damaged += r->source->damaged;
	return rc;
}

/* Everything is ready: go. */
static int go(struct run *r, struct error *err)
{
	struct session *s = r->s;
	const struct record_options *o = s->o;
	uint64_t delay = o->delay > 0 ? (uint64_t)(o->delay * 1e9) : 0;
	uint64_t now = now_ns();
	int rc = 0;

	r->start_ns = delay ? now + delay : 0;
	r->end_ns = o->duration > 0 ? now + delay +
				      (uint64_t)(o->duration * 1e9)
				    : UINT64_MAX;
	r->flushed_ns = now;
	if (!delay && (s->target.attached || s->target.system_wide))
		rc = r->source->ops->start(r->source, err);
	if (!rc && o->command) {
		r->launch.env = r->source->env;
		rc = launch_go(&r->launch, o->command[0], err);
		if (rc < 0)
			s->result->exec_status =
				rc == -ERR_NOTFOUND ? 127 : 126;
	}
	return rc;
}

static int prepare(struct run *r, struct error *err)
{
	struct session *s = r->s;
	int rc = 0;

	if (s->o->command)
		rc = launch_prepare(&r->launch, s->o->command, &s->before, err);
	if (!rc)
		rc = open_source(r, err);
	if (!rc)
		rc = add_events(s, r->source, r->told, err);
	if (!rc && !s->profile.runs.n)
		rc = environment_fill(s, r->source, err);
	if (!rc)
		rc = add_run(r, err);
	if (rc < 0)
		return rc;
	collector_new_run(&s->collector, r->number);
	if (r->launch.pid)
		rc = name_child(r, err);
	if (!rc && (s->target.attached || s->target.system_wide))
		rc = scan_target(r, err);
	if (!rc && s->collector.closed)
		rc = environment_closed(s, err);
	return rc;
}

static void run_fini(struct run *r)
{
	if (r->source)
		r->source->ops->close(r->source);
	target_watch_end(&r->ends);
	vec_fini(&r->threads);
}

int run_record(struct session *s, uint32_t number, struct error *err)
{
	struct run r = { .s = s, .launch = { .go = -1, .status_fd = -1 } };
	int rc = prepare(&r, err);

	if (!rc)
		rc = go(&r, err);
	if (!rc && !number)
		rc = session_begin_file(s, err);
	if (!rc)
		rc = loop(&r, err);
	if (!rc) {
		rc = finish(&r, err);
	} else {
		/* A failed exec has ended by itself. */
		if (r.launch.pid && r.launch.go < 0 &&
		    !s->result->exec_status)
			signals_end_command(&r.launch,
					    r.s->signal_fd);
		launch_end(&r.launch);
	}
	run_fini(&r);
	return rc;
}
