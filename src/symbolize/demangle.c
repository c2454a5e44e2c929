// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readable names by libiberty, kept in bounds: names come from anybody's
 * binaries, and a short mangled name can stand for an endless readable one.
 */
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbolize.h"

enum {
	MAX_IN = 32 * 1024,
	MAX_OUT = 64 * 1024,
	/* libiberty recurses; up to here an ordinary stack is enough ... */
	SHORT_IN = DEMANGLE_RECURSION_LIMIT / 2,
	/* ... above it the name gets a stack of its own. */
	LONG_STACK = 64 << 20,
};

struct job {
	const char *name;
	struct buf *out;
	size_t start;		/* of our text in out */
	jmp_buf full;
	bool done;
};

static void put(const char *text, size_t n, void *ctx)
{
	struct job *j = ctx;

	if (j->out->n - j->start + n > MAX_OUT)
		longjmp(j->full, 1);	/* libiberty holds no memory here */
	buf_bytes(j->out, text, n);
}

static bool call_libiberty(struct job *j, int options)
{
	if (setjmp(j->full))
		return false;
	if (rust_demangle_callback(j->name, options, put, j))
		return true;
	j->out->n = j->start;
	return cplus_demangle_v3_callback(j->name, options, put, j);
}

static void run(struct job *j, int options)
{
	j->done = call_libiberty(j, DMGL_PARAMS | DMGL_ANSI | options);
	if (!j->done || j->out->failed)
		j->out->n = j->start;
}

static void *run_long(void *ctx)
{
	run(ctx, DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

static void run_on_big_stack(struct job *j)
{
	pthread_attr_t attr;
	pthread_t t;

	if (pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, LONG_STACK) &&
	    !pthread_create(&t, &attr, run_long, j))
		pthread_join(t, NULL);
	pthread_attr_destroy(&attr);
}

static bool is_mangled(const char *s)
{
	return (s[0] == '_' && (s[1] == 'Z' || s[1] == 'R')) ||
	       !strncmp(s, "__Z", 3) || !strncmp(s, "___Z", 4) ||
	       !strncmp(s, "_GLOBAL_", 8);
}

/* D names (_D followed by a length): no callback, but no blow-up either. */
static bool demangle_d(const char *name, size_t n, struct buf *out)
{
	char *s;

	if (!strcmp(name, "_Dmain")) {
		buf_str(out, "D main");
		return true;
	}
	if (name[0] != '_' || name[1] != 'D' || name[2] < '0' ||
	    name[2] > '9' || n > 4096)
		return false;
	s = dlang_demangle(name, 0);
	if (s && strlen(s) <= MAX_OUT)
		buf_str(out, s);
	else
		n = 0;
	free(s);
	return n != 0;
}

void demangle(const char *name, struct buf *out)
{
	const char *at = strchr(name, '@');	/* version: name@VERS, name@@V */
	size_t n = at && at != name ? (size_t)(at - name) : strlen(name);
	struct job j = { .out = out, .start = out->n };
	char small[512], *copy = small;

	if (n > MAX_IN || name[0] != '_' ||
	    !(is_mangled(name) || name[1] == 'D')) {
		buf_bytes(out, name, n);
		return;
	}
	if (n >= sizeof(small))
		copy = malloc(n + 1);
	if (copy) {
		memcpy(copy, name, n);
		copy[n] = '\0';
		j.name = copy;
		if (copy[1] == 'D')
			j.done = demangle_d(copy, n, out);
		else if (n <= SHORT_IN)
			run(&j, 0);
		else
			run_on_big_stack(&j);
	}
	if (!j.done)
		buf_bytes(out, name, n);
	if (copy != small)
		free(copy);
}
