// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What job control does (signal(7), "Interruption of system calls … by stop
 * signals"), and signals that are ignored, which interrupt nothing.
 */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *word(long r)
{
	if (r >= 0)
		return r ? "more" : "0";
	return errno == EINTR ? "EINTR" : errno == EAGAIN ? "EAGAIN" : "other";
}

static void wait_for(int pid, int options, const char *name)
{
	int status = 0;

	if (waitpid(pid, &status, options) != pid)
		printf("%s: errno %d\n", name, errno);
	else if (WIFSTOPPED(status))
		printf("%s: stopped by %d\n", name, WSTOPSIG(status));
	else if (WIFCONTINUED(status))
		printf("%s: continued\n", name);
	else
		printf("%s: ended, %x\n", name, (unsigned int)status);
}

static void *stays(void *arg)
{
	for (;;)
		burn_ms(5);
	return arg;
}

/* One that works in three threads. */
static int worker(void)
{
	pthread_t t;
	int pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	/* If the program is killed, no child goes on for ever. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&t, NULL, stays, NULL);
	pthread_create(&t, NULL, stays, NULL);
	stays(NULL);
	_exit(1);
}

static void job_control(void)
{
	static const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	int pid = worker();

	/* In a group of its own, that is not orphaned: we are its parent. */
	setpgid(pid, 0);
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		kill(pid, stops[i]);
		waitpid(pid, NULL, WUNTRACED | WNOWAIT);
		wait_for(pid, WUNTRACED, "worker");
		burn_ms(2);
		printf("then %d\n", waitpid(pid, NULL, WNOHANG | WUNTRACED));
		kill(pid, SIGCONT);
		wait_for(pid, WCONTINUED, "worker");
		burn_ms(3);
	}
	kill(pid, SIGSTOP);
	wait_for(pid, WUNTRACED, "worker");
	kill(pid, SIGKILL);
	wait_for(pid, 0, "worker");
	pid = worker();
	burn_ms(5);
	for (int i = 0; i < 50; i++) {
		kill(pid, SIGSTOP);
		kill(pid, SIGCONT);
	}
	kill(pid, SIGTERM);
	kill(pid, SIGCONT);
	waitpid(pid, NULL, WUNTRACED | WNOWAIT);
	wait_for(pid, 0, "worker");
}

enum { LIMIT_MS = 40, NEVER_MS = 20000, SLEEP = 4 };

static int waits(int which, int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	struct sembuf op = { 0, -1, 0 };
	struct epoll_event e;
	sigset_t usr2;
	int fd, pair[2], r;
	char byte;

	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	switch (which) {
	case 0:
		fd = epoll_create1(EPOLL_CLOEXEC);
		r = epoll_wait(fd, &e, 1, ms);
		close(fd);
		return r;
	case 1:
		return sigtimedwait(&usr2, NULL, &t);
	case 2:
		fd = semget(IPC_PRIVATE, 1, 0600);
		r = semtimedop(fd, &op, 1, &t);
		which = errno;
		semctl(fd, 0, IPC_RMID);
		errno = which;
		return r;
	case 3:
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			return 5;
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO,
			   &(struct timeval){ ms / 1000, ms % 1000 * 1000 },
			   sizeof(struct timeval));
		r = (int)recv(pair[0], &byte, 1, 0);
		which = errno;
		close(pair[0]);
		close(pair[1]);
		errno = which;
		return r;
	case SLEEP:
		return nanosleep(&t, &t);
	default:
		fd = epoll_create1(EPOLL_CLOEXEC);
		r = epoll_pwait(fd, &e, 1, ms, &usr2);
		close(fd);
		return r;
	}
}

enum { WAITS = 6 };

/* Until it sleeps. */
static void until_asleep(int pid)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (;;) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		char *p;

		close(fd);
		text[n > 0 ? n : 0] = 0;
		p = strrchr(text, ')');
		if (!p || strchr("SZX", p[2]))
			return;
		usleep(1000);
	}
}

/* A child that waits gets the signals: what has become of the wait? */
static void disturb(int which, const int *signals, size_t n)
{
	/* Only a sleep goes on after a stop. */
	int ms = *signals == SIGSTOP && which != SLEEP ? NEVER_MS : LIMIT_MS;
	struct timespec from, to;
	int ready[2], pid, r;
	char byte = 0;

	if (pipe(ready) < 0)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		signal(SIGUSR1, SIG_IGN);
		if (write(ready[1], "", 1) < 1)
			_exit(1);
		clock_gettime(CLOCK_MONOTONIC, &from);
		r = waits(which, ms);
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("wait %d: %s, ", which, word(r));
		printf("%s\n", r < 0 && errno == EINTR ? "at once" :
		       (to.tv_sec - from.tv_sec) * 1000 +
		       (to.tv_nsec - from.tv_nsec) / 1000000 < LIMIT_MS - 1
		       ? "early" : "in time");
		fflush(stdout);
		_exit(0);
	}
	if (read(ready[0], &byte, 1) < 0)
		printf("no byte\n");
	for (size_t i = 0; i < n; i++) {
		if (!i || signals[i - 1] != SIGSTOP)
			until_asleep(pid);
		kill(pid, signals[i]);
		if (signals[i] == SIGSTOP)
			waitpid(pid, NULL, WUNTRACED);
	}
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
}

static void *execs(void *arg)
{
	execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
	return arg;
}

/* A thread that executes a program becomes the first. */
static void exec_in_thread(void)
{
	pthread_t t;
	int pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t, NULL, stays, NULL);
		burn_ms(3);
		pthread_create(&t, NULL, execs, NULL);
		stays(NULL);
	}
	show_child("exec in a thread", pid);
}

void torture_stops(void)
{
	static const int stop[] = { SIGSTOP, SIGCONT };
	static const int ignored[] = { SIGCHLD, SIGUSR1, SIGWINCH, SIGCONT };

	job_control();
	for (int i = 0; i < WAITS; i++) {
		printf("stopped and continued: ");
		disturb(i, stop, 2);
		printf("ignored signals: ");
		disturb(i, ignored, 4);
	}
	exec_in_thread();
}
