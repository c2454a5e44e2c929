// SPDX-License-Identifier: GPL-2.0-or-later
/* Sources from debuginfod: see source_server.h. */
#include "views/source_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

enum { WAIT_SECONDS = 10 };

/* elfutils/debuginfod.h, of which only this is used. */
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
	struct timespec end;
	bool over;
};

/* libdebuginfod calls this about once a second; other than 0 ends the wait.  What
 * it needs is with the client: by a function that is looked up again, as there is
 * no other way to reach it. */
static int on_progress(void *client, long a, long b)
{
	void *lib = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *(*get_data)(void *) = NULL;
	struct waiting *w;
	struct timespec now;

	(void)a;
	(void)b;
	if (!lib)
		return 1;
	*(void **)&get_data = dlsym(lib, "debuginfod_get_user_data");
	w = get_data ? get_data(client) : NULL;
	dlclose(lib);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (w && (now.tv_sec < w->end.tv_sec ||
		  (now.tv_sec == w->end.tv_sec &&
		   now.tv_nsec < w->end.tv_nsec)))
		return 0;
	if (w)
		w->over = true;
	return 1;
}

void source_server_fini(struct source_server *s)
{
	struct api a;

	if (s->client && load(s, &a))
		a.end(s->client);
	s->client = NULL;
	/* the libraries stay: curl's may have started threads */
}

static int explain(struct source_server *s, int rc, bool over,
		   struct error *err)
{
	if (rc == -ENOENT)
		return error_set(err, ERR_NOTFOUND,
				 "no debuginfod server has it");
	s->given_up = true;
	if (over)
		return error_set(err, ERR_STOPPED, "no answer from debuginfod "
				 "within %d s", WAIT_SECONDS);
	return error_errno(err, -rc, "debuginfod");
}

int source_server_read(struct source_server *s, const struct build_id *id,
		       const char *path, size_t limit, struct buf *out,
		       struct error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct waiting w = { .over = false };
	char *file = NULL;
	struct api a;
	int fd, rc;

	if (!s->on || s->given_up || !urls || !*urls || !id->len ||
	    *path != '/')
		return -ERR_NOTFOUND;
	if (!load(s, &a)) {
		s->given_up = true;
		return error_set(err, ERR_UNSUPPORTED, "DEBUGINFOD_URLS is set, "
				 "but libdebuginfod is not installed");
	}
	if (!s->client)
		s->client = a.begin();
	if (!s->client)
		return error_set(err, ERR_NOMEM, "debuginfod: out of memory");
	clock_gettime(CLOCK_MONOTONIC, &w.end);
	w.end.tv_sec += WAIT_SECONDS;
	a.set_data(s->client, &w);
	a.set_progress(s->client, on_progress);
	fd = a.find_source(s->client, id->bytes, (int)id->len, path, &file);
	a.set_data(s->client, NULL);
	if (fd < 0)
		return explain(s, fd, w.over, err);
	lseek(fd, 0, SEEK_SET);
	rc = io_read_fd(fd, file ? file : path, limit, out, err);
	close(fd);
	free(file);
	return rc;
}
