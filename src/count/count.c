// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the programs of tally stat and collects their counts. */
#include "count/count.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/control.h"
#include "launch/signals.h"

enum { ROUND_MS = 200 };	/* interval for detecting threads that have ended */

struct session {
	const struct count_options *o;
	struct count_result *r;
	struct target target;
	struct launch_state before;
	int signal_fd;
	struct control control;
	bool stop;		/* start no further run */
};

struct run {
	struct session *s;
	struct launch launch;
	struct counters *counters;
	id_list threads;
	struct target_ends ends;
	struct pollfd *fds;
	uint64_t start_ns, end_ns, tick_ns;	/* CLOCK_MONOTONIC */
	uint64_t delay_ns;	/* time until counting begins; 0: it has begun */
	uint64_t interval_ns, ticked_ns;
	struct count_value *now, *last;	/* of the current and the previous interval */
	bool done;
};

#define NEVER UINT64_MAX	/* run.delay_ns: wait until `control` enables */
enum { OURS = 2 };		/* elements of run.fds */

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for counts");
}

__attribute__((format(printf, 2, 3)))
static void notice(struct session *s, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	buf_printf(&s->r->notes, "%s\n", text);
	if (s->o->notice)
		s->o->notice(s->o->ctx, text);
}

static int open_counters(struct run *r, struct error *err)
{
	struct session *s = r->s;
	uint32_t child = (uint32_t)r->launch.pid;
	struct counters_options co = {
		.cpus = s->target.cpus.v, .ncpus = s->target.cpus.n,
		.some_cpus = s->o->target.cpus, .cgroup_fd = -1,
		.inherit = s->o->inherit, .user_only = s->o->user_only,
		.kernel_only = s->o->kernel_only, .sysfs = "/sys",
	};

	if (s->target.attached) {
		char note[TARGET_NOTE];
		int rc = target_threads(&s->target, &r->threads, err);

		target_note(&s->target, note, sizeof(note));
		if (!rc && *note && s->o->inherit)
			notice(s, "%s", note);
		if (!rc)
			rc = target_watch(&s->target, &r->ends, err);
		if (rc < 0)
			return rc;
		co.tids = r->threads.v;
		co.ntids = r->threads.n;
	} else if (s->target.system_wide) {
		co.cgroup_fd = s->target.cgroup_fd;
	} else {
		co.tids = &child;
		co.ntids = 1;
		co.enable_on_exec = !(s->o->delay < 0 || s->o->delay > 0);
	}
	return counters_open(&r->counters, &s->r->plan, &co, err);
}

/* Replaces the error if the user may not even count own processes.  Otherwise it
 * would name a process of the command. */
static void explain(const struct session *s, struct error *err)
{
	struct perf_features f;
	struct error why = { 0 };

	if (err->code == ERR_PERM && !s->target.attached &&
	    !s->target.system_wide && perf_features_probe(&f, &why) < 0)
		*err = why;
}

/* Reports which of the default events are missing. */
static void report_missing(struct session *s)
{
	const struct plan *p = &s->r->plan;
	size_t processor = 0, missing = 0;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct plan_event *e = &p->events.v[i];

		processor += e->optional && !e->ev.spec.software;
		missing += e->missing && !e->hidden;
		if (e->hidden)
			notice(s, "%s are not counted: they happen in the "
			       "kernel",
			       e->ev.spec.text);
	}
	if (missing && missing == processor)
		notice(s, "no hardware counters on this machine: only events "
		       "of the kernel are counted");
	for (size_t i = 0; i < p->events.n; i++)
		if (p->events.v[i].missing && !p->events.v[i].hidden &&
		    missing < processor)
			notice(s, "no counter for %s on this machine",
			       p->events.v[i].ev.spec.text);
}

/* Returns a note that applies to all events alike, or NULL. */
static const char *common_note(const struct plan *p)
{
	const char *note = NULL;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct plan_event *e = &p->events.v[i];

		if (e->missing)
			continue;
		if (note && strcmp(note, e->ev.seen.note))
			return NULL;
		note = e->ev.seen.note;
	}
	return note && *note ? note : NULL;
}

