// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests and stores names after a report: see late_names.h. */
#include "cmd/late_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/outfile.h"
#include "base/search.h"
#include "base/text.h"
#include "cmd/fetch_debug.h"
#include "cmd/open.h"
#include "symbolize/demangle/demangle.h"

/* How long the process may take to end its requests and remove unfinished files. */
enum { END_MS = 2000, WAIT_MS = 100, DROP_NS = 100000000 };

/* --- Which recordings are the user's own */

/* Searches the values that the recording and its runs have for a key.  Returns the first
 * one that is neither `one` nor `two`, or NULL; sets *known if there is any value. */
static const char *other_value(const struct profile *p, const char *key,
			       const char *one, const char *two, bool *known)
{
	uint32_t id = strtab_find(&p->str, key);

	*known = false;
	for (size_t i = 0; id != UINT32_MAX && i < p->envs.n; i++) {
		const char *value = profile_cstr(p, p->envs.v[i].value);

		if (p->envs.v[i].key != id)
			continue;
		*known = true;
		if (strcmp(value, one) != 0 && strcmp(value, two) != 0)
			return value;
	}
	return NULL;
}

static bool refuse(const char *what, const char *value, struct buf *why)
{
	struct buf safe = { 0 };

	text_safe(&safe, value);
	buf_str(why, what);
	buf_str(why, buf_cstr(&safe));
	buf_str(why, ", and servers would learn what it contains: "
		"--trust-recording allows it");
	buf_fini(&safe);
	return false;
}

/* As elsewhere, root's recordings count as the user's own. */
static bool is_own(const struct profile *p, struct buf *why)
{
	bool host_known, user_known;
	const char *host, *user;
	struct utsname here;
	char uid[16];

	snprintf(uid, sizeof(uid), "%u", (unsigned int)geteuid());
	if (uname(&here))
		here.nodename[0] = 0;
	host = other_value(p, "hostname", here.nodename, here.nodename,
			   &host_known);
	user = other_value(p, "uid", uid, "0", &user_known);
	if (p->foreign)
		return refuse("the recording belongs to another user", "", why);
	if (!host_known || !user_known)
		return refuse("it is not known who made the recording", "", why);
	if (host)
		return refuse("the recording was made on another machine, ", host,
			      why);
	if (user)
		return refuse("the recording was made by another user, number ",
			      user, why);
	return true;
}

/* Returns whether the file can be replaced, without a change to it. */
static bool can_store(const char *path, struct buf *why)
{
	struct error err = { 0 };
	struct outfile out;
	struct stat st;
	int rc;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !reader_is_recording(path)) {
		buf_str(why, "names are stored in tally's own recordings only: "
			"use tally import first");
		return false;
	}
	rc = outfile_open(&out, path, true, &err);
	outfile_drop(&out);
	if (rc < 0) {
		buf_str(why, "names could not be stored: ");
		text_safe(why, err.msg);
	}
	return rc >= 0;
}

bool cmd_late_allowed(const char *path, struct reader *r, bool trusted,
		      struct buf *why)
{
	if (!debuginfod_has_servers()) {
		buf_str(why, "no server is set up: DEBUGINFOD_URLS="
			"https://debuginfod.elfutils.org tally report "
			"--debuginfod");
		return false;
	}
	return (trusted || is_own(reader_profile(r), why)) &&
	       can_store(path, why);
}

/* --- The process that requests files, and its messages */

enum message_kind { MESSAGE_STEP, MESSAGE_RESULT, MESSAGE_FAILED };

struct message {
	uint32_t kind;
	struct fetch_step step;
	struct fetch_result result;
	struct error failed;
	char why[256];
};

struct worker {
	const struct late_names *l;
	int fd;
	uint64_t sent_ns;	/* time of the last step */
	bool alone;		/* the command is gone */
};

