// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends a run: takes the last samples and notes what was not recorded. */
#include <inttypes.h>
#include <stdio.h>

#include "record/collect/collect_waits.h"
#include "record/run.h"
#include "launch/signals.h"

static int note_outside(struct run *r, struct error *err)
{
	if (profile_set_env(&r->s->profile, PROF_NONE, "not_recorded",
			    r->source->outside) < 0)
		return error_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

static int set_number(struct profile *p, const char *key, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	return profile_set_env(p, PROF_NONE, key, text);
}

/* The number comes from programs and is untrusted. */
static int note_unsampled(struct run *r, struct error *err)
{
	unsigned long long n = r->source->unsampled;

	if (!n)
		return 0;
	session_notice(r->s, "%llu thread%s without samples: started under a "
		       "system call filter, or the kernel gave no timer",
		       n, n == 1 ? "" : "s");
	if (set_number(&r->s->profile, "threads_without_timer", n) < 0)
		return error_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

int run_note_load(struct run *r, struct error *err)
{
	const struct source *src = r->source;
	const struct rotation *before = &r->s->rotation;
	uint64_t shortened = r->s->shortened + src->shortened - before->shortened;
	uint64_t thinned = r->s->thinned + src->thinned - before->thinned;
	struct profile *p = &r->s->profile;
	int rc = shortened ? set_number(p, PROF_ENV_SHORTENED, shortened) : 0;

	if (rc >= 0 && thinned)
		rc = set_number(p, PROF_ENV_THINNED, thinned);
	return rc < 0 ? error_set(err, ERR_NOMEM, "out of memory") : 0;
}

/* Records how the rings were drained. */
static int note_draining(struct run *r, struct error *err)
{
	const struct source *src = r->source;
	struct profile *p = &r->s->profile;
	int rc = 0;

	if (src->priority)
		rc = profile_set_env(p, PROF_NONE, "drain_priority",
				     src->priority);
	if (rc >= 0 && (src->unwound || src->not_unwound)) {
		r->s->unwound += src->unwound;
		r->s->not_unwound += src->not_unwound;
		rc = set_number(p, "stacks_unwound_in_kernel", r->s->unwound);
		if (rc >= 0)
			rc = set_number(p, "stacks_copied_by_module",
					r->s->not_unwound);
	}
	if (rc >= 0 && src->record_bytes)
		rc = set_number(p, "sample_record_bytes",
				r->s->record_bytes += src->record_bytes);
	if (rc >= 0 && src->handler_cycles)
		rc = set_number(p, "sample_handler_cycles",
				r->s->handler_cycles += src->handler_cycles);
	if (rc >= 0 && src->verified) {
		r->s->verified += src->verified;
		r->s->differing += src->differing;
		session_notice(r->s, "of %llu stacks that the kernel module has "
			       "unwound, %llu differ from tally's own",
			       (unsigned long long)r->s->verified,
			       (unsigned long long)r->s->differing);
		rc = set_number(p, "stacks_verified", r->s->verified);
		if (rc >= 0)
			rc = set_number(p, "stacks_differing",
					r->s->differing);
	}
	if (src->thinned)
		session_notice(r->s, "the recorder could not keep up and "
			       "lowered the rate temporarily (%llu samples "
			       "omitted)",
			       (unsigned long long)src->thinned);
	rc = rc < 0 ? error_set(err, ERR_NOMEM, "out of memory")
		    : run_note_load(r, err);
	r->s->shortened += src->shortened;
	r->s->thinned += src->thinned;
	return rc;
}

static int note_unrecorded(struct run *r, struct error *err)
{
	struct session *s = r->s;
	struct buf names = { 0 };
	int rc = 0;

	/* A program with lost mapping records looks the same. */
	if (!s->collector.gaps)
		collector_unrecorded(&s->collector,
				     s->profile.runs.v[r->number].end_ns,
				     &names);
	if (!names.n && r->source->outside) {
		session_notice(s, "not recorded: %s (%s)", r->source->outside,
			       r->source->outside_why);
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
		return error_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

/* Stores how much the command wrote.  Checks compare it. */
static int note_written(struct run *r, struct error *err)
{
	char text[32];

	if (!r->launch.pid || !r->launch.written_known)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, r->launch.written);
	return profile_set_env(&r->s->profile, r->number, "written", text) < 0
		? error_set(err, ERR_NOMEM, "out of memory") : 0;
}

int run_finish(struct run *r, struct error *err)
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
	if (rc >= 0 && s->collector.wait_samples.on &&
	    collect_waits_facts(&s->collector) < 0)
		rc = error_set(err, ERR_NOMEM, "out of memory");
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
