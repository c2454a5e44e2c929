// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes one run: opens the events, releases the command, collects in rounds until it
 * ends. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "launch/signals.h"
#include "record/collect/collect_waits.h"
#include "record/rotate.h"
#include "record/run.h"

/*
 * Sleep between two rounds.  While new files appear (a program starts, loads
 * libraries), rounds are short, to open them before they are gone.  The same applies
 * while programs are started, because the next may be a new one.  Then rounds get
 * longer.  Stacks deeper than their copies are read from memory: the sooner, the more
 * likely they are unchanged.
 */
enum { ROUND_MIN_MS = 5, ROUND_DEEP_MS = 2, ROUND_EXEC_MS = 20,
       ROUND_POLL_MS = 2,	/* for polls of sleeping threads */
       ROUND_QUEUES_MS = 10,	/* for readings of how long threads wait for CPUs */
       ROUND_PAUSES_MS = 5,	/* while the source samples waits for a round at a time */
       ROUND_MAX_MS = 200,
       ROUND_TOLD_MS = 300,	/* for sources that report records after ROUND_MAX_MS */
       LOOK_MS = 10,	/* between looks at names of generated code (jit_lines.h) ... */
       LOOK_GAP_MS = 1,	/* ... and between notices of new ones */
       ROUND_CALM_MS = 1000, ROUND_CALM_MAX_MS = 2000 };	/* record_options.calm */
#define ROUND_GAP_NS 4000000u
/* Time after a wait of unknown kind in which threads are polled for it. */
#define KINDS_WANTED_NS 100000000u
/* Most time between a notice and the recorder's next step, beyond its wait for a CPU. */
#define NOTICE_NS 1000000u
/* Wait for a CPU, in one round, that triggers a higher priority. */
#define LATE_NS 4000000u

static void stop_recording(struct run *r, int signo)
{
	r->s->stop = true;
	r->s->result->stop_signal = signo;
	r->done = true;
}

/*
 * Ctrl-C reaches the command as well as tally, so tally waits for the command's
 * reaction.  A signal sent only to tally is passed on.  Without a command, a signal
 * ends the recording.
 */
static void handle_signal(struct run *r, const struct signalfd_siginfo *si)
{
	int signo = (int)si->ssi_signo;

	if (signo == SIGCHLD) {
		if (r->launch.pid && launch_poll(&r->launch))
			r->done = true;
		return;
	}
	if (signo == SIGUSR2 && r->s->o->rotate.by_signal)
		r->s->rotation.asked = true;
	if (!signal_ends(si, r->launch.pid))
		return;
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
	/* A source with a thread of its own reports when records are ready.  To wait no
	 * longer than it does would add a round to each of its own. */
	uint64_t wait = (!r->source->ops->pace ? r->round_ms
			 : r->s->o->calm ? ROUND_CALM_MAX_MS : ROUND_TOLD_MS) *
			1000000ull;
	uint64_t due = r->drained_ns + r->source->round_ms * 1000000ull;

	if (r->source->round_ms && due < now + wait)
		wait = due > now ? due - now : 0;
	if (r->start_ns && r->start_ns < now + wait)
		wait = r->start_ns > now ? r->start_ns - now : 0;
	if (r->end_ns < now + wait)
		wait = r->end_ns > now ? r->end_ns - now : 0;
	if (r->s->o->rotate.every_ns && r->s->rotation.begun_ns && !r->s->failure.code) {
		uint64_t next = r->s->rotation.begun_ns +
				r->s->o->rotate.every_ns;

		if (next < now + wait)
			wait = next > now ? next - now : 0;
	}
	return (int)((wait + 999999) / 1000000);
}

/* Switches sampling of one event by name, or of all. */
static int switch_event(struct run *r, const char *name, bool on,
			struct error *err)
{
	struct source *src = r->source;
	uint32_t event = SOURCE_NONE;

	for (size_t i = 0; *name && i < src->nevents; i++)
		if (!strcmp(src->events[i].name, name))
			event = (uint32_t)i;
	if (*name && event == SOURCE_NONE)
		return error_set(err, ERR_USAGE, "no event has the name %s", name);
	if (event == SOURCE_NONE || (src->waits && event >= src->blocked)) {
		int rc = run_waits(r, on, err);

		if (rc < 0 || event != SOURCE_NONE)
			return rc;
	}
	return src->ops->enable(src, event, on, err);
}

static void report_events(struct run *r)
{
	struct buf names = { 0 };

	for (size_t i = 0; i < r->source->nevents; i++)
		buf_printf(&names, "%s\n", r->source->events[i].name);
	control_ack(&r->s->control, buf_cstr(&names));
	buf_fini(&names);
}