static void send_step(void *ctx, const struct fetch_step *s)
{
	struct worker *w = ctx;
	struct message m = { .kind = MESSAGE_STEP, .step = *s };
	uint64_t now = clock_now();

	if (!s->done && now - w->sent_ns < DROP_NS)
		return;
	w->sent_ns = now;
	m.step.why = NULL;
	snprintf(m.why, sizeof(m.why), "%s", s->why);
	w->alone |= !side_send(w->fd, &m, sizeof(m), s->done ? s->program : -1,
			       !s->done);
	if (s->done && s->program >= 0)
		close(s->program);
}

static bool is_alone(void *ctx)
{
	return ((const struct worker *)ctx)->alone;
}

static void request(void *ctx, int fd)
{
	const struct late_names *l = ctx;
	struct worker w = { .l = l, .fd = fd };
	struct fetch_options o = *l->limits;
	struct message m = { .kind = MESSAGE_RESULT };
	struct buf dirs = { 0 };
	int rc = cmd_debug_dirs(l->debug_dirs, &dirs, &m.failed);

	o.debug_dirs = buf_cstr(&dirs);
	o.step = send_step;
	o.stopped = is_alone;
	o.ctx = &w;
	if (!rc)
		rc = cmd_fetch_debug(l->r, l->path, &o, &m.result, &m.failed);
	if (rc < 0)
		m.kind = MESSAGE_FAILED;
	side_send(fd, &m, sizeof(m), -1, false);
	buf_fini(&dirs);
}

void cmd_late_announce(struct cmd_io *io)
{
	struct debuginfod d = { .what = "debug files" };

	cmd_debuginfod(io, &d);
	debuginfod_notify(&d);
}

int cmd_late_start(struct late_names *l, struct error *err)
{
	size_t n = reader_profile(l->r)->images.n;

	l->fetcher = (struct side){ .fd = -1 };
	l->files = malloc((n + 1) * sizeof(*l->files));
	if (!l->files)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		l->files[i] = -1;
	return side_start(&l->fetcher, request, l, err);
}

/* Keeps a program that was fetched. */
static void keep_file(struct late_names *l, uint32_t image, int fd)
{
	if (image < reader_profile(l->r)->images.n && l->files[image] < 0)
		l->files[image] = fd;
	else if (fd >= 0)
		close(fd);
}

static enum late_event take_message(struct late_names *l, struct message *m,
				    int fd)
{
	if (m->kind != MESSAGE_STEP) {
		l->ended = true;
		l->result = m->result;
		l->failed = m->failed;
		return LATE_END;
	}
	l->now = m->step;
	memcpy(l->why, m->why, sizeof(l->why));
	l->now.why = l->why;
	keep_file(l, l->now.image, fd);
	if (!l->now.done)
		return LATE_STEP;
	l->here += l->now.got > 0;
	l->absent += !l->now.got && l->now.code == ERR_NOTFOUND;
	return LATE_IMAGE;
}

enum late_event cmd_late_take(struct late_names *l, int ms)
{
	struct message m;
	int fd, n, status;

	if (l->ended)
		return LATE_END;
	n = side_take(&l->fetcher, &m, sizeof(m), &fd, ms);
	if (!n)
		return LATE_NOTHING;
	if (n == (int)sizeof(m))
		return take_message(l, &m, fd);
	/* the process ended without saying so: it failed */
	status = side_end(&l->fetcher, END_MS);
	l->ended = true;
	error_set(&l->failed, ERR_IO, "the process that asks debuginfod has died "
		  "(wait status %d)", status);
	return LATE_END;
}

void cmd_late_stop(struct late_names *l)
{
	uint64_t end = clock_now() + END_MS * 1000000ull;

	side_ask_end(&l->fetcher);
	while (l->files && !l->ended && clock_now() < end)
		cmd_late_take(l, WAIT_MS);
	if (!l->ended)
		snprintf(l->result.why, sizeof(l->result.why), "interrupted");
	l->ended = true;
	side_end(&l->fetcher, 0);
}

