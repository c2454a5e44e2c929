// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests files from debuginfod servers: see debuginfod.h. */
#include "symbolize/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"

enum {
	SILENT_SECONDS = 10,	/* then a server is given up */
	CALLS = 4096,		/* of the progress callback, about one a second */
};

/* Types of elfutils/debuginfod.h, of which only these are used. */
typedef int progress_fn(void *client, long a, long b);
typedef int find_fn(void *client, const unsigned char *id, int n, char **file);
struct api {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_source)(void *client, const unsigned char *id, int n,
			   const char *path, char **file);
	find_fn *find_debug_file, *find_program;
	void (*set_progress)(void *client, progress_fn *fn);
	void (*set_data)(void *client, void *data);
};

static bool load(struct debuginfod *d, struct api *a)
{
	if (!d->lib)
		d->lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!d->lib)
		return false;
	*(void **)&a->begin = dlsym(d->lib, "debuginfod_begin");
	*(void **)&a->end = dlsym(d->lib, "debuginfod_end");
	*(void **)&a->find_source = dlsym(d->lib, "debuginfod_find_source");
	*(void **)&a->find_debug_file = dlsym(d->lib, "debuginfod_find_debuginfo");
	*(void **)&a->find_program = dlsym(d->lib, "debuginfod_find_executable");
	*(void **)&a->set_progress = dlsym(d->lib, "debuginfod_set_progressfn");
	*(void **)&a->set_data = dlsym(d->lib, "debuginfod_set_user_data");
	return a->begin && a->end && a->find_source && a->find_debug_file &&
	       a->find_program && a->set_progress && a->set_data;
}

/* A request. */
struct waiting {
	struct debuginfod *d;
	const char *path;
	uint64_t end_ns;	/* of all requests */
	uint64_t silent_ns;	/* when the server counts as silent */
	uint64_t got;		/* bytes */
	uint64_t limit;		/* bytes that this file may have */
	bool asked;		/* a server was asked: the cache did not have it */
	bool silent, late, large, stopped;
};

/* Bytes that all further files together may have. */
static uint64_t room(const struct debuginfod *d)
{
	uint64_t all = (uint64_t)d->mb << 20;

	return d->bytes < all ? all - d->bytes : 0;
}

/* Bytes that the next file may have. */
static uint64_t file_limit(const struct debuginfod *d)
{
	uint64_t one = (uint64_t)d->file_mb << 20, left = room(d);

	return left < one ? left : one;
}

static void show(const struct waiting *w, long all)
{
	struct buf text = { 0 };

	if (!w->d->progress)
		return;
	buf_str(&text, "debuginfod: ");
	text_safe(&text, w->path);
	if (w->got > 0)
		buf_printf(&text, " %llu KB",
			   (unsigned long long)(w->got + 1023) / 1024);
	if (w->got > 0 && (uint64_t)all > w->got)
		buf_printf(&text, " of %ld", (all + 1023) / 1024);
	w->d->progress(w->d->ctx, buf_cstr(&text));
	buf_fini(&text);
}

/* Takes note that `got` of `all` bytes have arrived (0: unknown).  Returns whether the
 * wait ends. */
static bool note_progress(struct waiting *w, long got, long all)
{
	struct debuginfod *d = w->d;
	uint64_t now = clock_now();

	w->asked = true;
	/* until a server sends something, `got` counts the calls */
	if (got > (all > 0 ? 0 : CALLS) && (uint64_t)got > w->got) {
		w->got = (uint64_t)got;
		w->silent_ns = now + SILENT_SECONDS * 1000000000ull;
	}
	d->now = w->got;
	show(w, all > 0 ? all : 0);
	w->silent |= now >= w->silent_ns;
	w->late |= now >= w->end_ns;
	w->large |= w->got > w->limit ||
		    (all > 0 && (uint64_t)all > w->limit);
	w->stopped |= d->stopped && d->stopped(d->ctx);
	return w->silent || w->late || w->large || w->stopped;
}

/*
 * Progress callback.  libdebuginfod calls it about once a second, and a
 * non-zero result ends the wait.  Its data is attached to the client and
 * returned by a library function.  That function is looked up again, because
 * there is no other way to reach it.
 */
static int on_progress(void *client, long got, long all)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *(*get_data)(void *) = NULL;
	struct waiting *w;

	if (!lib)
		return 1;
	*(void **)&get_data = dlsym(lib, "debuginfod_get_user_data");
	w = get_data ? get_data(client) : NULL;
	dlclose(lib);
	return !w || note_progress(w, got, all);
}

