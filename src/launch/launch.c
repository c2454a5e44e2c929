// SPDX-License-Identifier: GPL-2.0-or-later
/* Forks the command, holds it until recording is ready, and reaps it. */
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/priority.h"

enum { SETTINGS_MAX = 1024 };	/* bytes of variables; less than PIPE_BUF */

static int read_retry(int fd, void *p, size_t n)
{
	ssize_t r;

	do
		r = read(fd, p, n);
	while (r < 0 && errno == EINTR);
	return (int)r;
}

/* Reads what launch_start wrote: a byte, and NAME=VALUE strings up to the end.
 * Returns false if nothing was written. */
static bool take_settings(int go)
{
	static const char preload[] = "LD_PRELOAD=";
	char text[SETTINGS_MAX + 1], more[PATH_MAX];
	const char *list = getenv("LD_PRELOAD");
	size_t n = 0;
	int r;

	while (n < SETTINGS_MAX &&
	       (r = read_retry(go, text + n, SETTINGS_MAX - n)) > 0)
		n += (size_t)r;
	text[n] = 0;
	/* Put it at the end, where the timer library can remove it. */
	if (n && strstr(text + 1, preload) == text + 1)
		unsetenv("LD_PRELOAD");
	for (size_t i = 1; i < n; i += strlen(text + i) + 1) {
		/* Put it before the user's libraries. */
		if (list && !strncmp(text + i, preload,
					      sizeof(preload) - 1)) {
			snprintf(more, sizeof(more), "%s:%s", text + i, list);
			putenv(strdup(more));
		} else {
			putenv(strdup(text + i));
		}
	}
	return n > 0;
}

/* Runs in the child, and ends with _exit to keep tally's buffers and handlers out. */
static _Noreturn void child_main(char *const argv[],
				 const struct launch_state *before, int go,
				 int status)
{
	int e;

	/* Permit tracing by tally's other children where only ancestors may trace
	 * (Yama). */
	prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
	if (!take_settings(go))
		_exit(0);
	setrlimit(RLIMIT_NOFILE, &before->files);
	priority_set(before->nice_value);
	sigaction(SIGXFSZ, &before->xfsz, NULL);
	sigaction(SIGCHLD, &before->chld, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
	execvp(argv[0], argv);
	e = errno;
	if (write(status, &e, sizeof(e)) < 0)
		_exit(125);
	_exit(e == ENOENT ? 127 : 126);
}

int launch_prepare(struct launch *l, char *const argv[],
		   const struct launch_state *before, struct error *err)
{
	int go[2], status[2];

	memset(l, 0, sizeof(*l));
	if (pipe2(go, O_CLOEXEC) < 0)
		return error_errno(err, errno, "cannot make a pipe");
	if (pipe2(status, O_CLOEXEC) < 0) {
		int e = errno;

		close(go[0]);
		close(go[1]);
		return error_errno(err, e, "cannot make a pipe");
	}
	l->pid = fork();
	if (!l->pid) {
		close(go[1]);
		close(status[0]);
		child_main(argv, before, go[0], status[1]);
	}
	close(go[0]);
	close(status[1]);
	l->go = go[1];
	l->status_fd = status[0];
	if (l->pid < 0) {
		int e = errno;

		l->pid = 0;
		close(l->go);
		close(l->status_fd);
		return error_errno(err, e, "cannot fork");
	}
	return 0;
}

void launch_start(struct launch *l)
{
	char text[SETTINGS_MAX] = { 0 };
	size_t n = 1;

	for (const char *const *e = l->env; e && *e; e++) {
		size_t len = strlen(*e) + 1;

		if (len > sizeof(text) - n)
			break;
		memcpy(text + n, *e, len);
		n += len;
	}
	/* A child that is not released ends by itself. */
	while (write(l->go, text, n) < 0 && errno == EINTR)
		;
	close(l->go);
	l->go = -1;
}

int launch_started(struct launch *l, const char *name, struct error *err)
{
	int e = 0, n = read_retry(l->status_fd, &e, sizeof(e));

	close(l->status_fd);
	l->status_fd = -1;
	if (n == sizeof(e))
		return error_errno(err, e, "cannot run \"%s\"", name);
	return 0;
}

int launch_go(struct launch *l, const char *name, struct error *err)
{
	launch_start(l);
	return launch_started(l, name, err);
}

/* Reads how much a process has written, if the kernel counts it.  A process that has
 * ended keeps its count until it is waited for. */
static void read_written(struct launch *l)
{
	char path[64], text[512], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)l->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	at = strstr(text, "wchar: ");
	if (!at)
		return;
	l->written = strtoull(at + 7, NULL, 10);
	l->written_known = true;
}

/* Takes the status of the child, if it has ended; `wait` is WNOHANG or 0.  Returns
 * false if there is nothing yet. */
static bool reap(struct launch *l, int wait)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOWAIT | wait) == 0 &&
	    info.si_pid == l->pid)
		read_written(l);
	return wait4(l->pid, &l->wait_status, wait, &l->usage) == l->pid;
}

bool launch_poll(struct launch *l)
{
	if (l->pid && !l->ended && reap(l, WNOHANG))
		l->ended = true;
	return l->ended;
}

void launch_end(struct launch *l)
{
	if (!l->pid)
		return;
	if (l->go >= 0)
		close(l->go);
	if (l->status_fd >= 0)
		close(l->status_fd);
	l->go = l->status_fd = -1;
	while (!l->ended)
		if (reap(l, 0) || errno != EINTR)
			l->ended = true;
}