void cmd_late_fini(struct late_names *l)
{
	if (!l->files)
		return;
	cmd_late_stop(l);
	for (size_t i = 0; i < reader_profile(l->r)->images.n; i++)
		if (l->files[i] >= 0)
			close(l->files[i]);
	free(l->files);
	l->files = NULL;
}

void cmd_late_summary(const struct late_names *l, struct buf *out)
{
	if (*l->failed.msg) {
		buf_str(out, "debuginfod: ");
		text_safe(out, l->failed.msg);
		buf_str(out, "\n");
	}
	if (l->absent)
		buf_printf(out, "debuginfod: no server has files for %zu image%s\n",
			   l->absent, plural(l->absent, "s"));
	if (!*l->failed.msg)
		cmd_fetch_show_result(&l->result, out);
}

/* --- Which functions got names */

enum { SHOWN = 4 };

static uint32_t func_at(const struct profile *p, uint32_t loc)
{
	uint32_t frame = profile_loc_frame(p, loc);
	uint32_t func = frame < p->frames.n ? p->frames.v[frame].func : PROF_NONE;

	return func < p->funcs.n ? func : PROF_NONE;
}

static uint64_t name_hash(const struct profile *p, uint32_t func)
{
	const char *name = func == PROF_NONE
			   ? "" : profile_cstr(p, p->funcs.v[func].name);

	return *name ? hash_bytes(name, strlen(name)) | 1 : 0;
}

static size_t count_details(const struct profile *p)
{
	return p->frames.n + p->lines.n;
}

int old_names_take(struct old_names *o, const struct profile *p)
{
	*o = (struct old_names){ .n = p->locs.n, .details = count_details(p) };
	o->of = malloc((o->n + 1) * sizeof(*o->of));
	if (!o->of)
		return -ERR_NOMEM;
	for (size_t i = 0; i < o->n; i++)
		o->of[i] = name_hash(p, func_at(p, (uint32_t)i));
	return 0;
}

void old_names_fini(struct old_names *o)
{
	free(o->of);
	*o = (struct old_names){ 0 };
}

struct named {
	uint32_t func;
	uint64_t samples;
};

static int by_samples(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return descending(a->samples, b->samples) ?: ascending(a->func, b->func);
}

/* Lists functions that are new at some address.  Returns their number. */
static size_t list(const struct old_names *o, const struct profile *p,
		   const uint64_t *self, struct named *v)
{
	size_t n = 0;

	for (size_t i = 0; i < p->funcs.n; i++)
		v[i] = (struct named){ .func = PROF_NONE };
	for (size_t i = 0; i < p->locs.n && i < o->n; i++) {
		uint32_t func = func_at(p, (uint32_t)i);
		uint64_t name = name_hash(p, func);

		if (!name || name == o->of[i])
			continue;
		v[func].func = func;
		v[func].samples += self ? self[i] : 0;
	}
	for (size_t i = 0; i < p->funcs.n; i++)
		if (v[i].func != PROF_NONE)
			v[n++] = v[i];
	sort_rows(v, n, by_samples);
	return n;
}

static void put_name(const struct profile *p, uint32_t func, struct buf *out)
{
	struct buf whole = { 0 }, brief = { 0 };

	demangle(profile_cstr(p, p->funcs.v[func].name), &whole);
	demangle_short(buf_cstr(&whole), &brief);
	text_safe(out, buf_cstr(&brief));
	buf_fini(&whole);
	buf_fini(&brief);
}

