// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a whole recording: prepares it, makes its runs, and ends its last file. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/priority.h"
#include "launch/proc_read.h"
#include "launch/signals.h"
#include "profile/replace.h"
#include "record/collect/kernel_code.h"
#include "record/rotate.h"
#include "record/run.h"

/* Opens the output without touching an existing file of that name, which is replaced
 * once the command runs.  Opens for writing only: a pipe that tally could also read
 * would never report that its reader has gone. */
static int open_output(struct session *s, struct error *err)
{
	int rc = recording_may_replace(s->o->output, s->o->force, err);

	return rc < 0 ? rc : outfile_open(&s->out, s->o->output, true, err);
}

static int choose_target(struct session *s, struct error *err)
{
	const struct record_options *o = s->o;
	struct target_options t = {
		.pids = o->pids, .tids = o->tids, .cpus = o->cpus,
		.cgroup = o->cgroup, .all_cpus = o->all_cpus,
		.command = o->command, .repeat = o->repeat,
		.descendants = o->descendants,
	};
	int r = target_parse(&s->target, &t, err);

	if (!r && o->cpus && o->command && !s->target.system_wide)
		session_notice(s, "-C %s records only the command on these "
			       "processors; -a -C %s records everything there",
			       o->cpus, o->cpus);
	if (!r && o->user_only && o->kernel_only)
		r = error_set(err, ERR_USAGE,
			      "--user and --kernel exclude each other");
	return r;
}

static int choose_events(struct session *s, struct error *err)
{
	const struct event_list *l = s->o->events;
	int r = 0;

	if (!l->n) {
		r = events_parse("cycles:P", "/sys", &s->events, err);
		if (!r)
			strcpy(s->events.v[0].text, "cycles");
	}
	for (size_t i = 0; i < l->n && !r; i++)
		if (vec_push(&s->events, l->v[i]) < 0)
			r = error_nomem(err);
	return r;
}

static void report_unsampled(struct session *s)
{
	struct buf why = { 0 };

	profile_why_unsampled(&s->profile, &why);
	if (why.n)
		session_notice(s, "no samples: %s", buf_cstr(&why));
	buf_fini(&why);
}

/* Checks the pid namespaces.  Process numbers are those of tally's namespace; /proc
 * shows those of its own. */
static void check_namespaces(struct session *s)
{
	s->collector.pid_ns = !proc_first_pid_namespace();
	if (proc_is_own() || access("/proc/self", F_OK))
		return;
	s->collector.images.foreign_proc = true;
	session_notice(s, "/proc belongs to another pid namespace: files "
		       "visible only to the recorded programs cannot be "
		       "opened; run \"mount -t proc proc /proc\" there");
}

/* Number of nodes kept to recognise repeated stacks: 10 MB, or 5 MB. */
#define NODES_KEPT (1u << 18)
#define NODES_KEPT_CALM (1u << 17)
/* Limits of compiled rules with `calm`: at 99 Hz, this number of walks takes more than
 * three minutes of two busy CPUs, in which a program that is built again and again starts
 * each of its tools. */
#define RULE_BYTES_CALM (10u << 20)
#define UNUSED_WALKS_CALM 40000
/* Frames of a stack: those of 16 bytes in a stack of 4 MB, of 32 bytes in 8 MB.  With
 * the largest number, two such threads take 42 MB. */
#define FRAMES_CALM (1u << 18)

static int setup(struct session *s, struct error *err)
{
	int r;

	limits_raise(&s->before);
	s->before.nice_value = priority_raise();
	if (profile_init(&s->profile) < 0)
		return error_nomem(err);
	/* collector_next_file needs the nodes of open waits */
	if (!s->o->rotate.on || !s->o->waits)
		profile_keep_nodes(&s->profile, s->o->calm ? NODES_KEPT_CALM
							   : NODES_KEPT);
	r = choose_target(s, err);
	/* Existing processes must be read before sampling begins. */
	if (!r && s->target.system_wide)
		priority_boost_begin(&s->boost, PRIORITY_BEGIN);
	if (!r)
		r = choose_events(s, err);
	if (!r)
		r = collector_init(&s->collector, &s->profile, "/proc", "/sys",
				   err);
	s->collector.live = true;
	s->collector.calm = s->o->calm;
	s->collector.unwinder.tables.debug_dirs = s->o->debug_dirs;
	if (s->o->calm) {
		s->collector.unwinder.tables.kept_bytes = RULE_BYTES_CALM;
		s->collector.unwinder.tables.unused_walks = UNUSED_WALKS_CALM;
		s->collector.unwinder.deep.most = FRAMES_CALM;
	}
	s->collector.closer.no_names = !s->o->symbols || s->o->identified_later;
	if (!r)
		check_namespaces(s);
	if (!r && !s->o->user_only &&
	    kernel_code_scan(&s->collector.kernel, &s->collector.images,
			     &s->collector.processes.generation) < 0)
		r = error_nomem(err);
	if (!r)
		r = open_output(s, err);
	if (!r && s->o->rotate.on)
		r = rotate_begin(s, err);
	if (!r && s->o->control)
		r = control_open(&s->control, s->o->control, err);
	if (!r)
		r = signals_catch(&s->before, &s->signal_fd, err);
	return r;
}

static void teardown(struct session *s)
{
	if (s->writer)
		writer_close(s->writer);
	if (s->prepared)
		writer_close(s->prepared);
	outfile_drop(&s->out);
	rotate_fini(s);
	control_close(&s->control);
	signals_release(&s->before, s->signal_fd);
	priority_set(s->before.nice_value);
	collector_fini(&s->collector);
	event_list_fini(&s->events);
	target_fini(&s->target);
	profile_fini(&s->profile);
}

static int record_runs(struct session *s, struct error *err)
{
	uint64_t n = s->o->repeat ? s->o->repeat : 1;
	int r = 0;

	for (uint64_t i = 0; i < n && !r && !s->stop && !s->failure.code;
	     i++) {
		r = run_record(s, (uint32_t)i, err);
		s->result->runs += !r;
	}
	return r;
}

int record(const struct record_options *o, struct record_result *out,
	   struct error *err)
{
	/* On the stack, every sample of tally itself would copy it. */
	struct session *s = calloc(1, sizeof(*s));
	int r;

	memset(out, 0, sizeof(*out));
	if (!s)
		return error_nomem(err);
	s->o = o;
	s->result = out;
	s->out.fd = -1;
	s->signal_fd = -1;
	s->control.fd = -1;
	s->target.cgroup_fd = -1;
	s->collector.images.vdso = -1;
	r = run_name_files(s, 0, setup(s, err), err);
	if (!r)
		r = record_runs(s, err);
	out->samples = s->rotation.samples + s->collector.samples;
	out->lost = s->rotation.lost + s->collector.lost;
	out->throttled = s->rotation.throttled + s->collector.throttled;
	if (!r && s->failure.code) {
		*err = s->failure;
		r = -err->code;
	} else if (s->writer) {
		struct error why = { 0 };
		int e;

		if (!s->boost.running)
			priority_boost_begin(&s->boost, PRIORITY_FINISH);
		if (!r && !out->samples && !out->lost)
			report_unsampled(s);
		e = session_finish_file(s, r ? &why : err);
		if (!e)
			e = outfile_check(&s->out, r ? &why : err);
		if (!e && o->rotate.on)
			e = rotate_end(s, r ? &why : err);

		r = r ? r : e;
	}
	teardown(s);
	priority_boost_leave(&s->boost);
	free(s);
	return r;
}