void debuginfod_fini(struct debuginfod *d)
{
	struct api a;

	if (d->client && load(d, &a))
		a.end(d->client);
	d->client = NULL;
	/* the libraries stay loaded, because curl may have started threads */
}

/* A smaller file of another image may still be within the limits. */
static int explain_large(const struct debuginfod *d, const struct waiting *w,
			 struct error *err)
{
	if (w->limit >> 20 >= d->file_mb)
		return error_set(err, ERR_FORMAT, "debuginfod: more than %u MB",
				 d->file_mb);
	return error_set(err, ERR_FORMAT, "debuginfod: more than the %.1f MB that "
			 "are left of %u MB", (double)w->limit / (1 << 20), d->mb);
}

/* Says why there is no file, and whether more requests make sense. */
static int explain(struct debuginfod *d, int rc, const struct waiting *w,
		   struct error *err)
{
	if (w->large || rc == -EFBIG)
		return explain_large(d, w, err);
	/* libdebuginfod has its own limit (DEBUGINFOD_TIMEOUT) */
	if (rc == -ETIME || rc == -ETIMEDOUT)
		snprintf(d->given_up, sizeof(d->given_up),
			 "no answer from debuginfod");
	else if (w->silent)
		snprintf(d->given_up, sizeof(d->given_up),
			 "no answer from debuginfod within %d s", SILENT_SECONDS);
	else if (w->stopped)
		snprintf(d->given_up, sizeof(d->given_up), "interrupted");
	else if (w->late)	/* ask has said so */
		return error_set(err, ERR_STOPPED, "%s", d->given_up);
	/* ENOENT is also the result of ending the wait */
	if (*d->given_up)
		return error_set(err, ERR_STOPPED, "%s", d->given_up);
	if (rc == -ENOENT)
		return error_set(err, ERR_NOTFOUND,
				 "no debuginfod server has it");
	snprintf(d->given_up, sizeof(d->given_up),
		 "debuginfod did not work before");
	return error_errno(err, -rc, "debuginfod");
}

static int find(const struct debuginfod *d, const struct api *a,
		enum debuginfod_kind kind, const struct build_id *id,
		const char *path)
{
	char *file = NULL;
	int n = (int)id->len, fd = -EINVAL;

	switch (kind) {
	case DEBUGINFOD_SOURCE:
		fd = a->find_source(d->client, id->bytes, n, path, &file);
		break;
	case DEBUGINFOD_DEBUG_FILE:
		fd = a->find_debug_file(d->client, id->bytes, n, &file);
		break;
	case DEBUGINFOD_PROGRAM:
		fd = a->find_program(d->client, id->bytes, n, &file);
		break;
	}
	free(file);
	return fd;
}

void debuginfod_cache(struct buf *out)
{
	const char *path = getenv("DEBUGINFOD_CACHE_PATH");
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (path && *path)
		buf_str(out, path);
	else if (xdg && *xdg)
		buf_printf(out, "%s/debuginfod_client", xdg);
	else if (home && *home)
		buf_printf(out, "%s/.cache/debuginfod_client", home);
}

/*
 * Removes the mark in the cache, an empty file, that no server has a file.
 * elfutils 0.188 also leaves it when a request was ended here, and would then not ask
 * again for ten minutes.  Marks of source files are left, because their names are
 * chosen by the library.
 */
static void remove_mark(enum debuginfod_kind kind, const struct build_id *id)
{
	struct buf path = { 0 };
	struct stat st;

	debuginfod_cache(&path);
	path.failed |= !path.n;
	buf_str(&path, "/");
	buf_hex(&path, id->bytes, id->len);
	buf_str(&path, kind == DEBUGINFOD_PROGRAM ? "/executable" : "/debuginfo");
	if (kind != DEBUGINFOD_SOURCE && !path.failed &&
	    !lstat(buf_cstr(&path), &st) && S_ISREG(st.st_mode) && !st.st_size)
		unlink(buf_cstr(&path));
	buf_fini(&path);
}

/* Has libdebuginfod refuse a larger file before it arrives.  The progress callback
 * alone would not, because it is not called while data comes fast. */
static void limit_size(const struct debuginfod *d, uint64_t limit)
{
	char bytes[24];

	if (d->user_limit && d->user_limit < limit)
		limit = d->user_limit;
	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)limit);
	setenv("DEBUGINFOD_MAXSIZE", bytes, 1);
}