/* Reports once which events differ from what was requested. */
static void report_events(struct session *s)
{
	const struct plan *p = &s->r->plan;
	const char *common = common_note(p);

	report_missing(s);
	if (common)
		notice(s, "%s", common);
	for (size_t i = 0; i < p->events.n; i++) {
		const struct plan_event *e = &p->events.v[i];

		if (!common && !e->missing && *e->ev.seen.note)
			notice(s, "event %s: %s", e->ev.spec.text,
			       e->ev.seen.note);
		if (e->split)
			notice(s, "event %s does not fit its group: it is "
			       "counted by itself, perhaps at other times",
			       e->ev.spec.text);
	}
	plan_forget(&s->r->plan);
}

static int prepare(struct run *r, struct error *err)
{
	struct session *s = r->s;
	size_t n = s->r->plan.events.n;
	int rc = 0;

	if (s->o->command)
		rc = launch_prepare(&r->launch, s->o->command, &s->before, err);
	if (!rc) {
		rc = open_counters(r, err);
		if (rc < 0)
			explain(s, err);
	}
	if (rc < 0)
		return rc;
	if (!s->r->runs.n)
		report_events(s);
	r->fds = calloc(OURS + r->ends.fds.n, sizeof(*r->fds));
	r->now = calloc(n, sizeof(*r->now));
	r->last = calloc(n, sizeof(*r->last));
	return r->fds && r->now && r->last ? 0 : no_memory(err);
}

/* All times count from the beginning of counting. */
static void begin_at(struct run *r, uint64_t start)
{
	const struct count_options *o = r->s->o;

	r->start_ns = r->ticked_ns = start;
	r->tick_ns = r->interval_ns && start != NEVER
		     ? start + r->interval_ns : UINT64_MAX;
	r->end_ns = o->duration > 0 && start != NEVER
		    ? start + (uint64_t)(o->duration * 1e9) : UINT64_MAX;
}

static int go(struct run *r, struct error *err)
{
	const struct count_options *o = r->s->o;
	const struct target *t = &r->s->target;
	int rc = 0;

	r->interval_ns = o->interval > 0 ? (uint64_t)(o->interval * 1e9) : 0;
	begin_at(r, clock_now());
	if (o->delay > 0) {
		begin_at(r, r->start_ns + (uint64_t)(o->delay * 1e9));
		r->delay_ns = r->start_ns;
	} else if (o->delay < 0) {
		begin_at(r, NEVER);
		r->delay_ns = NEVER;
	}
	if (!r->delay_ns &&
	    (t->attached || t->system_wide))
		rc = counters_start(r->counters, err);
	if (!rc && o->command)
		launch_start(&r->launch);
	return rc;
}

static void handle_signal(struct run *r, const struct signalfd_siginfo *si)
{
	int signo = (int)si->ssi_signo;

	if (signo == SIGCHLD) {
		if (launch_poll(&r->launch))
			r->done = true;
		return;
	}
	if (!signal_ends(si, r->launch.pid))
		return;
	r->s->stop = true;
	if (!r->launch.pid) {
		r->s->r->stop_signal = signo;
		r->done = true;
	} else if (signal_is_ours(si) && !r->launch.ended) {
		kill(r->launch.pid, signo);
	}
}

static void read_signals(struct run *r)
{
	struct signalfd_siginfo si;

	while (read(r->s->signal_fd, &si, sizeof(si)) == sizeof(si))
		handle_signal(r, &si);
}

/* Reports the counts since the last interval. */
static int tick(struct run *r, uint64_t now, struct error *err)
{
	size_t n = r->s->r->plan.events.n;
	struct count_value *swap = r->last;
	int rc = counters_read(r->counters, r->now, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		r->last[i].value = r->now[i].value - r->last[i].value;
		r->last[i].enabled_ns = r->now[i].enabled_ns -
					r->last[i].enabled_ns;
		r->last[i].running_ns = r->now[i].running_ns -
					r->last[i].running_ns;
	}
	r->s->o->tick(r->s->o->ctx, r->s->r, r->last, now - r->ticked_ns,
		      now - r->start_ns);
	r->last = r->now;
	r->now = swap;
	r->ticked_ns = now;
	/* Intervals that were missed are merged into one. */
	r->tick_ns += r->interval_ns *
		      (1 + (now - r->tick_ns) / r->interval_ns);
	return 0;
}

