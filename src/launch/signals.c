// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles signals, limits and terminal of a process that watches a command. */
#include "launch/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

void limits_raise(struct launch_state *before)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction normal = { .sa_handler = SIG_DFL };
	struct rlimit l;

	getrlimit(RLIMIT_NOFILE, &before->files);
	l = before->files;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
	sigaction(SIGXFSZ, &ignore, &before->xfsz);
	/* A process that ignores SIGCHLD cannot learn how a child ended. */
	sigaction(SIGCHLD, &normal, &before->chld);
}

int signals_catch(struct launch_state *before, int *fd, struct error *err)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				      SIGCHLD };
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	/* nohup(1) */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler == SIG_IGN)
		sigdelset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before->mask);
	*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*fd < 0)
		return error_errno(err, errno, "signalfd");
	return 0;
}

void signals_release(const struct launch_state *before, int fd)
{
	struct signalfd_siginfo si;

	if (fd < 0)
		return;
	/* The signals that ended the recording must not end tally afterwards. */
	while (read(fd, &si, sizeof(si)) == sizeof(si))
		;
	close(fd);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

bool signal_is_ours(const struct signalfd_siginfo *si)
{
	/* A closed terminal notifies only the first process of its session. */
	if (si->ssi_signo == SIGHUP && getsid(0) == getpid())
		return true;
	return si->ssi_code <= 0;
}

void signals_end_command(struct launch *l, int fd)
{
	enum { ROUND_MS = 200 };
	struct pollfd p = { fd, POLLIN, 0 };
	struct signalfd_siginfo si;

	if (!l->pid || launch_poll(l))
		return;
	kill(l->pid, SIGTERM);
	while (!launch_poll(l)) {
		poll(&p, 1, ROUND_MS);
		while (read(p.fd, &si, sizeof(si)) == sizeof(si))
			if (si.ssi_signo != SIGCHLD)
				kill(l->pid, SIGKILL);
	}
}
