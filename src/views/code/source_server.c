// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source files from debuginfod servers. */
#include "views/code/source_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"

enum {
	WAIT_SECONDS = 10,	/* time limit of one file */
	FILE_NAME_MAX = 16 << 20,	/* bytes of one file */
};

/* Types of elfutils/debuginfod.h, of which only these are used. */
typedef int progress_fn(void *client, long a, long b);
struct api {
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find_source)(void *client, const unsigned char *id, int n,
			   const char *path, char **file);
	void (*set_progress)(void *client, progress_fn *fn);
	void (*set_data)(void *client, void *data);
};

static bool load(struct source_server *s, struct api *a)
{
	if (!s->lib)
		s->lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!s->lib)
		return false;
	*(void **)&a->begin = dlsym(s->lib, "debuginfod_begin");
	*(void **)&a->end = dlsym(s->lib, "debuginfod_end");
	*(void **)&a->find_source = dlsym(s->lib, "debuginfod_find_source");
	*(void **)&a->set_progress = dlsym(s->lib, "debuginfod_set_progressfn");
	*(void **)&a->set_data = dlsym(s->lib, "debuginfod_set_user_data");
	return a->begin && a->end && a->find_source && a->set_progress &&
	       a->set_data;
}

struct waiting {
	struct source_server *s;
	const char *path;
	uint64_t end_ns;
	bool over, large;
};

static void show(const struct waiting *w, long bytes)
{
	struct buf text = { 0 };

	if (!w->s->progress)
		return;
	buf_str(&text, "debuginfod: ");
	text_safe(&text, w->path);
	if (bytes > 0)
		buf_printf(&text, " %ld KB", (bytes + 1023) / 1024);
	w->s->progress(w->s->ctx, buf_cstr(&text));
	buf_fini(&text);
}

/*
 * Progress callback.  libdebuginfod calls it about once a second, and a
 * non-zero result ends the wait.  Its data is attached to the client and
 * returned by a library function.  That function is looked up again, because
 * there is no other way to reach it.  `got` of `all` bytes of a transfer have
 * arrived.
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
	if (!w)
		return 1;
	show(w, got);
	w->over |= clock_now() >= w->end_ns;
	w->large |= got > FILE_NAME_MAX || all > FILE_NAME_MAX;
	return w->over || w->large;
}

void source_server_fini(struct source_server *s)
{
	struct api a;

	if (s->client && load(s, &a))
		a.end(s->client);
	s->client = NULL;
	/* the libraries stay loaded, because curl may have started threads */
}

static int explain(struct source_server *s, int rc, const struct waiting *w,
		   struct error *err)
{
	/* ENOENT is also the result of ending the wait */
	if (rc == -ENOENT && !w->over && !w->large)
		return error_set(err, ERR_NOTFOUND,
				 "no debuginfod server has it");
	if (w->large)
		return error_set(err, ERR_FORMAT, "debuginfod: more than %d MB",
				 FILE_NAME_MAX >> 20);
	/* libdebuginfod has its own limit (DEBUGINFOD_TIMEOUT) */
	if (rc == -ETIME || rc == -ETIMEDOUT)
		snprintf(s->given_up, sizeof(s->given_up),
			 "no answer from debuginfod");
	else
		snprintf(s->given_up, sizeof(s->given_up), w->over
			 ? "no answer from debuginfod within %d s"
			 : "debuginfod did not work before", WAIT_SECONDS);
	if (w->over || rc == -ETIME || rc == -ETIMEDOUT)
		return error_set(err, ERR_STOPPED, "%s", s->given_up);
	return error_errno(err, -rc, "debuginfod");
}

/* Requests the path and counts the time and bytes it takes. */
static int ask(struct source_server *s, const struct api *a,
	       const struct build_id *id, struct waiting *w, char **file)
{
	uint64_t start = clock_now();
	int fd;

	w->end_ns = start + WAIT_SECONDS * 1000000000ull;
	show(w, 0);
	a->set_data(s->client, w);
	a->set_progress(s->client, on_progress);
	fd = a->find_source(s->client, id->bytes, (int)id->len, w->path, file);
	a->set_data(s->client, NULL);
	if (s->progress)
		s->progress(s->ctx, NULL);
	s->spent_ns += clock_now() - start;
	if (s->spent_ns >= SOURCE_SERVER_SECONDS * 1000000000ull)
		snprintf(s->given_up, sizeof(s->given_up), "no more is asked of "
			 "debuginfod: it took %d s", SOURCE_SERVER_SECONDS);
	return fd;
}

void source_server_notify(struct source_server *s)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct buf text = { 0 };

	if (s->notified || !s->notice || !urls || !*urls)
		return;
	s->notified = true;
	buf_str(&text, "asking debuginfod for source files: ");
	text_safe(&text, urls);
	buf_str(&text, " (DEBUGINFOD_URLS; --no-debuginfod turns this off)");
	s->notice(s->ctx, buf_cstr(&text));
	buf_fini(&text);
}

/* Makes a client.  elfutils 0.192 reports no progress while a server is silent, and
 * would ask it three times for 90 s each. */
static void *make_client(const struct api *a)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%d", WAIT_SECONDS);
	setenv("DEBUGINFOD_TIMEOUT", seconds, 0);
	setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
	return a->begin();
}

/* Announces the request, then loads the library and makes a client. */
static int begin(struct source_server *s, struct api *a, struct error *err)
{
	if (!load(s, a)) {
		snprintf(s->given_up, sizeof(s->given_up), "DEBUGINFOD_URLS is "
			 "set, but libdebuginfod is not installed");
		return error_set(err, ERR_UNSUPPORTED, "%s", s->given_up);
	}
	source_server_notify(s);
	if (!s->client)
		s->client = make_client(a);
	if (!s->client)
		return error_set(err, ERR_NOMEM, "debuginfod: out of memory");
	return 0;
}

int source_server_read(struct source_server *s, const struct build_id *id,
		       const char *path, size_t limit, struct buf *out,
		       struct error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct waiting w = { .s = s, .path = path };
	size_t before = out->n;
	char *file = NULL;
	struct api a;
	int fd, rc;

	if (!s || !urls || !*urls || !id->len || *path != '/')
		return -ERR_NOTFOUND;
	if (*s->given_up)
		return error_set(err, ERR_NOTFOUND, "%s", s->given_up);
	rc = begin(s, &a, err);
	if (rc < 0)
		return rc;
	fd = ask(s, &a, id, &w, &file);
	if (fd < 0)
		return explain(s, fd, &w, err);
	lseek(fd, 0, SEEK_SET);
	rc = io_read_fd(fd, file ? file : path,
			limit < FILE_NAME_MAX ? limit : FILE_NAME_MAX, out, err);
	close(fd);
	free(file);
	s->bytes += out->n - before;
	if (s->bytes >= (uint64_t)SOURCE_SERVER_MB << 20)
		snprintf(s->given_up, sizeof(s->given_up), "no more is asked of "
			 "debuginfod: it gave %d MB", SOURCE_SERVER_MB);
	return rc;
}
