// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int read_retry(int fd, void *p, size_t n)
{
	ssize_t r;

	do
		r = read(fd, p, n);
	while (r < 0 && errno == EINTR);
	return (int)r;
}

/* Runs in the child; _exit keeps our buffers and handlers out of it. */
static _Noreturn void child_main(char *const argv[],
				 const struct launch_state *before, int go,
				 int status)
{
	char word;
	int e;

	if (read_retry(go, &word, 1) != 1)
		_exit(0);
	setrlimit(RLIMIT_NOFILE, &before->files);
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
	/* What is not let go ends by itself. */
	while (write(l->go, "", 1) < 0 && errno == EINTR)
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

bool launch_poll(struct launch *l)
{
	if (l->pid && !l->ended &&
	    wait4(l->pid, &l->wait_status, WNOHANG, &l->usage) == l->pid)
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
	while (!l->ended) {
		pid_t p = wait4(l->pid, &l->wait_status, 0, &l->usage);

		if (p == l->pid || (p < 0 && errno != EINTR))
			l->ended = true;
	}
}