/* Hands over to, or takes over from, another recorder. */
static void hand_over(struct run *r, bool begin, struct error *err)
{
	struct session *s = r->s;
	struct prof_run *row = &s->profile.runs.v[r->number];
	char *end;
	uint64_t at = strtoull(s->control.name, &end, 10), now = clock_now();

	if (end == s->control.name || *end) {
		error_set(err, ERR_USAGE, "a time in nanoseconds is required");
	} else if (!begin) {
		s->collector.until_ns = r->end_ns = at ? at : 1;
	} else {
		at = at > now ? at : now;
		s->collector.from_ns = s->rotation.begun_ns = at;
		row->start_ns = at;
		row->start_wall_ns = clock_read(CLOCK_REALTIME) + (at - now);
	}
}

static void take_command(struct run *r, enum control_command command)
{
	struct session *s = r->s;
	struct control *c = &s->control;
	struct error err = { 0 };

	switch (command) {
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
		switch_event(r, c->name, command == CONTROL_ENABLE, &err);
		s->enabled |= command == CONTROL_ENABLE && !err.code;
		break;
	case CONTROL_SNAPSHOT:
		if (!s->o->rotate.on)
			error_set(&err, ERR_USAGE, "snapshot requires "
				  "--switch-output");
		else
			run_failed(r, rotate_now(r, &err), &err);
		break;
	case CONTROL_STOP:
		s->stop = r->done = true;
		break;
	case CONTROL_EVLIST:
		report_events(r);
		return;
	case CONTROL_FROM:
	case CONTROL_UNTIL:
		hand_over(r, command == CONTROL_FROM, &err);
		break;
	case CONTROL_PING:
		break;
	default:
		error_set(&err, ERR_USAGE, "unknown command \"%s\"", c->line);
	}
	if (err.code)
		session_notice(s, "--control: %s", err.msg);
	else
		control_ack(c, "");
}

static void read_commands(struct run *r)
{
	enum control_command command;

	while (r->s->control.fd >= 0 &&
	       (command = control_next(&r->s->control)) != CONTROL_NONE)
		take_command(r, command);
}

/* The descriptors to wait for; those of r->ends follow. */
enum { SIGNALS, RECORDS, CONTROL, NAMES, OURS };

/* Waits like poll(2), and for notices of new names of generated code unless some have
 * just been read.  Notes since when these may have been written.  *waited_ns is what
 * priority_waited was before, or 0: unknown. */
static int poll_names(struct run *r, struct pollfd *fds, size_t n, int ms,
		      uint64_t *waited_ns)
{
	struct jit_follow *jit = &r->s->collector.jit;
	uint64_t from = clock_now(), waited, since;
	int got;

	fds[NAMES] = (struct pollfd){ jit->changed || jit->fd <= 0 ? -1 : jit->fd,
				      POLLIN, 0 };
	got = poll(fds, n, ms);
	if (got <= 0 || !fds[NAMES].revents || !*waited_ns)
		return got;
	since = clock_now() - NOTICE_NS;
	waited = priority_waited();
	since -= waited - *waited_ns;
	*waited_ns = waited;
	/* If that is before, poll may have returned at once. */
	if (since > from)
		jit->quiet_ns = since;
	return got;
}

/* Waits like poll(2), and reads new names of generated code. */
static int poll_and_look(struct run *r, struct pollfd *fds, size_t n, int ms,
			 struct error *err)
{
	struct collector *c = &r->s->collector;
	uint64_t end = clock_now() + (uint64_t)ms * 1000000;
	uint64_t waited = c->jit.fd > 0 && ms > LOOK_GAP_MS ? priority_waited() : 0;

	for (;;) {
		int look = c->jit.changed ? LOOK_GAP_MS
			   : c->jit.unwatched && !r->s->o->calm ? LOOK_MS : ms;
		int got = poll_names(r, fds, n, look < ms ? look : ms, &waited);
		uint64_t now = clock_now();

		if (got < 0)
			return errno != EINTR ? error_errno(err, errno, "poll") : 0;
		if (got > !!fds[NAMES].revents || now >= end)
			return 0;
		if (collector_round(c, err) < 0)
			return -err->code;
		ms = (int)((end - now + 999999) / 1000000);
	}
}

