// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes recordings for a check.  Both commands run in alternating blocks of two runs
 * (A B, B A, A B…), so that a machine that becomes slower meanwhile affects both.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/check.h"
#include "cmd/open.h"
#include "record/record.h"

enum { RUNS_MAX = 1000 };

/* About a second of work that every machine can do. */
static const char shell_loop[] =
	"i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done";

struct maker {
	struct cmd_messages messages;	/* quiet once they have been shown */
	const struct check_opts *o;
	struct check_recordings *out;
	struct event_list events;
	struct buf dirs;
	const char *command[2];
	size_t runs;		/* most runs of each side */
	check_enough *enough;
	void *ctx;
	int saved_out;
	uint64_t started_ns;
};

/* Returns the time since the first run began, in seconds. */
static double spent(const struct maker *m)
{
	return (double)(clock_now() - m->started_ns) / 1e9;
}

static void show_progress(struct maker *m, size_t done, size_t all,
			  enum check_side side)
{
	char text[128], left[48] = "";

	if (done)
		snprintf(left, sizeof(left), ", %.0f s left",
			 spent(m) / (double)done * (double)(all - done));
	snprintf(text, sizeof(text), "run %zu of %zu (%s)%s", done + 1, all,
		 side == CHECK_BASE ? "baseline" : "new", left);
	cmd_show_step(m->messages.io, text);
}

/* Discards the output of the commands, which is not the check's. */
static int silence(struct maker *m, struct error *err)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(m->messages.io->out);
	m->saved_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || m->saved_out < 0 || dup2(null, STDOUT_FILENO) < 0) {
		int e = errno;

		if (null >= 0)
			close(null);
		return error_errno(err, e, "cannot discard the output of the "
				   "commands");
	}
	close(null);
	return 0;
}

static void speak(struct maker *m)
{
	if (m->saved_out < 0)
		return;
	dup2(m->saved_out, STDOUT_FILENO);
	close(m->saved_out);
	m->saved_out = -1;
}

static int bad_status(const char *command, int status, struct error *err)
{
	if (WIFSIGNALED(status))
		return error_set(err, ERR_USAGE, "'%s' was ended by signal %d",
				 command, WTERMSIG(status));
	return error_set(err, ERR_USAGE, "'%s' failed with status %d: only "
			 "successful runs can be compared", command,
			 WEXITSTATUS(status));
}

/* Decides about a command that failed.  A new side that fails is compared, because it
 * may be the change that broke it, unless there is nothing to compare. */
static int judge_status(struct maker *m, enum check_side side,
			const struct record_result *result, struct error *err)
{
	const char *command = m->command[side];
	struct error why;

	if (m->o->limits.any_outcome && result->samples)
		return 0;
	if (side == CHECK_BASE || m->o->calibrate ||
	    (!m->command[CHECK_BASE] && !m->o->history))
		return bad_status(command, result->wait_status, err);
	if (result->samples)
		return 0;
	bad_status(command, result->wait_status, &why);
	m->out->broken = strdup(why.msg);
	return m->out->broken ? 0 : error_nomem(err);
}

static int record_one(struct maker *m, enum check_side side,
		      const char *path, struct error *err)
{
	char sh[] = "/bin/sh", c[] = "-c";
	char *argv[] = { sh, c, strdup(m->command[side]), NULL };
	struct record_result result;
	struct record_options ro = {
		.output = path, .command = argv, .inherit = true,
		.symbols = true, .events = &m->events,
		.freq = m->o->freq, .repeat = 1, .callchain = m->o->graph,
		.user_only = m->o->user, .debug_dirs = buf_cstr(&m->dirs),
		.version = PACKAGE_VERSION, .arguments = "tally check",
		.notice = cmd_message, .ctx = &m->messages,
	};
	int rc;

	if (!argv[2])
		return error_nomem(err);
	rc = record(&ro, &result, err);
	if (!rc && result.stop_signal)
		rc = error_set(err, ERR_STOPPED, "stopped by signal %d",
			       result.stop_signal);
	if (!rc && result.wait_status)
		rc = judge_status(m, side, &result, err);
	m->messages.quiet = true;
	free(argv[2]);
	return rc;
}

static int add_path(struct maker *m, enum check_side side, size_t block,
		    const char **out, struct error *err)
{
	struct opt_strs *l = &m->out->files[side];
	char *path;

	if (asprintf(&path, "%s/%s-%02zu.tally", m->out->dir,
		     side == CHECK_BASE ? "baseline" : "new", block + 1) < 0)
		return error_nomem(err);
	l->v[l->n++] = path;
	*out = path;
	return 0;
}

