// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces system(3) and popen(3).  In the C library they use the program's
 * environment directly, whatever it is at the time.  The library must pass another
 * one, while other threads may read the program's.  These versions therefore start
 * their shells by posix_spawn, and otherwise do what the C library does.
 */
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/preload.h"

/* Functions of the C library, if it has them; NULL if not. */
#pragma weak __errno_location
#pragma weak __pthread_register_cancel
#pragma weak __pthread_unregister_cancel
#pragma weak __pthread_unwind_next
#pragma weak __sigsetjmp
#ifndef __sigsetjmp_cancel
#pragma weak __sigsetjmp_cancel	/* its name in C, with gcc 11 and glibc 2.34 */
#endif
#pragma weak fdopen
#pragma weak fileno
#pragma weak gnu_get_libc_version
#pragma weak posix_spawn_file_actions_addclose
#pragma weak posix_spawn_file_actions_adddup2
#pragma weak posix_spawn_file_actions_destroy
#pragma weak posix_spawn_file_actions_init
#pragma weak posix_spawnattr_destroy
#pragma weak posix_spawnattr_init
#pragma weak posix_spawnattr_setflags
#pragma weak posix_spawnattr_setsigdefault
#pragma weak posix_spawnattr_setsigmask
#pragma weak waitpid

extern char **environ __attribute__((weak));

enum { PIPES = 255 };		/* in a block of one page */

/* A stream of popen. */
struct shell_pipe {
	FILE *stream;		/* NULL: free */
	pid_t pid;
};

/* Blocks are never freed. */
struct shell_pipes {
	struct shell_pipe v[PIPES];
	struct shell_pipes *more;
};

static struct {
	uint32_t lock;		/* pid of the holder; 0: free */
	uint32_t waiting;	/* number of threads in system */
	struct kernel_action interrupt, quit;
	struct shell_pipes *pipes;	/* or NULL */
} shell;

/* Each entry of the list; `break` leaves one block only. */
#define EACH_PIPE(p)							\
	for (struct shell_pipes *in_ = shell.pipes; in_; in_ = in_->more) \
		for (struct shell_pipe *p = in_->v; p < in_->v + PIPES; p++)

static void *next_system, *next_popen, *next_pclose, *next_fclose;

/* Takes the lock.  A child of fork has a copy of the lock, but not of the thread that
 * holds it. */
static void shell_lock(void)
{
	uint32_t us = sys_pid(), is = 0;

	while (!__atomic_compare_exchange_n(&shell.lock, &is, us, false,
					    __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (is == us) {
			sys1(SYS_sched_yield, 0);
			is = 0;
		}
	}
}

static void shell_unlock(void)
{
	__atomic_store_n(&shell.lock, 0, __ATOMIC_RELEASE);
}

static void errno_set(long e)
{
	if (&__errno_location)
		*__errno_location() = (int)e;
}

/* Since 2.38 a command may begin with a hyphen. */
static bool has_hyphens(void)
{
	const char *s = gnu_get_libc_version();
	int minor = 0;

	s = text_after(s, "2.");
	for (; s && *s >= '0' && *s <= '9'; s++)
		minor = minor * 10 + *s - '0';
	return minor >= 38;
}

static int shell_spawn(pid_t *pid, const char *command,
		       const posix_spawn_file_actions_t *files,
		       const posix_spawnattr_t *attr)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL,
			 NULL };

	if (has_hyphens()) {
		argv[2] = (char *)"--";
		argv[3] = (char *)command;
	}
	return posix_spawn(pid, "/bin/sh", files, attr, argv,
			   &environ ? environ : NULL);
}

/* The first waiting thread ignores SIGINT and SIGQUIT; the last restores them. */
static void signals_ignore(void)
{
	struct kernel_action ignore = { .handler = NULL };

	ignore.handler = (void (*)(int, siginfo_t *, void *))1; /* SIG_IGN */
	shell_lock();
	if (!shell.waiting++) {
		sys4(SYS_rt_sigaction, SIGINT, (long)&ignore,
		     (long)&shell.interrupt, 8);
		sys4(SYS_rt_sigaction, SIGQUIT, (long)&ignore,
		     (long)&shell.quit, 8);
	}
	shell_unlock();
}