static int wait_round(struct run *r, struct pollfd *fds, struct error *err)
{
	uint64_t now = clock_now();
	size_t n = OURS + r->ends.fds.n;

	fds[SIGNALS] = (struct pollfd){ r->s->signal_fd, POLLIN, 0 };
	fds[RECORDS] = (struct pollfd){ r->source->wake_fd, POLLIN, 0 };
	fds[CONTROL] = (struct pollfd){ r->s->control.fd, POLLIN, 0 };
	for (size_t i = 0; i < r->ends.fds.n; i++)
		fds[OURS + i] = (struct pollfd){ r->ends.fds.v[i], POLLIN, 0 };
	if (poll_and_look(r, fds, n, timeout_ms(r, now), err) < 0)
		return -err->code;
	/* A source that paces itself had many rounds meanwhile, all without records. */
	if (!fds[RECORDS].revents && clock_now() >= now + ROUND_MAX_MS * 1000000ull)
		r->round_ms = ROUND_MAX_MS;
	/* Limit wakeups by programs that start others all the time. */
	now = clock_now();
	if (!fds[SIGNALS].revents && !fds[CONTROL].revents &&
	    now < r->drained_ns + ROUND_GAP_NS &&
	    r->round_ms > ROUND_DEEP_MS && !r->source->ops->pace)
		poll(fds, 1, (int)((r->drained_ns + ROUND_GAP_NS - now) /
				   1000000 + 1));
	if (fds[SIGNALS].revents)
		read_signals(r);
	if (r->s->target.attached &&
	    target_ended(&r->s->target, &r->ends, fds + OURS))
		r->done = true;
	now = clock_now();
	if (now >= r->end_ns)
		r->done = true;
	if (r->start_ns && now >= r->start_ns && !r->done) {
		r->start_ns = 0;
		if (r->source->ops->start(r->source, err) < 0)
			return -err->code;
		return run_waits(r, true, err);
	}
	return 0;
}

static void next_round(struct run *r)
{
	size_t images = r->s->collector.images.v.n;

	r->round_ms *= 2;
	if (images != r->images || !r->round_ms || r->source->sideband_pending)
		r->round_ms = ROUND_MIN_MS;
	else if (r->s->collector.execs != r->execs &&
		 r->round_ms > ROUND_EXEC_MS)
		r->round_ms = ROUND_EXEC_MS;
	if (r->s->collector.unwinder.cut != r->deep &&
	    r->round_ms > ROUND_DEEP_MS)
		r->round_ms = ROUND_DEEP_MS;
	if (r->s->collector.wait_samples.queues && r->round_ms > ROUND_QUEUES_MS)
		r->round_ms = ROUND_QUEUES_MS;
	if (r->source->wakes_missing && r->round_ms > ROUND_PAUSES_MS)
		r->round_ms = ROUND_PAUSES_MS;
	if ((r->s->collector.wait_samples.polls ||
	     r->s->collector.wait_samples.python ||
	     clock_now() - r->s->collector.wait_samples.kinds_wanted_ns <
	     KINDS_WANTED_NS) &&
	    r->round_ms > ROUND_POLL_MS)
		r->round_ms = ROUND_POLL_MS;
	if (r->round_ms > ROUND_MAX_MS)
		r->round_ms = ROUND_MAX_MS;
	if (r->s->o->calm && r->source->ops->pace)
		r->round_ms = ROUND_CALM_MS;
	r->images = images;
	r->deep = r->s->collector.unwinder.cut;
	r->execs = r->s->collector.execs;
	if (r->source->ops->pace)
		r->source->ops->pace(r->source, r->round_ms);
}

/* Raises the priority if rounds are late, because late rounds lose outer frames, and
 * files of programs that have ended.  Where nothing asks for a round before the longest time,
 * a late one loses neither. */
static void keep_up(struct run *r)
{
	uint64_t waited = priority_waited(), before = r->waited_ns;

	r->waited_ns = waited;
	if (!priority_boost_on(&r->s->boost) && waited > before + LATE_NS &&
	    r->round_ms < ROUND_MAX_MS)
		priority_boost_begin(&r->s->boost, PRIORITY_WORK);
}

/* Begins the next file when it is due, or ends the recording. */
static int switch_file(struct run *r, struct error *err)
{
	struct session *s = r->s;

	if (s->writer && s->o->max_bytes &&
	    writer_bytes(s->writer) >= s->o->max_bytes) {
		session_notice(s, "--max-size is reached: the recording ends");
		s->stop = r->done = true;
		return 0;
	}
	return rotate_due(s, clock_now()) ? run_failed(r, rotate_now(r, err), err)
				       : 0;
}

