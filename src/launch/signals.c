// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles signals, limits and terminal of a process that watches a command. */
#include "launch/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/vec.h"
#include "launch/proc_read.h"

enum { ANCESTORS_MAX = 10000 };

void signals_add_foreign(sigset_t *set)
{
	static const int foreign[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM,
				       SIGPROF, SIGIO, SIGPWR,
#ifdef SIGSTKFLT
				       SIGSTKFLT,
#endif
	};

	for (size_t i = 0; i < COUNT(foreign); i++)
		sigaddset(set, foreign[i]);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		sigaddset(set, i);
}

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
	for (size_t i = 0; i < COUNT(caught); i++)
		sigaddset(&set, caught[i]);
	signals_add_foreign(&set);
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

/* Returns whether an alarm(2) ran out.  It continues in the program that execve(2)
 * starts, but not in its children. */
static bool is_alarm(const struct signalfd_siginfo *si)
{
	return si->ssi_signo == SIGALRM && si->ssi_code == SI_KERNEL;
}

/* Returns whether a program is the command or was started by it.  A program that has
 * ended, or whose parent has, is not recognized. */
static bool is_of_command(uint32_t pid, pid_t command)
{
	for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
		if (pid == (uint32_t)command)
			return true;
		pid = proc_parent(pid);
	}
	return false;
}

bool signal_ends(const struct signalfd_siginfo *si, pid_t command)
{
	switch (si->ssi_signo) {
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
	case SIGQUIT:
		return !command || si->ssi_code > 0 ||
		       !is_of_command(si->ssi_pid, command);
	default:
		return is_alarm(si);
	}
}

bool signal_is_ours(const struct signalfd_siginfo *si)
{
	/* A closed terminal notifies only the first process of its session. */
	if (si->ssi_signo == SIGHUP && getsid(0) == getpid())
		return true;
	return si->ssi_code <= 0 || is_alarm(si);
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
			if (signal_ends(&si, l->pid))
				kill(l->pid, SIGKILL);
	}
}
