// SPDX-License-Identifier: GPL-2.0-or-later
/* A run's end: the last samples, and what was not recorded. */
#include <stdio.h>

#include "record/run.h"
#include "record/signals.h"

static int note_outside(struct run *r, struct error *err)
{
	if (profile_set_env(&r->s->profile, PROF_NONE, "not_recorded",
			    r->source->outside) < 0)
		return error_set(err, ERR_NOMEM, "out of memory");
	return 0;
}

/* They were told of by programs, which may tell anything. */
static int note_unsampled(struct run *r, struct error *err)
{
	unsigned long long n = r->source->unsampled;
	char text[32];

	if (!n)
		return 0;
	session_notice(r->s, "%llu thread%s without samples: begun under a "
		       "filter for system calls, or the kernel gave no timer",
		       n, n == 1 ? "" : "s");
	snprintf(text, sizeof(text), "%llu", n);
	if (profile_set_env(&r->s->profile, PROF_NONE, "threads_without_timer",
			    text) < 0)
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

		row->exit_status = r->launch.wait_status;
		row->user_ns = (uint64_t)u->ru_utime.tv_sec * 1000000000u +
			       (uint64_t)u->ru_utime.tv_usec * 1000u;
		row->sys_ns = (uint64_t)u->ru_stime.tv_sec * 1000000000u +
			      (uint64_t)u->ru_stime.tv_usec * 1000u;
		s->result->wait_status = r->launch.wait_status;
	}
	rc = run_drain(r, true, err);
	if (rc >= 0)
		rc = note_unrecorded(r, err);
	if (rc >= 0)
		rc = note_unsampled(r, err);
	s->result->late += r->source->late;
	s->result->damaged += r->source->damaged;
	return rc;
}
