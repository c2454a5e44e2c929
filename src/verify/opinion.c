// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks libdw in a child process and reads its answers from a pipe. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "verify/opinion.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/io.h"
#include "verify/libdw.h"

enum {
	/* Real answers are far smaller, because names and files are sent once. */
	ANSWER_LIMIT = 1 << 30,
	CHILD_CPU_S = 600,
};

void opinion_free(struct opinion *o)
{
	if (!o)
		return;
	strtab_fini(&o->str);
	vec_fini(&o->frames);
	vec_fini(&o->chains);
	vec_fini(&o->places);
	vec_fini(&o->symbols);
	vec_fini(&o->answers);
	free(o);
}

/* In the child process: writes the answers to the pipe, or a zero byte and a
 * message. */
static void answer_in_child(const struct opinion_request *q, int fd)
{
	struct rlimit cpu = { CHILD_CPU_S, CHILD_CPU_S };
	struct error err = { 0 };
	struct buf out = { 0 };

	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	unsetenv("DEBUGINFOD_URLS");
	buf_u8(&out, 1);
	if (libdw_answer(q, &out, &err) < 0 || out.failed) {
		buf_reset(&out);
		buf_u8(&out, 0);
		buf_str(&out, out.failed || !*err.msg ? "out of memory"
						      : err.msg);
		buf_u8(&out, 0);
	}
	_exit(io_write_all(fd, "pipe", out.p, out.n, &err) < 0);
}

/* Reads the number of a string, followed by its bytes on first use. */
static uint32_t read_str(struct cursor *c, struct opinion *o)
{
	uint32_t id = cursor_uleb32(c);
	const char *s;

	if (id < o->str.str.n)
		return id;
	s = cursor_cstr(c);
	if (!s || id != o->str.str.n || strtab_add(&o->str, s) != id) {
		cursor_fail(c);
		return 0;
	}
	return id;
}

static struct opinion_place read_place(struct cursor *c, struct opinion *o)
{
	struct opinion_place p;

	p.dir = read_str(c, o);
	p.file = read_str(c, o);
	p.line = cursor_uleb32(c);
	return p;
}

static void read_chain(struct cursor *c, struct opinion *o)
{
	uint32_t n = cursor_uleb32(c);
	struct opinion_part part = { (uint32_t)o->frames.n, n };

	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct opinion_frame f = { 0 };

		f.linkage = read_str(c, o);
		f.name = read_str(c, o);
		f.call = read_place(c, o);
		f.inlined = cursor_u8(c);
		if (vec_push(&o->frames, f) < 0)
			cursor_fail(c);
	}
	if (vec_push(&o->chains, part) < 0)
		cursor_fail(c);
}

static void read_answer(struct cursor *c, struct opinion *o)
{
	struct opinion_answer a = { 0 };

	a.flags = cursor_u8(c);
	a.symbols = (struct opinion_part){ (uint32_t)o->symbols.n,
					   cursor_uleb32(c) };
	for (uint32_t i = 0; i < a.symbols.n && !c->bad; i++)
		if (vec_push(&o->symbols, read_str(c, o)) < 0)
			cursor_fail(c);
	a.places = (struct opinion_part){ (uint32_t)o->places.n,
					  cursor_uleb32(c) };
	for (uint32_t i = 0; i < a.places.n && !c->bad; i++) {
		if (vec_push(&o->places, read_place(c, o)) < 0)
			cursor_fail(c);
	}
	a.chains = (struct opinion_part){ (uint32_t)o->chains.n,
					  cursor_uleb32(c) };
	for (uint32_t i = 0; i < a.chains.n && !c->bad; i++)
		read_chain(c, o);
	if (vec_push(&o->answers, a) < 0)
		cursor_fail(c);
}

static int read_answers(const struct opinion_request *q, const struct buf *b,
			struct opinion *o, struct error *err)
{
	struct cursor c = cursor_of(b->p, b->n);
	const uint8_t *id;

	if (cursor_u8(&c) == 0) {
		const char *text = cursor_cstr(&c);

		return error_set(err, ERR_FORMAT, "libdw: %s",
				 text ? text : "no answer");
	}
	o->dwarf = cursor_u8(&c);
	o->build_id.len = cursor_u8(&c);
	if (o->build_id.len > BUILD_ID_MAX)
		cursor_fail(&c);
	id = cursor_take(&c, o->build_id.len);
	if (id)
		memcpy(o->build_id.bytes, id, o->build_id.len);
	while (o->answers.n < q->n && !c.bad)
		read_answer(&c, o);
	return c.bad ? error_set(err, ERR_FORMAT, "libdw on %s: its answers end "
				 "early", q->path)
		     : 0;
}

/* Collects the child's answers.  If the child did not exit by itself, the error
 * explains why. */
static int collect(const struct opinion_request *q, pid_t pid, int fd,
		   struct buf *b, struct error *err)
{
	int rc = io_read_fd(fd, "libdw", ANSWER_LIMIT, b, err), status;

	close(fd);
	if (rc < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "libdw on %s", q->path);
	if (rc >= 0 && WIFSIGNALED(status))
		rc = error_set(err, ERR_FORMAT, "libdw on %s: it died of signal "
			       "%d", q->path, WTERMSIG(status));
	return rc;
}

int opinion_ask(const struct opinion_request *q, struct opinion **out,
		struct error *err)
{
	struct opinion *o;
	struct buf b = { 0 };
	int fds[2], rc = libdw_load(err);
	pid_t pid;

	*out = NULL;
	if (rc < 0)
		return rc;
	if (pipe(fds) < 0)
		return error_errno(err, errno, "pipe");
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		answer_in_child(q, fds[1]);
	}
	close(fds[1]);
	if (pid < 0) {
		rc = error_errno(err, errno, "fork");
		close(fds[0]);
		return rc;
	}
	rc = collect(q, pid, fds[0], &b, err);
	o = calloc(1, sizeof(*o));
	if (!o || strtab_init(&o->str) < 0)
		rc = error_nomem(err);
	if (rc >= 0)
		rc = read_answers(q, &b, o, err);
	buf_fini(&b);
	if (rc < 0) {
		opinion_free(o);
		return rc;
	}
	*out = o;
	return 0;
}
