// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readable names by libiberty, kept in bounds: names come from anybody's
 * binaries, and a short mangled name can stand for an endless readable one.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "symbolize/demangle.h"
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

static void *run_aside(void *ctx)
{
	struct job *j = ctx;

	/* libiberty reads C++ without any malloc: it can be ended anywhere.
	 * (No local variable here: sanitizers mark those on the stack, and a
	 * thread that is ended does not take the marks back.) */
	if (j->name[1] != 'R')
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	run(j, DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

static uint64_t thread_ms(pthread_t t)
{
	struct timespec ts;
	clockid_t clock;

	if (pthread_getcpuclockid(t, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Waits for the thread; one that has used more than max_ms is ended. */
static bool join(pthread_t t, uint64_t max_ms)
{
	struct timespec until;
	void *result = NULL;

	for (;;) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 4000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_timedjoin_np(t, &result, &until) == 0)
			return true;
		if (thread_ms(t) <= max_ms)
			continue;
		pthread_cancel(t);
		pthread_join(t, &result);
		return result != PTHREAD_CANCELED;
	}
}

/* glibc ends the program where a thread is to be ended and libgcc_s, which it
 * unwinds the stack with, is not installed. */
static bool can_cancel(void)
{
#ifdef __GLIBC__
	void *lib = dlopen("libgcc_s.so.1", RTLD_NOW);

	if (!lib)
		return false;
	dlclose(lib);
#endif
	return true;
}

/* On a stack of its own, and watched. */
static void run_watched(struct job *j, size_t n)
{
	pthread_attr_t attr;
	pthread_t t;

	if (!can_cancel() || !buf_room(j->out, MAX_OUT + 1) ||
	    pthread_attr_init(&attr))
		return;
	if (!pthread_attr_setstacksize(&attr, LONG_STACK) &&
	    !pthread_create(&t, &attr, run_aside, j) &&
	    !join(t, 10 + n / 1000)) {
		j->done = false;
		j->out->n = j->start;
	}
	pthread_attr_destroy(&attr);
}

/*
 * libiberty may need endless time without a word: it looks for parameter packs in
 * a tree whose parts are shared, twice the work for each substitution; and it
 * tries conversions two ways.  One real name of 40,000 is that suspicious.
 */
static bool is_suspicious(const char *s, size_t n)
{
	size_t i, refs = 0, casts = 0;
	bool packs = false;

	for (i = 0; i + 1 < n; i++) {
		char c = s[i], d = s[i + 1];

		refs += c == 'S' && (d == '_' || (d >= '0' && d <= '9') ||
				     (d >= 'A' && d <= 'Z'));
		casts += c == 'c' && d == 'v';
		packs |= (d == 'p' && (c == 'D' || c == 's')) ||
			 (c == 's' && (d == 'Z' || d == 'P')) ||
			 (c == 'f' && (d == 'l' || d == 'r' || d == 'L' ||
				       d == 'R'));
	}
	return (packs && refs >= 24) || casts >= 16;
}

/* By libiberty: C++, Rust. */
static bool demangle_base(const char *name, size_t n, struct buf *out)
{
	struct job j = { .out = out, .start = out->n };
	char small[512], *copy = small;

	if (n >= sizeof(small))
		copy = malloc(n + 1);
	if (!copy)
		return false;
	memcpy(copy, name, n);
	copy[n] = '\0';
	j.name = copy;
	if (n <= SHORT_IN && !is_suspicious(copy, n))
		run(&j, 0);
	else
		run_watched(&j, n);
	if (copy != small)
		free(copy);
	return j.done;
}

/* Where a suffix that compilers give to copies and parts of functions starts:
 * .isra.0, .cold, .llvm.123; n when there is none. */
static size_t clone_at(const char *s, size_t n)
{
	static const char *const words[] = {
		"isra", "constprop", "part", "cold", "llvm", "lto_priv",
		"localalias", "__uniq", "resolver", "ifunc", "warm", "hot",
		"unlikely", "default",
	};
	size_t end = n, i, len;

	while (end > 1 && (s[end - 1] >= '0' && s[end - 1] <= '9'))
		end--;
	if (end == n || s[end - 1] != '.')
		end = n + 1;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		len = strlen(words[i]);
		if (end - 1 > len + 1 && s[end - 2 - len] == '.' &&
		    !memcmp(s + end - 1 - len, words[i], len))
			return end - 2 - len;
	}
	return n;
}

/* All of them, the way c++filt writes it: [clone .isra.0] [clone .cold]. */
static void put_clones(const char *s, const char *end, struct buf *out)
{
	const char *p;

	while (s < end) {
		p = s + 1;
		while (p < end && (*p != '.' || (p + 1 < end && p[1] >= '0' &&
						 p[1] <= '9')))
			p++;
		buf_str(out, " [clone ");
		buf_bytes(out, s, (size_t)(p - s));
		buf_u8(out, ']');
		s = p;
	}
}

bool lang_is_ada(uint16_t lang)
{
	return lang == DW_LANG_Ada83 || lang == DW_LANG_Ada95 ||
	       lang == 0x2e || lang == 0x2f;	/* 2005, 2012 */
}

static bool demangle_any(uint16_t lang, const char *s, size_t n,
			 struct buf *out)
{
	if (lang_is_ada(lang) && demangle_ada(s, n, true, out))
		return true;
	if (s[0] != '_')
		return (memchr(s, '%', n) && demangle_go(s, n, out)) ||
		       demangle_ocaml(s, n, out) ||
		       demangle_haskell(s, n, out) ||
		       demangle_ada(s, n, false, out);
	if (s[1] == 'D')
		return demangle_d(s, n, out);
	if (s[1] == 'Z' || s[1] == 'R' || !strncmp(s, "__Z", 3) ||
	    !strncmp(s, "___Z", 4) || !strncmp(s, "_GLOBAL_", 8))
		return demangle_base(s, n, out);
	return demangle_fortran(s, n, out) || demangle_ada(s, n, false, out);
}

/* The end of the name without its version (name@VERS, name@@VERS), and what
 * stays behind it: @plt says that it is the stub of that function. */
static size_t without_version(const char *name, size_t n, const char **tail)
{
	const char *at;

	*tail = "";
	if (n > 4 && (!memcmp(name + n - 4, "@plt", 4) ||
		      !memcmp(name + n - 4, "$plt", 4))) {
		*tail = name + n - 4;
		n -= 4;
	}
	at = memchr(name, '@', n);
	return at && at != name ? (size_t)(at - name) : n;
}

void demangle_as(uint16_t lang, const char *name, struct buf *out)
{
	const char *tail;
	size_t n = without_version(name, strlen(name), &tail), base = n, at;

	if (n > 1 && n <= MAX_IN) {
		while ((at = clone_at(name, base)) < base)
			base = at;
		if (demangle_any(lang, name, base, out))
			put_clones(name + base, name + n, out);
		else
			buf_bytes(out, name, n);
	} else {
		buf_bytes(out, name, n);
	}
	buf_str(out, tail);
}

void demangle(const char *name, struct buf *out)
{
	demangle_as(0, name, out);
}