/* Requests a file and counts the time it takes. */
static int ask(struct debuginfod *d, const struct api *a,
	       enum debuginfod_kind kind, const struct build_id *id,
	       struct waiting *w)
{
	uint64_t start = clock_now(), limit = d->seconds * 1000000000ull;
	int fd;

	w->end_ns = start + limit - (d->spent_ns < limit ? d->spent_ns : limit);
	w->silent_ns = start + SILENT_SECONDS * 1000000000ull;
	w->limit = file_limit(d);
	limit_size(d, w->limit);
	d->now = 0;
	show(w, 0);
	a->set_data(d->client, w);
	a->set_progress(d->client, on_progress);
	fd = find(d, a, kind, id, w->path);
	a->set_data(d->client, NULL);
	if (d->progress)
		d->progress(d->ctx, NULL);
	if (fd < 0 && (w->silent || w->late || w->large || w->stopped))
		remove_mark(kind, id);
	d->spent_ns += clock_now() - start;
	if (d->spent_ns >= limit || w->late)
		snprintf(d->given_up, sizeof(d->given_up), "no more is asked of "
			 "debuginfod: it took %u s", d->seconds);
	return fd;
}

bool debuginfod_has_servers(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

void debuginfod_notify(struct debuginfod *d)
{
	struct buf text = { 0 };

	if (d->notified || !d->notice || !debuginfod_has_servers())
		return;
	d->notified = true;
	buf_printf(&text, "asking debuginfod for %s: ", d->what);
	text_safe(&text, getenv("DEBUGINFOD_URLS"));
	buf_str(&text, " (DEBUGINFOD_URLS");
	if (d->off)
		buf_printf(&text, "; %s turns this off", d->off);
	buf_str(&text, ")");
	d->notice(d->ctx, buf_cstr(&text));
	buf_fini(&text);
}

/* Makes a client.  elfutils 0.192 reports no progress while a server is silent, and
 * would ask it three times for 90 s each. */
static void *make_client(struct debuginfod *d, const struct api *a)
{
	const char *most = getenv("DEBUGINFOD_MAXSIZE");
	char seconds[16];

	d->user_limit = most ? strtoull(most, NULL, 10) : 0;

	snprintf(seconds, sizeof(seconds), "%d", SILENT_SECONDS);
	setenv("DEBUGINFOD_TIMEOUT", seconds, 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
	return a->begin();
}

/* Announces the request, then loads the library and makes a client. */
static int begin(struct debuginfod *d, struct api *a, struct error *err)
{
	if (!load(d, a)) {
		snprintf(d->given_up, sizeof(d->given_up), "DEBUGINFOD_URLS is "
			 "set, but libdebuginfod is not installed");
		return error_set(err, ERR_UNSUPPORTED, "%s", d->given_up);
	}
	debuginfod_notify(d);
	if (!d->client)
		d->client = make_client(d, a);
	if (!d->client)
		return error_set(err, ERR_NOMEM, "debuginfod: out of memory");
	return 0;
}

int debuginfod_fetch(struct debuginfod *d, enum debuginfod_kind kind,
		     const struct build_id *id, const char *path,
		     struct error *err)
{
	struct waiting w = { .d = d, .path = path };
	struct stat st;
	struct api a;
	int fd, rc;

	if (!debuginfod_has_servers() || !id->len)
		return -ERR_NOTFOUND;
	if (*d->given_up)
		return error_set(err, ERR_NOTFOUND, "%s", d->given_up);
	rc = begin(d, &a, err);
	if (rc < 0)
		return rc;
	fd = ask(d, &a, kind, id, &w);
	if (fd >= 0 && w.asked && !fstat(fd, &st))
		w.got = (uint64_t)st.st_size;
	d->bytes += w.got;	/* also what came of a file in vain */
	rc = fd < 0 ? explain(d, fd, &w, err) : fd;
	if (!room(d) && !*d->given_up)
		snprintf(d->given_up, sizeof(d->given_up), "no more is asked of "
			 "debuginfod: it gave %u MB", d->mb);
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return rc;
}

int debuginfod_read_source(struct debuginfod *d, const struct build_id *id,
			   const char *path, size_t limit, struct buf *out,
			   struct error *err)
{
	size_t most;
	int fd, rc;

	if (!d || *path != '/')
		return -ERR_NOTFOUND;
	most = (size_t)d->file_mb << 20;
	fd = debuginfod_fetch(d, DEBUGINFOD_SOURCE, id, path, err);
	if (fd < 0)
		return fd;
	rc = io_read_fd(fd, path, limit < most ? limit : most, out, err);
	close(fd);
	return rc;
}
