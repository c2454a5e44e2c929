// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects failed allocations: see memory.h. */
#include "cli/memory.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static bool alone;
static bool *ran_out = &alone;	/* in memory shared with children */
static bool (*is_deadly)(void);
static void (*on_end)(void);
static int failure_status;
static pid_t watched;

bool memory_ran_out(void)
{
	return __atomic_load_n(ran_out, __ATOMIC_RELAXED);
}

static bool own_code(const ucontext_t *at)
{
	extern const char __executable_start[], etext[];
	uintptr_t pc = 0;

#if defined(__x86_64__)
	pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	pc = (uintptr_t)at->uc_mcontext.pc;
#else
	(void)at;
#endif
	return pc >= (uintptr_t)__executable_start && pc < (uintptr_t)etext;
}

static void end_without_memory(void)
{
	static const char text[] = "tally: out of memory\n";
	ssize_t n;

	on_end();
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(failure_status);
}

/* After return, the fault occurs again and is fatal; a signal sent by a process is
 * raised again. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
	/* a child's crash is reported by its parent */
	if (getpid() == watched && memory_ran_out() && !own_code(context))
		end_without_memory();
	if (getpid() == watched)
		on_end();
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig);
}

static void catch_crash(int sig)
{
	struct sigaction crash = { .sa_sigaction = on_crash,
				   .sa_flags = SA_SIGINFO }, before;

	sigemptyset(&crash.sa_mask);
	/* skip signals that a sanitizer handles */
	if (!sigaction(sig, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(sig, &crash, NULL);
}

void memory_watch(bool (*deadly)(void), void (*restore)(void), int status)
{
	bool *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED) {
		*p = *ran_out;
		ran_out = p;
	}
	failure_status = status;
	watched = getpid();
	is_deadly = deadly;
	on_end = restore;
	catch_crash(SIGSEGV);
	catch_crash(SIGABRT);
}

static void note(bool failed)
{
	if (!failed)
		return;
	__atomic_store_n(ran_out, true, __ATOMIC_RELAXED);
	if (is_deadly && is_deadly())
		end_without_memory();
}

#ifdef FAIL_ALLOCATIONS		/* tests/cli/failing.c */
bool allocation_fails(void);
#else
static bool allocation_fails(void)
{
	return false;
}
#endif

typedef void *map_call(void *at, size_t n, int prot, int flags, int fd, off_t offset);

/* Maps with the function `real`.  Shared mappings are ring buffers: their callers try
 * a smaller size, or report the failure. */
static void *map_with(map_call *real, void *at, size_t n, int prot, int flags, int fd,
		      off_t offset)
{
	void *p;

	if (!(flags & MAP_PRIVATE))
		return real(at, n, prot, flags, fd, offset);
	p = allocation_fails() ? MAP_FAILED
			       : real(at, n, prot, flags, fd, offset);
	if (p == MAP_FAILED && errno == ENOMEM) {
		note(true);
		errno = ENOMEM;
	}
	return p;
}

#ifdef WATCH_OWN_ALLOCATIONS	/* a sanitizer replaces the allocator */

/* The linker redirects calls of f to __wrap_f and renames f itself to __real_f. */
#define WRAP(type, name, parameters, arguments, none, failed)		\
	type __real_##name parameters;					\
	type __wrap_##name parameters;					\
	type __wrap_##name parameters					\
	{								\
		type p = allocation_fails() ? none			\
					    : __real_##name arguments;	\
									\
		note(failed);						\
		return p;						\
	}

WRAP(void *, malloc, (size_t n), (n), NULL, !p && n)
WRAP(void *, calloc, (size_t n, size_t m), (n, m), NULL, !p && n && m)
WRAP(void *, realloc, (void *old, size_t n), (old, n), NULL, !p && n)
WRAP(char *, strdup, (const char *s), (s), NULL, !p)
WRAP(char *, strndup, (const char *s, size_t n), (s, n), NULL, !p)
WRAP(int, vasprintf, (char **out, const char *fmt, va_list ap), (out, fmt, ap),
     -1, p < 0)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode),
     NULL, !p && errno == ENOMEM)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode),
     NULL, !p && errno == ENOMEM)
WRAP(DIR *, opendir, (const char *path), (path), NULL,
     !p && errno == ENOMEM)
WRAP(char *, realpath, (const char *path, char *out), (path, out),
     NULL, !p && errno == ENOMEM)
WRAP(char *, getcwd, (char *out, size_t n), (out, n), NULL,
     !p && errno == ENOMEM)

map_call __wrap_mmap, __real_mmap;
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	return map_with(__real_mmap, at, n, prot, flags, fd, offset);
}

int __wrap_asprintf(char **out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap_vasprintf(out, fmt, ap);
	va_end(ap);
	return n;
}

#else

/*
 * These functions replace the C library's for the whole process, including libraries
 * and the C library itself.  Each calls the next function of its name, from a
 * library in LD_PRELOAD or from the C library.  free is not replaced.
 */
enum { MALLOC, CALLOC, REALLOC, POSIX_MEMALIGN, MMAP, NEXTS };

static void *next_of(int which)
{
	static const char *const names[NEXTS] = {
		[MALLOC] = "malloc", [CALLOC] = "calloc",
		[REALLOC] = "realloc", [POSIX_MEMALIGN] = "posix_memalign",
		[MMAP] = sizeof(off_t) > sizeof(long) ? "mmap64" : "mmap",
	};
	static _Thread_local bool searching;
	static void *next[NEXTS];
	void *p = __atomic_load_n(&next[which], __ATOMIC_RELAXED);

	/* dlsym allocates only if it fails. */
	if (!p && !searching) {
		searching = true;
		p = dlsym(RTLD_NEXT, names[which]);
		searching = false;
		__atomic_store_n(&next[which], p, __ATOMIC_RELAXED);
	}
	return p;
}

/* Returns the result of an allocation.  It failed if it is NULL although `wanted`
 * is true. */
static void *given(void *p, bool wanted)
{
	if (!p && wanted) {
		note(true);
		errno = ENOMEM;
	}
	return p;
}

void *malloc(size_t n)
{
	void *(*next)(size_t);

	*(void **)&next = allocation_fails() ? NULL : next_of(MALLOC);
	return given(next ? next(n) : NULL, n);
}

void *calloc(size_t n, size_t m)
{
	void *(*next)(size_t, size_t);

	*(void **)&next = allocation_fails() ? NULL : next_of(CALLOC);
	return given(next ? next(n, m) : NULL, n && m);
}

void *realloc(void *old, size_t n)
{
	void *(*next)(void *, size_t);

	*(void **)&next = allocation_fails() ? NULL : next_of(REALLOC);
	return given(next ? next(old, n) : NULL, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
	int (*next)(void **, size_t, size_t), e;

	*(void **)&next = allocation_fails() ? NULL : next_of(POSIX_MEMALIGN);
	e = next ? next(out, align, n) : ENOMEM;
	note(e == ENOMEM);
	return e;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	map_call *next;

	*(void **)&next = next_of(MMAP);
	return map_with(next, at, n, prot, flags, fd, offset);
}

#ifdef __LP64__		/* libraries may call either name */
map_call mmap64 __attribute__((alias("mmap")));
#endif

#endif
