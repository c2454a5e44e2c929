// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs git: see git.h. */
#include "base/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/vec.h"

enum {
	PIECE = 65536,
	WORDS_MAX = 24,
	NS_PER_MS = 1000000,
};

/* Starts the program in its own process group, so that its children can be
 * killed with it.  Signals have their default handling, as from a shell. */
static int spawn(int dir, char *const *argv, char *const *env, int out, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
	if (dir != AT_FDCWD)
		posix_spawn_file_actions_addfchdir_np(&fa, dir);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
				 POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	rc = posix_spawnp(pid, argv[0], &fa, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* Reads until the end of output; negative if the end was not reached. */
static int read_answer(int fd, const char *name, size_t limit, int ms,
		       struct buf *out, struct error *err)
{
	uint64_t end = clock_now() / NS_PER_MS + (uint64_t)ms;
	size_t left = limit;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t wait = (int64_t)(end - clock_now() / NS_PER_MS);
		uint8_t *room = buf_room(out, PIECE);
		ssize_t n;

		if (!room)
			return error_nomem(err);
		if (wait <= 0 || poll(&p, 1, (int)wait) == 0)
			return error_set(err, ERR_STOPPED,
					 "%s: no answer within %d s", name,
					 ms / 1000);
		n = read(fd, room, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, errno, "%s", name);
		if (n == 0)
			return 0;
		if ((size_t)n > left)
			return error_set(err, ERR_FORMAT,
					 "%s: more than %zu MB", name,
					 limit >> 20);
		left -= (size_t)n;
		out->n += (size_t)n;
	}
}

/*
 * Runs argv (found by PATH, terminated by NULL) with the environment `env`.
 * Appends its standard output to `out` and returns its exit status, 0 to 255.
 * Standard error is discarded.  Runs in the folder of the descriptor `dir`, if not
 * AT_FDCWD.  Fails if the program takes longer than `ms`
 * (ERR_STOPPED), writes more than `limit` bytes (ERR_FORMAT) or is ended by a
 * signal (ERR_IO).  The program and the processes it started are then killed.
 */
static int child_run(int dir, char *const *argv, char *const *env, size_t limit,
		     int ms, struct buf *out, struct error *err)
{
	int fd[2], rc, status = 0;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return error_errno(err, errno, "%s", argv[0]);
	rc = spawn(dir, argv, env, fd[1], &pid);
	close(fd[1]);
	if (rc) {
		close(fd[0]);
		return error_errno(err, rc, "%s", argv[0]);
	}
	rc = read_answer(fd[0], argv[0], limit, ms, out, err);
	close(fd[0]);
	if (rc < 0)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc < 0)
		return rc;
	if (!WIFEXITED(status))
		return error_set(err, ERR_IO, "%s died of signal %d", argv[0],
				 WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* Returns an environment without git's own variables: git(1) has dozens that
 * name programs, folders and settings (GIT_CONFIG_COUNT …). */
static char **make_env(void)
{
	static const char *const own[] = {
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",
	};
	enum { OWN = COUNT(own) };
	size_t n = 0, k = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = malloc((n + OWN + 1) * sizeof(*env));
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(environ[i], "GIT_", 4) != 0)
			env[k++] = environ[i];
	for (size_t i = 0; env && i < OWN; i++)
		env[k++] = (char *)own[i];
	if (env)
		env[k] = NULL;
	return env;
}

int git_ask_in(int dir, const char *const *words, size_t n, size_t limit,
	       int ms, struct buf *out, struct error *err)
{
	static const char *const first[] = {
		"git", "--no-pager", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=/dev/null", "-c", "log.showSignature=false",
	};
	enum { FIRST = COUNT(first) };
	char *argv[FIRST + WORDS_MAX + 1];
	char **env = make_env();
	size_t k = 0;
	int rc;

	if (!env)
		return error_set(err, ERR_NOMEM, "out of memory to ask git");
	for (size_t i = 0; i < FIRST; i++)
		argv[k++] = (char *)first[i];
	for (size_t i = 0; i < n && i < WORDS_MAX; i++)
		argv[k++] = (char *)words[i];
	argv[k] = NULL;
	rc = child_run(dir, argv, env, limit, ms, out, err);
	free(env);
	return rc;
}

int git_ask(const char *dir, const char *const *words, size_t n, size_t limit,
	    int ms, struct buf *out, struct error *err)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return error_errno(err, errno, "%s", dir);
	rc = git_ask_in(fd, words, n, limit, ms, out, err);
	close(fd);
	return rc;
}