/* Returns whether the next block would end after the time of --budget.  Three blocks
 * are always made, because fewer show no noise. */
static bool is_late(const struct maker *m, size_t blocks)
{
	double so_far = spent(m);

	return m->o->budget > 0 && blocks >= 3 &&
	       so_far + so_far / (double)blocks > m->o->budget;
}

static int record_blocks(struct maker *m, struct error *err)
{
	size_t blocks = m->runs;
	int rc = 0;

	m->started_ns = clock_now();
	for (size_t i = 0; !rc && i < 2 * blocks; i++) {
		/* order: A B, B A, A B… */
		bool second = (i + i / 2) % 2;
		enum check_side side = second ? CHECK_NEW : CHECK_BASE;
		const char *path = NULL;

		if (!m->command[side])
			continue;
		show_progress(m, i, 2 * blocks, side);
		rc = add_path(m, side, i / 2, &path, err) ?:
		     record_one(m, side, path, err);
		if (m->out->broken)
			break;
		if (rc || !(i % 2) || i + 1 == 2 * blocks)
			continue;
		if (m->enough) {
			/* it may use the terminal */
			speak(m);
			rc = m->enough(m->ctx, i / 2 + 1, err) ?: silence(m, err);
		}
		if (!rc && is_late(m, i / 2 + 1)) {
			m->out->out_of_time = true;
			break;
		}
	}
	cmd_show_step(m->messages.io, NULL);
	return rc < 0 ? rc : 0;
}

static int make_dir(struct maker *m, struct error *err)
{
	const char *tmp = getenv("TMPDIR");
	struct check_recordings *r = m->out;

	if (m->o->keep) {
		r->keep = true;
		r->dir = strdup(m->o->keep);
		if (r->dir && mkdir(r->dir, 0777) < 0 && errno != EEXIST)
			return error_errno(err, errno, "%s: cannot create",
					   r->dir);
		return r->dir ? 0 : error_nomem(err);
	}
	if (asprintf(&r->dir, "%s/tally-check.XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") < 0) {
		r->dir = NULL;
		return error_nomem(err);
	}
	if (!mkdtemp(r->dir)) {
		int e = errno;

		free(r->dir);
		r->dir = NULL;
		return error_errno(err, e, "cannot create a directory for the "
				   "recordings (TMPDIR)");
	}
	return 0;
}

static int prepare(struct maker *m, struct error *err)
{
	const struct check_opts *o = m->o;
	int rc = 0;

	if (!m->runs || m->runs > RUNS_MAX)
		return error_set(err, ERR_USAGE, "--runs must be 1 to %d",
				 RUNS_MAX);
	if (!o->freq)
		return error_set(err, ERR_USAGE, "-F requires a rate above 0");
	for (int s = 0; s < 2; s++) {
		m->out->files[s].v = calloc(m->runs, sizeof(char *));
		if (!m->out->files[s].v)
			return error_nomem(err);
	}
	m->command[CHECK_NEW] = o->run ? o->run : shell_loop;
	m->command[CHECK_BASE] = o->calibrate ? m->command[CHECK_NEW]
					      : o->against;
	if (o->events.n)
		rc = events_parse(o->events.v[0], "/sys", &m->events, err);
	if (rc >= 0)
		rc = cmd_debug_dirs(&o->reading.debug_dirs, &m->dirs, err);
	if (rc >= 0)
		rc = make_dir(m, err);
	return rc < 0 ? rc : 0;
}

int check_record(struct cmd_io *io, const struct check_opts *o,
		 size_t runs, struct check_recordings *out, check_enough *enough,
		 void *ctx, struct error *err)
{
	struct maker m = { .messages = { .io = io }, .o = o, .out = out, .runs = runs,
			   .enough = enough, .ctx = ctx, .saved_out = -1 };
	int rc = prepare(&m, err) ?: silence(&m, err) ?: record_blocks(&m, err);

	speak(&m);
	event_list_fini(&m.events);
	buf_fini(&m.dirs);
	return rc;
}

void check_recordings_fini(struct check_recordings *r)
{
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; i < r->files[s].n; i++) {
			if (!r->keep)
				unlink(r->files[s].v[i]);
			free((char *)r->files[s].v[i]);
		}
		free(r->files[s].v);
	}
	if (r->dir && !r->keep)
		rmdir(r->dir);
	free(r->dir);
	free(r->broken);
	*r = (struct check_recordings){ .dir = NULL };
}