static void take_command(struct run *r, enum control_command command)
{
	struct control *c = &r->s->control;
	struct error err = { 0 };

	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		if (*c->name) {
			error_set(&err, ERR_USAGE, "%s: all events are switched "
				  "together", c->line);
		} else if (command == CONTROL_DISABLE) {
			counters_stop(r->counters);
		} else {
			if (r->delay_ns)
				begin_at(r, clock_now());
			r->delay_ns = 0;
			counters_start(r->counters, &err);
		}
		break;
	case CONTROL_STOP:
		r->s->stop = r->done = true;
		break;
	case CONTROL_PING:
		break;
	default:
		error_set(&err, ERR_USAGE, "unknown command \"%s\"", c->line);
	}
	if (err.code)
		notice(r->s, "--control: %s", err.msg);
	else
		control_ack(c, "");
}

static void read_commands(struct run *r)
{
	enum control_command command;

	while (r->s->control.fd >= 0 && !r->done &&
	       (command = control_next(&r->s->control)) != CONTROL_NONE)
		take_command(r, command);
}

static int timeout_ms(const struct run *r)
{
	uint64_t now = clock_now(), next = r->end_ns;

	if (r->tick_ns < next)
		next = r->tick_ns;
	if (r->delay_ns && r->delay_ns < next)
		next = r->delay_ns;
	if (r->s->target.attached && now + ROUND_MS * 1000000u < next)
		next = now + ROUND_MS * 1000000u;
	if (next == UINT64_MAX)
		return -1;
	next = next > now ? (next - now + 999999) / 1000000 : 0;
	return next > 1 << 30 ? 1 << 30 : (int)next;
}

