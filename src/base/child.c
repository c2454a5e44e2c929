// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs helper programs: see child.h. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 65536 };

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

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
	int64_t end = now_ms() + ms;
	size_t left = limit;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t wait = end - now_ms();
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

int child_run(int dir, char *const *argv, char *const *env, size_t limit, int ms,
	      struct buf *out, struct error *err)
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