static void signals_restore(uint64_t mask)
{
	shell_lock();
	if (!--shell.waiting) {
		sys4(SYS_rt_sigaction, SIGINT, (long)&shell.interrupt, 0, 8);
		sys4(SYS_rt_sigaction, SIGQUIT, (long)&shell.quit, 0, 8);
	}
	shell_unlock();
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
}

static bool is_ignored(const struct kernel_action *a)
{
	return (uintptr_t)a->handler == 1;
}

static int system_spawn(pid_t *pid, const char *command, uint64_t mask)
{
	sigset_t was, defaults;
	posix_spawnattr_t attr;
	uint64_t reset = 0;
	int r;

	if (!is_ignored(&shell.interrupt))
		reset |= 1u << (SIGINT - 1);
	if (!is_ignored(&shell.quit))
		reset |= 1u << (SIGQUIT - 1);
	bytes_zero(&was, sizeof(was));
	bytes_zero(&defaults, sizeof(defaults));
	bytes_copy(&was, &mask, sizeof(mask));
	bytes_copy(&defaults, &reset, sizeof(reset));
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &was);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETSIGMASK);
	r = shell_spawn(pid, command, NULL, &attr);
	posix_spawnattr_destroy(&attr);
	return r;
}

struct waiting {
	pid_t pid;
	uint64_t mask;
};

/* Ends the shell when its thread is cancelled. */
static void system_cancelled(void *arg)
{
	struct waiting *w = arg;

	sys3(SYS_kill, w->pid, SIGKILL, 0);
	while (sys4(SYS_wait4, w->pid, 0, 0, 0) == -EINTR)
		;
	signals_restore(w->mask);
}

static int system_wait(struct waiting *w)
{
	int status = -1, r;

	pthread_cleanup_push(system_cancelled, w);
	do
		r = waitpid(w->pid, &status, 0);
	while (r < 0 && *__errno_location() == EINTR);
	pthread_cleanup_pop(0);
	return r < 0 ? -1 : status;
}

/* Returns whether shells can be started.  A C library with these functions has the
 * others, too. */
static bool can_start(void)
{
	return preload.active && &gnu_get_libc_version && &posix_spawnattr_init &&
	       &__pthread_register_cancel && &waitpid;
}

EXPORT int system(const char *command)
{
	int (*next)(const char *) = next_function(&next_system, "system");
	uint64_t block = 1ull << (SIGCHLD - 1);
	struct waiting w = { 0, 0 };
	int r, status;

	if (!can_start())
		return next(command);
	if (!command)
		return system("exit 0") == 0;
	signals_ignore();
	sys4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, (long)&w.mask, 8);
	r = system_spawn(&w.pid, command, w.mask);
	status = r ? 127 << 8 : system_wait(&w);
	signals_restore(w.mask);
	if (r)
		errno_set(r);
	return status;
}

static bool mode_read(const char *mode, bool *reads, bool *closes)
{
	bool writes = false;

	*reads = *closes = false;
	for (; *mode; mode++) {
		*reads |= *mode == 'r';
		writes |= *mode == 'w';
		*closes |= *mode == 'e';
		if (*mode != 'r' && *mode != 'w' && *mode != 'e')
			return false;
	}
	return *reads != writes;
}

/* Spawns the shell with `end` as its standard input or output, and without the pipe
 * ends of other shells. */
