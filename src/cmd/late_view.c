// SPDX-License-Identifier: GPL-2.0-or-later
/* Names that come while the interactive view is shown: see late_names.h. */
#include "cmd/late_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cmd/fetch_debug.h"
#include "cmd/open.h"

enum { SHARE = 10, STORE_MS = 600000 };

static int watch(struct late_view *v, int fd, struct error *err)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(v->events, EPOLL_CTL_ADD, fd, &e) < 0
	       ? error_errno(err, errno, "epoll") : 0;
}

/* The recording as it is in the file. */
static struct reader *stored(const struct late_view *v)
{
	return v->newer ? v->newer : v->shown;
}

/* In the process that stores: sends why it failed. */
static void store(void *ctx, int fd)
{
	const struct late_view *v = ctx;
	struct error err = { 0 };

	cmd_late_store(v->late, stored(v), &err);
	side_send(fd, &err, sizeof(err), -1, false);
}

static void fail(struct late_view *v, const struct error *err,
		 struct buf *message)
{
	v->failed = *err;
	buf_reset(message);
	text_safe(message, err->msg);
}

/* Starts to store what has come, if it is time. */
static void begin_store(struct late_view *v, struct buf *message)
{
	struct error err = { 0 };
	int rc;

	if (v->storer.pid || v->failed.code || v->late->here == v->stored ||
	    (!v->late->ended && clock_now() < v->next_ns))
		return;
	v->begun_ns = clock_now();
	v->storing = v->late->here;
	rc = side_start(&v->storer, store, v, &err) ?: watch(v, v->storer.fd, &err);
	if (rc < 0)
		fail(v, &err, message);
}

/* Returns whether two recordings may differ in their symbols only. */
static bool is_same(struct reader *x, struct reader *y)
{
	const struct profile *a = reader_profile(x), *b = reader_profile(y);

	return a->images.n == b->images.n && a->locs.n == b->locs.n &&
	       a->nodes.n == b->nodes.n && a->str_base == b->str_base &&
	       reader_sample_count(x) == reader_sample_count(y);
}

/* Opens what was stored. */
static void open_newer(struct late_view *v, struct buf *message)
{
	struct error err = { 0 };
	struct reader *r = NULL;
	int rc = reader_open(v->late->path, v->max_memory, &r, &err);

	if (!rc && !is_same(r, v->late->r))
		rc = error_set(&err, ERR_STOPPED, "%s was replaced meanwhile",
			       v->late->path);
	if (rc < 0) {
		reader_close(r);
		fail(v, &err, message);
		return;
	}
	reader_profile(r)->foreign = false;
	reader_close(v->newer);
	v->newer = r;
}

/* Takes the result of storing, if it is there. */
static void end_store(struct late_view *v, struct buf *message)
{
	struct error err = { 0 };
	uint64_t now;
	int fd, n;

	if (!v->storer.pid)
		return;
	n = side_take(&v->storer, &err, sizeof(err), &fd, 0);
	if (!n)
		return;
	if (n != (int)sizeof(err))
		error_set(&err, ERR_IO, "the process that stores names has died");
	side_end(&v->storer, n > 0 ? STORE_MS : 0);
	now = clock_now();
	v->next_ns = now + SHARE * (now - v->begun_ns);
	v->stored = v->storing;
	if (err.code)
		fail(v, &err, message);
	else
		open_newer(v, message);
}

/* Appends the lines of the summary as one. */
static void put_summary(const struct late_view *v, struct buf *message)
{
	struct buf lines = { 0 };

	cmd_late_summary(v->late, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		if (lines.p[i] != '\n')
			buf_u8(message, lines.p[i]);
		else if (i + 1 < lines.n)
			buf_str(message, "; ");
	}
	buf_fini(&lines);
}

static bool start(void *ctx)
{
	struct late_view *v = ctx;
	int rc = cmd_late_start(v->late, &v->failed) ?:
		 watch(v, v->late->fetcher.fd, &v->failed);

	return !rc;
}

static bool take(void *ctx, struct buf *line, struct buf *message)
{
	struct late_view *v = ctx;
	enum late_event e = LATE_NOTHING;
	bool ended = v->late->ended;

	while (!ended && (e = cmd_late_take(v->late, 0)) != LATE_NOTHING)
		ended = e == LATE_END;
	if (e == LATE_END) {
		cmd_late_stop(v->late);
		put_summary(v, message);
	}
	end_store(v, message);
	begin_store(v, message);
	if (v->failed.code && !ended) {
		cmd_late_stop(v->late);
		ended = true;
	}
	if (!ended)
		cmd_fetch_show_step(reader_profile(v->late->r), &v->late->now,
				    line);
	else if (v->storer.pid)
		buf_str(line, "storing names");
	return !ended || v->storer.pid;
}

static bool has_newer(void *ctx)
{
	return ((const struct late_view *)ctx)->newer != NULL;
}

static struct reader *newer(void *ctx, struct buf *message)
{
	struct late_view *v = ctx;
	uint64_t *self = cmd_count_self(v->newer);

	new_names_show(&v->old, reader_profile(v->newer), self, message);
	free(self);
	return v->newer;
}

static void drop_shown(struct late_view *v)
{
	if (v->shown != v->late->r)
		reader_close(v->shown);
	old_names_fini(&v->old);
}

static void shown(void *ctx, struct reader *r)
{
	struct late_view *v = ctx;

	drop_shown(v);
	v->shown = r;
	v->newer = NULL;
	/* without memory, nothing is compared */
	if (old_names_take(&v->old, reader_profile(r)) < 0)
		v->old = (struct old_names){ 0 };
}

int late_view_init(struct late_view *v, struct error *err)
{
	v->news = (struct tui_news){ .fd = -1, .start = start, .take = take,
				     .has_newer = has_newer, .newer = newer, .shown = shown, .ctx = v };
	v->shown = v->late->r;
	v->storer = (struct side){ .fd = -1 };
	v->events = epoll_create1(EPOLL_CLOEXEC);
	if (v->events < 0)
		return error_errno(err, errno, "epoll");
	v->news.fd = v->events;
	return old_names_take(&v->old, reader_profile(v->late->r)) < 0
	       ? error_nomem(err) : 0;
}

int late_view_finish(struct late_view *v, struct error *err)
{
	struct buf message = { 0 };

	cmd_late_stop(v->late);
	if (v->storer.pid || v->late->here > v->stored)
		cmd_show_step(v->late->io, "storing names");
	while (v->storer.pid || (!v->failed.code && v->late->here > v->stored)) {
		begin_store(v, &message);
		end_store(v, &message);
		if (v->storer.pid)
			usleep(10000);
	}
	cmd_show_step(v->late->io, NULL);
	buf_fini(&message);
	if (!v->failed.code)
		return 0;
	*err = v->failed;
	return -v->failed.code;
}

void late_view_fini(struct late_view *v)
{
	side_end(&v->storer, 0);
	if (v->events >= 0)
		close(v->events);
	v->events = -1;
	drop_shown(v);
	reader_close(v->newer);
	cmd_late_fini(v->late);
}
