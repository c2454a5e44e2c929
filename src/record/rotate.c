// SPDX-License-Identifier: GPL-2.0-or-later
/* Records into several files: see rotate.h. */
#include "record/rotate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pages.h"
#include "launch/priority.h"
#include "symbolize/kernel/kallsyms_kept.h"

enum { NAME_TRIES = 1000 };
/* Least time of a file that ends because of its tables: a single stack may fill them. */
#define FULL_MIN_NS 5000000000u

int rotate_begin(struct session *s, struct error *err)
{
	if (!s->out.temp)
		return error_set(err, ERR_USAGE, "--switch-output requires a "
				 "regular file, which %s is not", s->o->output);
	return 0;
}

/* Renames to FILE.TIME, with hundredths of seconds like perf; free *name. */
static int rename_by_time(const char *path, char **name, struct error *err)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		struct timespec ts;
		struct tm tm;
		char when[32];
		int e;

		clock_gettime(CLOCK_REALTIME, &ts);
		localtime_r(&ts.tv_sec, &tm);
		strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
		if (asprintf(name, "%s.%s%02ld", path, when,
			     ts.tv_nsec / 10000000) < 0) {
			*name = NULL;
			return error_nomem(err);
		}
		e = outfile_rename(AT_FDCWD, path, *name);
		if (!e)
			return 0;
		free(*name);
		*name = NULL;
		if (e != EEXIST)
			return error_errno(err, e, "cannot rename %s", path);
		usleep(2000);	/* two switches within the same hundredth */
	}
	return error_set(err, ERR_IO, "cannot rename %s: no name is free", path);
}

/* Keeps the file's name, and removes files older than the last few. */
static int keep_name(struct session *s, char *name, struct error *err)
{
	struct rotation *t = &s->rotation;
	uint64_t most = s->o->rotate.max_files;

	if (vec_push(&t->names, name) < 0) {
		free(name);
		return error_set(err, ERR_NOMEM, "out of memory for files");
	}
	s->result->files++;
	snprintf(s->result->last, sizeof(s->result->last), "%s", name);
	while (most && t->names.n > most) {
		unlink(t->names.v[0]);
		free(t->names.v[0]);
		t->names.n--;
		memmove(t->names.v, t->names.v + 1,
			t->names.n * sizeof(*t->names.v));
	}
	return 0;
}

/* Frees the place of a helper that has ended, and reports a failure. */
static void helper_ended(struct session *s, struct rotate_helper *h, int status)
{
	struct error *err = &s->rotation.unfinished;

	/* One that failed has said why. */
	if (WIFSIGNALED(status))
		session_notice(s, "%s: the process that looks up its names was killed by "
			       "signal %d", h->name, WTERMSIG(status));
	if (status && !err->code)
		error_set(err, ERR_IO, "%s is not complete: its names could not be stored",
			  h->name);
	free(h->name);
	*h = (struct rotate_helper){ 0 };
}

/* Returns a free place for a helper, or NULL if all are in use. */
static struct rotate_helper *free_helper(struct session *s)
{
	for (int i = 0; i < ROTATE_HELPERS; i++) {
		struct rotate_helper *h = &s->rotation.helpers[i];
		int status;

		if (h->pid && waitpid(h->pid, &status, WNOHANG) == h->pid)
			helper_ended(s, h, status);
		if (!h->pid)
			return h;
	}
	return NULL;
}

static bool helper_works(struct session *s)
{
	free_helper(s);		/* notes those that have ended */
	for (int i = 0; i < ROTATE_HELPERS; i++)
		if (s->rotation.helpers[i].pid)
			return true;
	return false;
}

/* Returns the memory of the tables if it exceeds the limit, otherwise 0.  While a helper
 * looks up another file, the limit is twice as large. */
static uint64_t full_tables(struct session *s, uint64_t now)
{
	uint64_t most = s->o->rotate.table_bytes, bytes;

	if (!most || now < s->rotation.begun_ns + FULL_MIN_NS)
		return 0;
	bytes = collector_table_bytes(&s->collector);
	return bytes >= most && (bytes >= 2 * most || !helper_works(s)) ? bytes : 0;
}