static int popen_spawn(pid_t *pid, const char *command, int end, int place)
{
	posix_spawn_file_actions_t files;
	long moved = -1;
	int r;

	posix_spawn_file_actions_init(&files);
	/* dup2 of a descriptor to itself would leave it close-on-exec. */
	if (end == place) {
		moved = sys3(SYS_fcntl, end, F_DUPFD_CLOEXEC, 0);
		end = (int)moved;
	}
	r = end < 0 ? -end : posix_spawn_file_actions_adddup2(&files, end,
							       place);
	EACH_PIPE(p) {
		int fd = p->stream ? fileno(p->stream) : -1;

		if (fd >= 0 && fd != place && !r)
			r = posix_spawn_file_actions_addclose(&files, fd);
	}
	if (!r)
		r = shell_spawn(pid, command, &files, NULL);
	if (moved >= 0)
		sys_close(moved);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

static struct shell_pipe *pipe_free(void)
{
	struct shell_pipes *block;
	long at;

	EACH_PIPE(p)
		if (!p->stream)
			return p;
	at = sys6(SYS_mmap, 0, sizeof(*block), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -TIMER_PAGE)
		return NULL;
	block = (struct shell_pipes *)at;
	block->more = shell.pipes;
	__atomic_store_n(&shell.pipes, block, __ATOMIC_RELEASE);
	return block->v;
}

static FILE *popen_locked(struct shell_pipe *p, const char *command, bool reads,
			  bool closes)
{
	int ends[2], r;
	long e = sys3(SYS_pipe2, (long)ends, O_CLOEXEC, 0);
	FILE *f;

	if (e < 0) {
		errno_set(-e);
		return NULL;
	}
	f = fdopen(ends[!reads], reads ? "r" : "w");
	if (!f) {
		sys_close(ends[!reads]);
		sys_close(ends[reads]);
		return NULL;
	}
	r = popen_spawn(&p->pid, command, ends[reads], reads);
	sys_close(ends[reads]);
	if (r) {
		int (*next)(FILE *) = next_function(&next_fclose, "fclose");

		next(f);
		errno_set(r);
		return NULL;
	}
	if (!closes)
		sys3(SYS_fcntl, ends[!reads], F_SETFD, 0);
	p->stream = f;
	return f;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	FILE *(*next)(const char *, const char *) =
		next_function(&next_popen, "popen");
	struct shell_pipe *p;
	bool reads, closes;
	FILE *f = NULL;

	if (!can_start())
		return next(command, mode);
	if (!mode_read(mode, &reads, &closes)) {
		errno_set(EINVAL);
		return NULL;
	}
	shell_lock();
	p = pipe_free();
	if (p)
		f = popen_locked(p, command, reads, closes);
	else
		errno_set(ENOMEM);
	shell_unlock();
	return f;
}

/* Removes the stream from the list.  Returns 0 if it is not one of popen's. */
static pid_t pipe_take(FILE *stream)
{
	pid_t pid = 0;

	if (!stream || !__atomic_load_n(&shell.pipes, __ATOMIC_ACQUIRE))
		return 0;
	shell_lock();
	EACH_PIPE(p)
		if (p->stream == stream && !pid) {
			pid = p->pid;
			p->stream = NULL;
		}
	shell_unlock();
	return pid;
}

static int pipe_close(FILE *stream, pid_t pid)
{
	int (*next)(FILE *) = next_function(&next_fclose, "fclose");
	int flushed = next(stream), status = 0;
	long r;

	do
		r = sys4(SYS_wait4, pid, (long)&status, 0, 0);
	while (r == -EINTR);
	if (r < 0) {
		errno_set(-r);
		return -1;
	}
	return status ? status : flushed;
}

EXPORT int pclose(FILE *stream)
{
	int (*next)(FILE *) = next_function(&next_pclose, "pclose");
	pid_t pid = pipe_take(stream);

	return pid ? pipe_close(stream, pid) : next(stream);
}

/* In the C library, pclose and fclose are the same. */
EXPORT int fclose(FILE *stream)
{
	int (*next)(FILE *) = next_function(&next_fclose, "fclose");
	pid_t pid = pipe_take(stream);

	return pid ? pipe_close(stream, pid) : next(stream);
}