bool new_names_show(const struct old_names *o, const struct profile *p,
		    const uint64_t *self, struct buf *out)
{
	struct named *v = malloc((p->funcs.n + 1) * sizeof(*v));
	size_t n = v ? list(o, p, self, v) : 0;

	if (!n) {
		free(v);
		if (count_details(p) == o->details)
			return false;
		buf_str(out, "lines and inlined functions are new, names are not");
		return true;
	}
	if (n == 1)
		buf_str(out, "the name of 1 function is new: ");
	else
		buf_printf(out, "the names of %zu functions are new: ", n);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		buf_str(out, i ? ", " : "");
		put_name(p, v[i].func, out);
	}
	buf_str(out, n > SHOWN ? ", …" : "");
	free(v);
	return true;
}

/* --- Storing */

/* A new recording with the same name must not get the old one's symbols. */
static int check_unchanged(const char *path, const struct profile *p,
			   struct error *err)
{
	struct stat st;

	if (!stat(path, &st) && (uint64_t)clock_ns(st.st_mtim) == p->written_ns)
		return 0;
	return error_set(err, ERR_STOPPED, "%s was replaced meanwhile: the names "
			 "are not stored", path);
}

int cmd_late_store(const struct late_names *l, struct reader *r, struct error *err)
{
	struct store_options o = { .debug_dirs = l->debug_dirs,
				   .files = l->files };
	int rc = check_unchanged(l->path, reader_profile(r), err);

	return rc ? rc : cmd_store_symbols(l->io, &o, l->path, r, err);
}

/* --- In the foreground */

static void show_step(const struct late_names *l)
{
	struct buf text = { 0 };

	cmd_fetch_show_step(reader_profile(l->r), &l->now, &text);
	buf_str(&text, " … Ctrl-C stops");
	cmd_show_step(l->io, buf_cstr(&text));
	buf_fini(&text);
}

static void show_image(const struct late_names *l)
{
	struct buf text = { 0 };

	if (!l->now.got && l->now.code == ERR_NOTFOUND)
		return;		/* counted in the summary */
	cmd_fetch_show_image(reader_profile(l->r), &l->now, &text);
	cmd_show_step(l->io, NULL);
	cmd_notice(l->io, "debuginfod: %s", buf_cstr(&text));
	buf_fini(&text);
}

/* Takes messages until the requests end, or Ctrl-C ends them. */
static void follow(struct late_names *l)
{
	enum late_event e = LATE_NOTHING;
	bool announced = false;

	while (e != LATE_END && !cmd_interrupted()) {
		e = cmd_late_take(l, WAIT_MS);
		/* a step is a request, of a server or of the cache */
		if (!announced && e == LATE_STEP) {
			cmd_late_announce(l->io);
			announced = true;
		}
		if (e == LATE_STEP)
			show_step(l);
		else if (e == LATE_IMAGE)
			show_image(l);
	}
	cmd_show_step(l->io, NULL);
	cmd_late_stop(l);
}

/* Stores the names and says which are new. */
static int store(const struct late_names *l, bool *news, struct error *err)
{
	struct old_names old = { 0 };
	struct buf text = { 0 };
	uint64_t *self = cmd_count_self(l->r);
	int rc = self && !old_names_take(&old, reader_profile(l->r))
		 ? cmd_late_store(l, l->r, err) : error_nomem(err);

	if (!rc)
		*news = new_names_show(&old, reader_profile(l->r), self, &text);
	if (*news)
		cmd_notice(l->io, "stored in the recording: %s", buf_cstr(&text));
	else if (!rc)
		cmd_notice(l->io, "no names are new");
	buf_fini(&text);
	old_names_fini(&old);
	free(self);
	return rc;
}

int cmd_late_names(struct late_names *l, bool *news, struct error *err)
{
	struct buf text = { 0 };
	sigset_t before;
	int rc = cmd_late_start(l, err);

	*news = false;
	if (rc < 0)
		return rc;
	cmd_interrupts_block(&before);
	follow(l);
	cmd_interrupts_end(&before);
	cmd_late_summary(l, &text);
	cmd_notice_lines(l->io, buf_cstr(&text));
	buf_fini(&text);
	return l->here ? store(l, news, err) : 0;
}
