// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads finished files and pushes their content: see keeper.h. */
#include "continuous/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/outfile.h"
#include "base/pages.h"
#include "base/strtab.h"
#include "continuous/files.h"
#include "continuous/status.h"
#include "profile/reader.h"
#include "profile/symbolize_profile.h"

enum {
	/* Time between two looks at the folder; shorter while a file waits for its names, and
	 * where files end soon. */
	ROUND_MS = 2000,
	PUSH_ROUND_MS = 5000,
	CALM_ROUND_MS = 10000,
	/* An incomplete file waits this long for its symbols.  They never arrive
	 * if the process that adds them died. */
	NAMES_MAX_S = 120,
	PUSHED_MAX = 1 << 20,	/* most bytes of the list of names */
};

struct keeper {
	const struct continuous_options *o;
	const struct symbol_cache *symbols;
	int dir;
	struct files files;
	struct push *push;
	struct keeper_report report;
	struct strtab pushed;	/* names of files pushed by this and earlier
				 * processes */
	uint64_t pushed_before;	/* requests sent before the current round */
	bool ending;
};

static void load_pushed(struct keeper *k)
{
	int fd = openat(k->dir, "pushed", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct buf text = { 0 };
	struct error ignored;
	char *line, *rest;

	if (fd < 0)
		return;
	if (!io_read_fd(fd, "pushed", PUSHED_MAX, &text, &ignored)) {
		buf_cstr(&text);
		rest = (char *)text.p;
		while (rest && (line = strsep(&rest, "\n")))
			if (is_finished_name(line))
				strtab_add(&k->pushed, line);
	}
	close(fd);
	buf_fini(&text);
}

/* Writes the names of pushed files that still exist. */
static void store_pushed(struct keeper *k)
{
	struct buf text = { 0 };
	struct error ignored;

	for (size_t i = 0; i < k->files.v.n; i++)
		if (k->files.v.v[i].done)
			buf_printf(&text, "%s\n", k->files.v.v[i].name);
	/* On the disk before its requests are sent: otherwise they would be sent
	 * again after a crash. */
	if (!text.failed)
		outfile_replace(k->dir, "pushed.new", "pushed", 0600, k->push != NULL,
				&(struct iovec){ text.p, text.n }, 1, &ignored);
	buf_fini(&text);
}

static void notice(const struct keeper *k, const char *what, const char *why)
{
	char line[1200];

	snprintf(line, sizeof(line), "%s: %s", what, why);
	k->o->notice(k->o->ctx, line);
}

static void count_file(struct keeper *k, struct reader *r)
{
	const struct profile *p = reader_profile(r);

	k->report.files++;
	k->report.samples += reader_sample_count(r);
	k->report.full += profile_env(p, PROF_NONE, PROF_ENV_FULL) != NULL;
	for (size_t i = 0; i < p->losses.n; i++)
		if (p->losses.v[i].kind == PROF_LOST)
			k->report.lost += p->losses.v[i].count;
}

/* Adds the requests of a file to the spool.  A file that cannot be converted is
 * no reason to stop. */
static int push_file(struct keeper *k, struct reader *r, const char *name,
		     struct error *err)
{
	static const struct select_spec all;
	struct symbolize_options fill = {
		.debug_dirs = k->o->record.debug_dirs,
		.identified_later = k->o->record.identified_later,
		.cache = k->symbols,
		.one_thread = true,
	};
	struct profile *p = reader_profile(r);
	int rc = 0;

	if (k->o->record.symbols && !p->symbolized && p->locs.n)
		rc = profile_symbolize(p, &fill, err);
	push_hold(k->push, name);
	if (!rc)
		rc = push_recording(k->push, r, &all, err);
	if (!rc)
		k->report.pushed_files++;
	if (rc != -ERR_FORMAT && rc != -ERR_USAGE)
		return rc;
	k->report.unreadable++;
	notice(k, name, err->msg);
	return 0;
}

/* Processes a file.  Returns 1 if it is not complete yet, 0 if done (even if it
 * could not be read), and a negative error to stop. */
static int take_file(struct keeper *k, struct finished *f, struct error *err)
{
	int fd = openat(k->dir, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct reader *r = NULL;
	int rc;

	if (fd < 0)
		return 0;	/* already removed because of its age */
	rc = reader_open_fd(fd, f->name, 0, &r, err);
	close(fd);
	if (rc) {
		k->report.unreadable++;
		notice(k, f->name, err->msg);
		return rc == -ERR_NOMEM ? rc : 0;
	}
	if (reader_damage(r)->incomplete && !k->ending &&
	    finished_quiet_ns(f) < NAMES_MAX_S * SECOND) {
		reader_close(r);
		return 1;
	}
	if (k->push)
		rc = push_file(k, r, f->name, err);
	if (!rc)
		count_file(k, r);
	reader_close(r);
	pages_trim();
	return rc;
}

/* Notes that a file is done, and sends its requests. */
static int finish_file(struct keeper *k, struct finished *f, struct error *err)
{
	f->done = true;
	store_pushed(k);
	return k->push ? push_release(k->push, err) : 0;
}

static void send_report(struct keeper *k, int fd)
{
	if (k->push) {
		k->report.push = *push_get_counts(k->push);
		if (k->report.push.sent > k->pushed_before)
			k->report.last_push_s = (uint64_t)time(NULL);
		k->pushed_before = k->report.push.sent;
	}
	/* The report is smaller than PIPE_BUF, so it is written completely or not
	 * at all. */
	if (write(fd, &k->report, sizeof(k->report)) < 0)
		return;
}

static int round_of_files(struct keeper *k, struct error *err)
{
	int rc = files_update(&k->files, k->dir, err);

	for (size_t i = 0; rc >= 0 && i < k->files.v.n; i++) {
		struct finished *f = &k->files.v.v[i];

		if (f->done)
			continue;
		if (strtab_find(&k->pushed, f->name) != UINT32_MAX) {
			f->done = true;
			continue;
		}
		rc = take_file(k, f, err) ?: finish_file(k, f, err);
	}
	return rc < 0 ? rc : 0;
}

static uint64_t round_ms(const struct keeper *k)
{
	uint64_t file_ms = k->o->every_ns / 1000000;

	for (size_t i = 0; i < k->files.v.n; i++)
		if (!k->files.v.v[i].done)
			return ROUND_MS;
	if (k->o->bytes || (file_ms && file_ms < 10 * CALM_ROUND_MS))
		return ROUND_MS;
	return k->push ? PUSH_ROUND_MS : CALM_ROUND_MS;
}

/* Returns the time until the next task, milliseconds. */
static int pause_ms(const struct keeper *k, uint64_t next_ns)
{
	uint64_t now = clock_now(), ms = round_ms(k);

	if (next_ns <= now)
		return 0;
	return (int)(next_ns - now < ms * 1000000 ? (next_ns - now) / 1000000 + 1 : ms);
}

static int watch(struct keeper *k, int signals, int report_fd,
		 struct error *err)
{
	uint64_t next = UINT64_MAX;
	int rc = 0;

	while (!rc && !k->ending) {
		struct pollfd p[2] = { { signals, POLLIN, 0 },
				       { report_fd, 0, 0 } };
		int n = poll(p, 2, pause_ms(k, next));

		if (n > 0 && (p[0].revents || p[1].revents))
			k->ending = true;
		rc = round_of_files(k, err);
		if (!rc && k->push)
			rc = k->ending ? push_drain(k->push, err)
				       : push_step(k->push, &next, err);
		if (!rc && k->push && !k->ending)
			rc = push_debuginfo(k->push, err);
		rc = rc < 0 ? rc : 0;
		send_report(k, report_fd);
	}
	return rc;
}

/* Returns whether an earlier keeper was killed while it handled a file, which is
 * handled again.  What it left of files that are gone is sent. */
static bool is_unfinished(void *ctx, const char *source)
{
	const struct keeper *k = ctx;

	return is_finished_name(source) &&
	       strtab_find(&k->pushed, source) == UINT32_MAX &&
	       !faccessat(k->dir, source, F_OK, AT_SYMLINK_NOFOLLOW);
}

int keeper_run(const struct continuous_options *o, const struct symbol_cache *symbols,
	       int dir, int report_fd, struct error *err)
{
	struct keeper k = { .o = o, .symbols = symbols, .dir = dir };
	sigset_t set;
	int signals, rc = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		return error_errno(err, errno, "signalfd");
	if (strtab_init(&k.pushed) < 0)
		rc = error_nomem(err);
	load_pushed(&k);
	if (!rc && o->push)
		rc = push_open(o->push, &k.push, err);
	if (!rc && k.push)
		rc = push_resume(k.push, is_unfinished, &k, err);
	if (!rc) {
		send_report(&k, report_fd);
		rc = watch(&k, signals, report_fd, err);
	}
	push_close(k.push);
	files_fini(&k.files);
	strtab_fini(&k.pushed);
	close(signals);
	return rc;
}