bool rotate_due(struct session *s, uint64_t now)
{
	const struct record_switch *o = &s->o->rotate;
	struct rotation *t = &s->rotation;
	bool due = t->asked;

	t->asked = false;
	t->full_bytes = 0;
	if (o->every_ns && t->begun_ns && now >= t->begun_ns + o->every_ns)
		due = true;
	if (o->bytes && s->writer && writer_bytes(s->writer) >= o->bytes)
		due = true;
	if (!due)
		due = (t->full_bytes = full_tables(s, now)) != 0;
	return due && o->on && s->writer && !s->failure.code;
}

static void wait_for_helpers(struct session *s)
{
	for (int i = 0; i < ROTATE_HELPERS; i++) {
		struct rotate_helper *h = &s->rotation.helpers[i];
		int status = 0;

		if (!h->pid)
			continue;
		while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
			;
		helper_ended(s, h, status);
	}
}

/* Looks up the names of the file in a child process.  The command and the source belong to
 * the parent: this child ends with _exit, so it neither signals nor waits for them. */
static _Noreturn void helper_main(struct session *s, const char *name)
{
	struct error err;
	int rc;

	priority_set(s->before.nice_value);
	collector_forked(&s->collector);
	rc = session_finish_file(s, &err);
	if (rc < 0)
		session_notice(s, "%s: %s", name, err.msg);
	_exit(rc < 0);
}

/* Ends the file.  Without a child process, its reader must find the names. */
static int finish(struct session *s, const char *name, struct error *err)
{
	struct rotate_helper *helper = s->o->symbols ? free_helper(s) : NULL;
	char *kept = helper ? strdup(name) : NULL;
	pid_t pid = -1;
	int rc = collector_release(&s->collector, err);

	if (rc >= 0)
		rc = writer_flush(s->writer, err);
	/* Together with the child's, the files would be the larger part. */
	unwinder_release(&s->collector.unwinder);
	if (rc >= 0 && kept)
		pid = fork();
	if (!pid)
		helper_main(s, name);
	if (pid > 0) {
		*helper = (struct rotate_helper){ pid, kept };
		/* it reads their perf maps and removes them */
		s->collector.images.ended.n = 0;
		return 0;
	}
	free(kept);
	return rc < 0 ? rc : writer_finish(s->writer, err);
}

/* Drops the data that belongs to one file only. */
static void forget(struct run *r, uint64_t now)
{
	struct session *s = r->s;
	struct rotation *t = &s->rotation;
	struct collector *c = &s->collector;
	struct prof_run *row = &s->profile.runs.v[r->number];

	t->samples += c->samples;
	t->lost += c->lost;
	t->throttled += c->throttled;
	t->shortened = r->source->shortened;
	t->thinned = r->source->thinned;
	c->samples = c->lost = c->throttled = 0;
	s->profile.losses.n = s->profile.stats.n = 0;
	c->got.n = 0;
	row->start_ns = now;
	row->start_wall_ns = clock_read(CLOCK_REALTIME);
	row->end_ns = 0;
	t->begun_ns = now;
}

/* Sets the expected numbers of samples to those that arrived.  Samples of this file's
 * time may still be in transit to the next file; missing ones are reported at the end
 * of the last file. */
static void defer_missing(struct session *s)
{
	const struct collector *c = &s->collector;

	for (size_t i = 0; i < s->profile.stats.n; i++) {
		struct prof_stat *row = &s->profile.stats.v[i];

		if (!row->wanted)
			continue;
		row->wanted = row->event < c->got.n ? c->got.v[row->event] : 0;
		for (size_t k = 0; k < s->profile.losses.n; k++) {
			const struct prof_loss *l = &s->profile.losses.v[k];

			if (l->kind == PROF_LOST && l->event == row->event)
				row->wanted += l->count;
		}
	}
}