static int loop(struct run *r, struct error *err)
{
	struct pollfd *fds = calloc(OURS + r->ends.fds.n, sizeof(*fds));
	int rc = fds ? 0 : error_nomem(err);

	/* It may have ended before its signal was caught. */
	if (r->launch.pid && launch_poll(&r->launch))
		r->done = true;
	r->waited_ns = priority_waited();
	while (!rc && !r->done) {
		next_round(r);
		if (r->source->ops->pace && !r->s->o->calm)
			keep_up(r);
		rc = wait_round(r, fds, err);
		if (!rc && !r->done)
			rc = run_drain(r, false, err);
		if (!rc && r->s->control.fd >= 0)
			read_commands(r);
		if (!rc && !r->done)
			rc = switch_file(r, err);
	}
	priority_boost_end(&r->s->boost);
	free(fds);
	return rc;
}

static void run_fini(struct run *r)
{
	if (r->source)
		r->source->ops->close(r->source);
	target_watch_end(&r->ends);
	vec_fini(&r->threads);
}

/* The end of a run: notes what was not recorded. */

/* The number comes from programs and is untrusted. */
static int note_unsampled(struct run *r, struct error *err)
{
	unsigned long long n = r->source->unsampled;

	if (!n)
		return 0;
	session_notice(r->s, "%llu thread%s not sampled, or not to the end: under a "
		       "system call filter, or without a timer from the kernel",
		       n, plural(n, "s"));
	return profile_set_number(&r->s->profile, PROF_NONE, "threads_without_timer",
				  n) < 0 ? error_nomem(err) : 0;
}

/* Records how the rings were drained. */
static int note_draining(struct run *r, struct error *err)
{
	const struct source *src = r->source;
	struct session *s = r->s;
	struct profile *p = &s->profile;
	bool unwinds = src->unwound || src->not_unwound;
	const struct {
		bool on;
		const char *key;
		uint64_t *sum, n;	/* of all runs; of this one */
	} rows[] = {
		{ unwinds, "stacks_unwound_in_kernel", &s->unwound, src->unwound },
		{ unwinds, "stacks_copied_by_module", &s->not_unwound,
		  src->not_unwound },
		{ src->record_bytes, "sample_record_bytes", &s->record_bytes,
		  src->record_bytes },
		{ src->handler_cycles, "sample_handler_cycles", &s->handler_cycles,
		  src->handler_cycles },
		{ src->taken, "samples_taken_in_kernel", &s->taken, src->taken },
		{ src->taken, "samples_added_up_in_kernel", &s->added_up,
		  src->added_up },
		{ src->verified, "stacks_verified", &s->verified, src->verified },
		{ src->verified, "stacks_differing", &s->differing, src->differing },
	};
	int rc = !src->priority ? 0
		 : profile_set_env(p, PROF_NONE, "drain_priority", src->priority);

	for (size_t i = 0; i < COUNT(rows) && rc >= 0; i++)
		if (rows[i].on)
			rc = profile_set_number(p, PROF_NONE, rows[i].key,
						*rows[i].sum += rows[i].n);
	if (src->verified)
		session_notice(s, "of %llu stacks that the kernel module has "
			       "unwound, %llu differ from tally's own",
			       (unsigned long long)s->verified,
			       (unsigned long long)s->differing);
	if (src->thinned)
		session_notice(s, "the recorder could not keep up and "
			       "lowered the rate temporarily (%llu samples "
			       "omitted)",
			       (unsigned long long)src->thinned);
	rc = rc < 0 ? error_nomem(err) : run_note_load(r, err);
	s->shortened += src->shortened;
	s->thinned += src->thinned;
	return rc;
}

static int note_unrecorded(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct buf names = { 0 };
	int rc = 0;

	/* A program with lost mapping records looks the same. */
	if (!s->collector.gaps)
		rc = processes_unrecorded(&s->collector.processes,
					  s->profile.runs.v[r->number].end_ns,
					  &names);
	if (!rc && !names.n && r->source->outside) {
		session_notice(s, "not recorded: %s (%s)", r->source->outside,
			       r->source->outside_why);
		rc = profile_set_env(&s->profile, PROF_NONE, "not_recorded",
				     r->source->outside);
	} else if (!rc && names.n) {
		session_notice(s, "not recorded: %s (a program that changes its "
			       "user or may not be read is recorded only by "
			       "root with -a)", buf_cstr(&names));
		rc = profile_set_env(&s->profile, PROF_NONE, "not_recorded",
				     buf_cstr(&names));
	}
	buf_fini(&names);
	return rc < 0 ? error_nomem(err) : 0;
}

/* A recording of a command ends with it, whatever it leaves behind: a daemon, or a job
 * in the background. */
