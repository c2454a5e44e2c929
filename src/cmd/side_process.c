// SPDX-License-Identifier: GPL-2.0-or-later
/* A process that works beside a command: see late_names.h. */
#include "cmd/late_names.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

enum { STEP_MS = 20 };

static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
}

/* The command's handlers restore a terminal, which is not that of this process.  SIGINT
 * stays pending only if its action is the default one, which shells change for commands
 * in the background. */
static void leave_handlers(void)
{
	static const int handled[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP,
				       SIGWINCH, SIGABRT };

	for (size_t i = 0; i < COUNT(handled); i++)
		signal(handled[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGINT);
}

int side_start(struct side *s, side_work *work, void *ctx, struct error *err)
{
	sigset_t all, before;
	int fds[2];

	*s = (struct side){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return error_errno(err, errno, "socketpair");
	/* no signal may reach the command's handlers in the new process */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	s->pid = fork();
	if (s->pid == 0) {
		close(fds[0]);
		leave_terminal();
		leave_handlers();
		sigaddset(&before, SIGINT);
		sigprocmask(SIG_SETMASK, &before, NULL);
		work(ctx, fds[1]);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fds[1]);
	s->fd = fds[0];
	if (s->pid > 0)
		return 0;
	close(fds[0]);
	*s = (struct side){ .fd = -1 };
	return error_errno(err, errno, "fork");
}

bool side_send(int fd, const void *message, size_t n, int pass, bool drop)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .room = { 0 } };
	struct iovec v = { (void *)message, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t sent;

	if (pass >= 0) {
		m.msg_control = control.room;
		m.msg_controllen = sizeof(control.room);
		*CMSG_FIRSTHDR(&m) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &pass, sizeof(pass));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL | (drop ? MSG_DONTWAIT : 0));
	while (sent < 0 && errno == EINTR);
	return sent >= 0 || errno == EAGAIN;
}

static int passed_fd(struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int side_take(struct side *s, void *message, size_t most, int *pass, int ms)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec v = { message, most };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	ssize_t n;

	*pass = -1;
	if (!s->pid)
		return -1;
	if (poll(&p, 1, ms) <= 0)
		return 0;
	n = recvmsg(s->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -1;
	*pass = passed_fd(&m);
	return (int)n;
}

void side_ask_end(const struct side *s)
{
	if (s->pid > 0)
		kill(s->pid, SIGINT);
}

int side_end(struct side *s, int ms)
{
	int status = 0;
	pid_t got = 0;

	if (!s->pid)
		return 0;
	close(s->fd);
	for (; ms > 0; ms -= STEP_MS) {
		got = waitpid(s->pid, &status, WNOHANG);
		if (got)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000 },
			  NULL);
	}
	if (!got) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	*s = (struct side){ .fd = -1 };
	return status;
}
