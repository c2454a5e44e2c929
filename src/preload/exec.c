// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds the library to the environment of programs that this one executes.  This code
 * may run in a child of vfork, on its parent's stack and with its memory, so it keeps
 * no state.
 */
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/preload.h"

enum { ENTRIES_MAX = 1 << 16, TEXT_MAX = 1 << 16, PATH_SPACE = 4096 };

extern char **environ __attribute__((weak));

static char **present(void)
{
	return &environ ? environ : NULL;
}

static void *next_execve, *next_execvpe, *next_fexecve, *next_execveat,
	    *next_posix_spawn, *next_posix_spawnp;

static bool path_is_mapped(const char *path)
{
	struct mapped_page m = { 0, false };

	return text_is_mapped(&m, path, PATH_SPACE);
}

static bool is_readable(char *const *envp)
{
	return environment_is_mapped(envp, ENTRIES_MAX, TEXT_MAX);
}

/* A program below a filter of the caller's might be killed for the library's first
 * call, and reading files takes calls, too.  Without `look`, the program is that of
 * execveat(2). */
static enum follow follows(int fd, const char *path, char *const *envp,
			   enum follow (*look)(const char *))
{
	if (!preload.active || preload.careful || !path_is_mapped(path))
		return FOLLOW_NOT;
	if (is_readable(envp) && environment_is_taken(envp))
		return FOLLOW_OTHER;
	return look ? look(path) : follow_descriptor(fd, path);
}

static uint16_t flags_of(enum follow follow)
{
	return (follow == FOLLOW ? 0 : TIMER_OUTSIDE) |
	       (follow == FOLLOW_OTHER ? TIMER_OTHER : 0);
}

/* Declares `to`: a copy of `from` that includes the library, or `from` itself if that
 * is impossible. */
#define ENVIRONMENT(to, from, follow)					\
	bool to##_ours = preload.active &&				\
		((follow) == FOLLOW || (follow) == FOLLOW_CHILDREN) &&	\
		is_readable(from) &&					\
		!environment_lists(from) &&				\
		environment_text(from) < TEXT_MAX;			\
	char *to##_v[to##_ours ? environment_count(from) + 3 : 1];	\
	char to##_t[to##_ours ? environment_text(from) : 1];		\
	char *const *to = to##_ours ? (char *const *)to##_v : (from);	\
	if (to##_ours)							\
		environment_make(to##_v, (from), to##_t)

static void record_exec(const char *path, enum follow follow)
{
	if (!preload.active || preload.careful || !path_is_mapped(path))
		return;
	/* A child of vfork has its parent's mappings. */
	if (preload.loaded && sys_pid() == preload.pid)
		preload_record_maps();
	preload_record_text(TIMER_EXEC, flags_of(follow), path, text_size(path));
}

/* Reports a spawn.  The child has no number yet; it matters only that it cannot be
 * recorded. */
static void record_spawn(const char *path, enum follow follow)
{
	if (preload.active && !preload.careful && follow != FOLLOW &&
	    path_is_mapped(path))
		preload_record_text(TIMER_OUTSIDE_SPAWN, flags_of(follow), path,
				    text_size(path));
}

static int exec_failed(int r)
{
	if (preload.active)
		preload_record_kind(TIMER_EXEC_FAILED);
	return r;
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*next)(const char *, char *const *, char *const *) =
		next_function(&next_execve, "execve");
	enum follow follow = follows(-1, path, envp, follow_file);

	ENVIRONMENT(env, envp, follow);
	record_exec(path, follow);
	return exec_failed(next(path, argv, env));
}

EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, present());
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	int (*next)(const char *, char *const *, char *const *) =
		next_function(&next_execvpe, "execvpe");
	enum follow follow = follows(-1, file, envp, follow_found);

	ENVIRONMENT(env, envp, follow);
	record_exec(file, follow);
	return exec_failed(next(file, argv, env));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, present());
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	int (*next)(int, char *const *, char *const *) =
		next_function(&next_fexecve, "fexecve");
	enum follow follow = follows(fd, "", envp, NULL);

	ENVIRONMENT(env, envp, follow);
	record_exec("(a file descriptor)", follow);
	return exec_failed(next(fd, argv, env));
}

EXPORT int execveat(int fd, const char *path, char *const argv[],
		    char *const envp[], int flags)
{
	int (*next)(int, const char *, char *const *, char *const *, int) =
		next_function(&next_execveat, "execveat");
	enum follow follow = follows(fd, path, envp, NULL);

	ENVIRONMENT(env, envp, follow);
	record_exec(path, follow);
	return exec_failed(next(fd, path, argv, env, flags));
}

static size_t arguments_count(va_list ap, const char *first)
{
	size_t n = 1;

	if (!first)
		return 1;
	while (va_arg(ap, char *))
		n++;
	return n + 1;
}

/* Puts the arguments of execl… with their NULL on the caller's stack.  Leaves `ap`
 * after them. */
#define ARGUMENTS(argv, ap, first)				\
	va_list argv##_ahead;					\
	va_copy(argv##_ahead, ap);				\
	const size_t argv##_n = arguments_count(argv##_ahead, first);	\
	va_end(argv##_ahead);					\
	char *argv[argv##_n];					\
	argv[0] = (char *)(first);				\
	for (size_t at = 1; at < argv##_n; at++)		\
		argv[at] = va_arg(ap, char *)

EXPORT int execl(const char *path, const char *arg, ...)
{
	va_list ap;

	va_start(ap, arg);
	ARGUMENTS(argv, ap, arg);
	va_end(ap);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	va_list ap;

	va_start(ap, arg);
	ARGUMENTS(argv, ap, arg);
	va_end(ap);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	va_list ap;

	va_start(ap, arg);
	ARGUMENTS(argv, ap, arg);
	envp = va_arg(ap, char *const *);
	va_end(ap);
	return execve(path, argv, envp);
}

EXPORT int posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[],
		       char *const envp[])
{
	int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *,
		    const posix_spawnattr_t *, char *const *, char *const *) =
		next_function(&next_posix_spawn, "posix_spawn");
	enum follow follow = follows(-1, path, envp, follow_file);

	ENVIRONMENT(env, envp, follow);
	record_spawn(path, follow);
	return next(pid, path, actions, attr, argv, env);
}

EXPORT int posix_spawnp(pid_t *pid, const char *file,
			const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[],
			char *const envp[])
{
	int (*next)(pid_t *, const char *, const posix_spawn_file_actions_t *,
		    const posix_spawnattr_t *, char *const *, char *const *) =
		next_function(&next_posix_spawnp, "posix_spawnp");
	enum follow follow = follows(-1, file, envp, follow_found);

	ENVIRONMENT(env, envp, follow);
	record_spawn(file, follow);
	return next(pid, file, actions, attr, argv, env);
}