static void note_running(struct run *r)
{
	const struct record_options *o = r->s->o;
	struct buf names = { 0 };
	size_t n;

	if (!r->launch.pid || r->number || r->s->stop || !o->inherit ||
	    o->all_cpus || o->cpus || o->cgroup || o->pids || o->tids)
		return;
	n = processes_running(&r->s->collector.processes,
			      (uint32_t)r->launch.pid, &names);
	if (n)
		session_notice(r->s, "%zu process%s that the command started still "
			       "run%s and %s no longer recorded: %s; -p records "
			       "running processes",
			       n, plural(n, "es"), n == 1 ? "s" : "",
			       n == 1 ? "is" : "are", buf_cstr(&names));
	buf_fini(&names);
}

/* Explains an absence of samples. */
static int note_no_samples(struct run *r, struct error *err)
{
	struct session *s = r->s;
	const char *why = NULL;

	if (r->start_ns)
		why = "sampling never started: the recording ended before "
		      "--delay was over; use a shorter delay";
	else if (s->o->delay < 0 && !s->enabled)
		why = "sampling was never switched on: --control received no "
		      "\"enable\"";
	if (s->collector.samples || !why)
		return 0;
	if (profile_set_env(&s->profile, PROF_NONE, "no_samples", why) < 0)
		return error_nomem(err);
	return 0;
}

/* Stores how much the command wrote.  Checks compare it. */
static int note_written(struct run *r, struct error *err)
{
	if (!r->launch.pid || !r->launch.written_known)
		return 0;
	return profile_set_number(&r->s->profile, r->number, "written",
				  r->launch.written) < 0 ? error_nomem(err) : 0;
}

static int run_finish(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct prof_run *row = &s->profile.runs.v[r->number];
	int rc;

	r->source->ops->stop(r->source);
	row->end_ns = clock_now();
	signals_end_command(&r->launch, r->s->signal_fd);
	row = &s->profile.runs.v[r->number];
	if (r->launch.pid) {
		const struct rusage *u = &r->launch.usage;

		uint64_t user_ns = (uint64_t)u->ru_utime.tv_sec * 1000000000u +
				   (uint64_t)u->ru_utime.tv_usec * 1000u;
		uint64_t sys_ns = (uint64_t)u->ru_stime.tv_sec * 1000000000u +
				  (uint64_t)u->ru_stime.tv_usec * 1000u;

		row->exit_status = r->launch.wait_status;
		/* The last of several files has only a part of this time. */
		if (!s->result->files) {
			row->user_ns = user_ns;
			row->sys_ns = sys_ns;
		}
		s->result->wait_status = r->launch.wait_status;
		r->source->counted_ns = user_ns + sys_ns;
	}
	if (s->o->repeat <= 1)
		priority_boost_begin(&s->boost, PRIORITY_FINISH);
	rc = run_drain(r, true, err);
	row = &s->profile.runs.v[r->number];
	if (r->source->stopped_ns && r->source->stopped_ns < row->end_ns)
		row->end_ns = r->source->stopped_ns;
	if (s->collector.until_ns && s->collector.until_ns < row->end_ns &&
	    s->collector.until_ns > row->start_ns)
		row->end_ns = s->collector.until_ns;
	if (rc >= 0)
		rc = note_written(r, err);
	if (rc >= 0)
		rc = note_unrecorded(r, err);
	if (rc >= 0)
		note_running(r);
	if (rc >= 0 && s->collector.wait_samples.on &&
	    collect_waits_facts(&s->collector) < 0)
		rc = error_nomem(err);
	if (rc >= 0)
		rc = note_unsampled(r, err);
	if (rc >= 0)
		rc = note_draining(r, err);
	if (rc >= 0)
		rc = note_no_samples(r, err);
	s->result->late += r->source->late;
	s->result->damaged += r->source->damaged;
	s->result->interpreted = s->collector.unwinder.python.samples;
	return rc;
}

int run_record(struct session *s, uint32_t number, struct error *err)
{
	struct run r = { .s = s, .launch = { .go = -1, .status_fd = -1 } };
	int rc = run_prepare(&r, err);

	priority_boost_end(&s->boost);
	if (!rc && !number)
		rc = session_prepare_file(s, err);
	if (!rc)
		rc = run_go(&r, err);
	if (!rc && !number)
		rc = session_begin_file(s, err);
	if (!rc)
		rc = loop(&r, err);
	/* Ctrl-C may have ended the command before the loop began. */
	read_signals(&r);
	if (!rc) {
		rc = run_finish(&r, err);
	} else {
		/* After a failed exec, the child has ended by itself. */
		if (r.launch.pid && r.launch.go < 0 &&
		    !s->result->exec_status)
			signals_end_command(&r.launch,
					    r.s->signal_fd);
		launch_end(&r.launch);
	}
	run_fini(&r);
	return rc;
}