/* Keeps the counters' totals so far, which later files must not repeat. */
static int remember_counts(struct session *s, struct error *err)
{
	struct rotation *t = &s->rotation;

	for (size_t i = 0; i < s->profile.stats.n; i++) {
		const struct prof_stat *row = &s->profile.stats.v[i];
		struct prof_stat *sum;

		while (t->counted.n <= row->event)
			if (vec_push(&t->counted, (struct prof_stat){ 0 }) < 0)
				return error_nomem(err);
		sum = &t->counted.v[row->event];
		sum->value += row->value;
		sum->enabled_ns += row->enabled_ns;
		sum->running_ns += row->running_ns;
		sum->wanted += row->wanted;
	}
	return 0;
}

/* Waits until the samples so far are in this file.  They pass through the source's
 * order, which takes two rounds. */
static int settle(struct run *r, struct error *err)
{
	enum { ROUNDS = 3, ROUND_MS = 6, PACE_MS = 2 };
	int rc = 0;

	for (int i = 0; i < ROUNDS && rc >= 0; i++) {
		if (r->source->ops->pace)
			r->source->ops->pace(r->source, PACE_MS);
		poll(NULL, 0, ROUND_MS);
		rc = run_drain(r, false, err);
	}
	return rc;
}

static int note_full(struct session *s, struct error *err)
{
	uint64_t bytes = s->rotation.full_bytes;

	s->rotation.full_bytes = 0;
	return bytes && profile_set_number(&s->profile, PROF_NONE, PROF_ENV_FULL,
					   bytes) < 0 ? error_nomem(err) : 0;
}

int rotate_now(struct run *r, struct error *err)
{
	struct session *s = r->s;
	uint64_t now = clock_now();
	char *name = NULL;
	int rc = s->failure.code ? 0 : settle(r, err);

	if (s->failure.code) {
		*err = s->failure;
		return -err->code;
	}
	/* Settling may write tables, but a row of counts is written only once. */
	if (rc >= 0)
		rc = run_counts(r, true, err);
	s->profile.runs.v[r->number].end_ns = now;
	defer_missing(s);
	if (rc >= 0)
		rc = remember_counts(s, err);
	if (rc >= 0)
		rc = run_note_load(r, err);
	if (rc >= 0)
		rc = note_full(s, err);
	if (rc >= 0)
		rc = outfile_check(&s->out, err);
	if (rc >= 0)
		rc = rename_by_time(s->o->output, &name, err);
	if (!s->rotation.kallsyms && r->source->tells_code)
		s->rotation.kallsyms = kallsyms_keep();
	if (rc >= 0)
		rc = finish(s, name, err);
	if (rc < 0) {
		free(name);
		return rc;
	}
	/* From here on the file is the helper's. */
	writer_close(s->writer);
	s->writer = s->collector.writer = NULL;
	outfile_drop(&s->out);
	session_notice(s, "switched to a new file: %s is finished", name);
	rc = keep_name(s, name, err);
	forget(r, now);
	if (rc >= 0)
		rc = collector_next_file(&s->collector, err);
	if (s->o->calm)
		pages_trim();	/* the next file's tables grow slowly */
	if (rc >= 0)
		rc = outfile_open(&s->out, s->o->output, true, err);
	if (rc >= 0)
		rc = session_prepare_file(s, err);
	return rc < 0 ? rc : session_begin_file(s, err);
}

int rotate_end(struct session *s, struct error *err)
{
	bool held = s->o->hold && s->collector.from_ns > clock_now();
	char *name;
	int rc = 0;

	if (held) {
		unlink(s->o->output);	/* it never took over */
	} else {
		rc = rename_by_time(s->o->output, &name, err);
		if (rc >= 0)
			rc = keep_name(s, name, err);
	}
	wait_for_helpers(s);
	if (rc >= 0 && s->rotation.unfinished.code) {
		*err = s->rotation.unfinished;
		rc = -err->code;
	}
	return rc;
}

void rotate_fini(struct session *s)
{
	struct rotation *t = &s->rotation;

	/* After an error they are still at work. */
	wait_for_helpers(s);
	for (size_t i = 0; i < t->names.n; i++)
		free(t->names.v[i]);
	vec_fini(&t->names);
	vec_fini(&t->counted);
	if (t->kallsyms > 0)
		close(t->kallsyms);
	t->kallsyms = 0;
}