static int loop(struct run *r, struct error *err)
{
	struct session *s = r->s;
	size_t n = r->ends.fds.n;
	int rc = 0;

	if (r->launch.pid && launch_poll(&r->launch))
		r->done = true;
	while (!r->done && !rc) {
		uint64_t now;

		r->fds[0] = (struct pollfd){ s->signal_fd, POLLIN, 0 };
		r->fds[1] = (struct pollfd){ s->control.fd, POLLIN, 0 };
		for (size_t i = 0; i < n; i++)
			r->fds[OURS + i] = (struct pollfd){ r->ends.fds.v[i],
							    POLLIN, 0 };
		if (poll(r->fds, OURS + n, timeout_ms(r)) < 0 && errno != EINTR)
			return error_errno(err, errno, "poll");
		if (r->fds[0].revents)
			read_signals(r);
		if (r->fds[1].revents)
			read_commands(r);
		if (s->target.attached &&
		    target_ended(&s->target, &r->ends, r->fds + OURS))
			r->done = true;
		now = clock_now();
		if (r->delay_ns && now >= r->delay_ns && !r->done) {
			r->delay_ns = 0;
			begin_at(r, now);
			rc = counters_start(r->counters, err);
		}
		if (now >= r->tick_ns && !r->done && !rc)
			rc = tick(r, now, err);
		if (now >= r->end_ns)
			r->done = true;
	}
	return rc;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

/* Reports events that were never on a counter, because their group is larger than
 * the counters left by others. */
static void report_uncounted(struct session *s, const struct count_value *v)
{
	const struct plan *p = &s->r->plan;

	for (size_t i = 0; i < p->events.n; i++) {
		const struct plan_event *e = &p->events.v[i];

		if (!v[i].enabled_ns || v[i].running_ns || e->missing)
			continue;
		notice(s, "event %s was never counted: other events use the "
		       "counters"
		       "%s", e->ev.spec.text, e->group && !e->split
		       ? "; --no-group counts events one by one" : "");
	}
}

/* Reports CPU time without counts.  The kernel ends the events of a program that
 * changes its user or may not be read (Linux, begin_new_exec).  Until then, events are
 * enabled while their threads run. */
static void report_ended(struct run *r, const struct count_run *row)
{
	const struct count_options *o = r->s->o;
	uint64_t used = row->user_ns + row->sys_ns, seen = 0;

	if (!r->s->r->of_command || !o->inherit || o->target.cpus ||
	    o->delay != 0 || o->control || r->s->r->runs.n > 1)
		return;
	for (size_t i = 0; i < r->s->r->plan.events.n; i++)
		if (r->now[i].enabled_ns > seen)
			seen = r->now[i].enabled_ns;
	if (used > seen + used / 10 + 10000000u)
		notice(r->s, "%.0f of %.0f ms of CPU time are not counted: the kernel "
		       "ends counting in programs that change their user or may not "
		       "be read (root counts them with -a)",
		       (double)(used - seen) / 1e6, (double)used / 1e6);
}

static int finish(struct run *r, struct error *err)
{
	struct session *s = r->s;
	uint64_t now = clock_now();
	/* A run that ended before counting began took no time. */
	struct count_run row = {
		.elapsed_ns = r->delay_ns ? 0 : now - r->start_ns,
	};
	int rc = 0;

	if (s->o->command)
		rc = launch_started(&r->launch, s->o->command[0], err);
	if (rc < 0) {
		s->r->exec_status = rc == -ERR_NOTFOUND ? 127 : 126;
		return rc;
	}
	if (s->target.attached || s->target.system_wide)
		counters_stop(r->counters);
	signals_end_command(&r->launch, r->s->signal_fd);
	rc = counters_read(r->counters, r->now, err);
	if (rc < 0)
		return rc;
	if (r->launch.pid) {
		row.wait_status = r->launch.wait_status;
		row.user_ns = timeval_ns(&r->launch.usage.ru_utime);
		row.sys_ns = timeval_ns(&r->launch.usage.ru_stime);
	}
	for (size_t i = 0; i < s->r->plan.events.n; i++)
		if (vec_push(&s->r->values, r->now[i]) < 0)
			return no_memory(err);
	if (vec_push(&s->r->runs, row) < 0)
		return no_memory(err);
	report_uncounted(s, r->now);
	report_ended(r, &row);
	if (r->interval_ns && !r->delay_ns)
		rc = tick(r, r->start_ns + row.elapsed_ns, err);
	return rc;
}

static int run_once(struct session *s, struct error *err)
{
	struct run r = { .s = s, .launch = { .go = -1, .status_fd = -1 } };
	int rc = prepare(&r, err) ?: go(&r, err) ?: loop(&r, err);

	/* Ctrl-C may have ended the command before the loop began. */
	read_signals(&r);
	if (!rc)
		rc = finish(&r, err);
	if (rc < 0) {
		/* After a failed exec, the process ends by itself. */
		if (r.launch.pid && r.launch.go < 0 && !s->r->exec_status)
			signals_end_command(&r.launch,
					    r.s->signal_fd);
		launch_end(&r.launch);
	}
	counters_close(r.counters);
	target_watch_end(&r.ends);
	vec_fini(&r.threads);
	free(r.fds);
	free(r.now);
	free(r.last);
	return rc;
}

static int check(const struct count_options *o, struct error *err)
{
	if (o->user_only && o->kernel_only)
		return error_set(err, ERR_USAGE,
				 "--user and --kernel exclude each other");
	if (o->interval > 0 && o->repeat > 1)
		return error_set(err, ERR_USAGE, "-I and -r exclude each other: "
				 "intervals are shown for a single run");
	return 0;
}

int count(const struct count_options *o, struct count_result *out,
	  struct error *err)
{
	struct session s = { .o = o, .r = out, .signal_fd = -1,
			     .control = { .fd = -1, .ack_fd = -1 },
			     .target = { .cgroup_fd = -1 } };
	const struct plan_options po = {
		.events = o->events, .metrics = o->metrics,
		.nmetrics = o->nmetrics, .no_metrics = o->no_metrics,
		.no_group = o->no_group, .by_mode = o->by_mode,
		.no_merge = o->no_merge,
		.sysfs = "/sys",
	};
	uint64_t n = o->repeat ? o->repeat : 1;
	int r = check(o, err);

	memset(out, 0, sizeof(*out));
	if (!r)
		r = plan_make(&out->plan, &po, err);
	if (!r)
		r = target_parse(&s.target, &o->target, err);
	out->of_command = o->command && !s.target.attached &&
			  !s.target.system_wide;
	if (!r)
		r = perf_reachable(err);
	if (!r && o->control)
		r = control_open(&s.control, o->control, err);
	if (r < 0) {
		target_fini(&s.target);
		return r;
	}
	limits_raise(&s.before);
	r = signals_catch(&s.before, &s.signal_fd, err);
	for (uint64_t i = 0; i < n && !r && !s.stop; i++)
		r = run_once(&s, err);
	signals_release(&s.before, s.signal_fd);
	control_close(&s.control);
	target_fini(&s.target);
	return r;
}
