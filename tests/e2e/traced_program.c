// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces other processes, and prints what it saw: the same with a tracer of its
 * own as without one.
 *
 *	attach	to all threads of a process that waits, computes and writes
 *	stopped	to a child that stopped itself before exec, as strace does
 *	child	asks for it only when it runs
 *	both	two that attach to each other, and both go on
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 1 << 20 };

static int pipes[4][2];
static int results[4];
static volatile sig_atomic_t ended;

/* Waits that a stop ends with EINTR, unless somebody undoes it. */
static void *wait_epoll(void *arg)
{
	int fd = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN };

	(void)arg;
	epoll_ctl(fd, EPOLL_CTL_ADD, pipes[0][0], &e);
	results[0] = epoll_wait(fd, &e, 1, -1);
	return NULL;
}

static void *wait_signal(void *arg)
{
	struct timespec most = { 60, 0 };
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	results[1] = sigtimedwait(&set, NULL, &most);
	return NULL;
}

static void *write_big(void *arg)
{
	static char text[BIG];

	(void)arg;
	while (results[2] < BIG) {
		ssize_t n = write(pipes[1][1], text, (size_t)(BIG - results[2]));

		if (n <= 0)
			break;
		results[2] += (int)n;
	}
	return NULL;
}

static void *compute(void *arg)
{
	(void)arg;
	while (!ended)
		results[3]++;
	return NULL;
}

static void target(void)
{
	static void *(*const work[])(void *) = { wait_epoll, wait_signal,
						 write_big, compute };
	pthread_t threads[4];
	char text[4096];
	int left = BIG;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	if (write(pipes[2][1], "", 1) != 1 || read(pipes[3][0], text, 1) != 1)
		exit(9);
	if (write(pipes[0][1], "", 1) != 1)
		exit(9);
	kill(getpid(), SIGUSR1);
	while (left > 0) {
		ssize_t n = read(pipes[1][0], text, sizeof(text));

		if (n <= 0)
			break;
		left -= (int)n;
	}
	ended = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("epoll %d, signal %d, written %d, computed %d\n", results[0],
	       results[1] == SIGUSR1, results[2], results[3] != 0);
	exit(0);
}

static int attach_all(pid_t pid)
{
	char path[64];
	int n = 0, refused = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		n++;
		refused += ptrace(PTRACE_SEIZE, atoi(e->d_name), 0, 0) < 0;
	}
	if (d)
		closedir(d);
	printf("%d threads, %d refused\n", n, refused);
	return n;
}

static void attach(void)
{
	struct timespec some = { 0, 50000000 };
	int status, n;
	pid_t pid;
	char c;

	for (int i = 0; i < 4; i++)
		if (pipe(pipes[i]) < 0)
			exit(9);
	pid = fork();
	if (!pid)
		target();
	if (read(pipes[2][0], &c, 1) != 1)
		exit(9);
	nanosleep(&some, NULL);
	n = attach_all(pid);
	fflush(stdout);
	if (write(pipes[3][1], "", 1) != 1)
		exit(9);
	/* Its threads stop for the signal, and end. */
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, 0, (long)WSTOPSIG(status));
		else
			n--;
	}
	printf("%d left, exit %d\n", n, WEXITSTATUS(status));
}

static void stops_of(pid_t pid)
{
	int status = 0, stops = 0;

	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status);

		stops++;
		ptrace(PTRACE_CONT, pid, 0,
		       sig == SIGUSR1 ? (long)SIGUSR1 : 0L);
	}
	/* The kernel may tell of two stops at once. */
	printf("%s, exit %d\n", stops ? "stops" : "no stop", WEXITSTATUS(status));
}

static void stopped(const char *self)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		kill(getpid(), SIGSTOP);
		execl(self, self, "end", NULL);
		_exit(9);
	}
	waitpid(pid, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) < 0)
		puts("refused");
	kill(pid, SIGCONT);
	stops_of(pid);
}

static void child(const char *self)
{
	pid_t pid = fork();

	if (!pid) {
		execl(self, self, "ask", NULL);
		_exit(9);
	}
	stops_of(pid);
}

static void both(void)
{
	pid_t pid, other = getpid();
	int status, refused;

	if (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0)
		exit(9);
	pid = fork();
	if (pid)
		other = pid;
	if (write(pipes[pid != 0][1], "", 1) != 1 ||
	    read(pipes[pid == 0][0], &status, 1) != 1)
		exit(9);
	refused = ptrace(PTRACE_SEIZE, other, 0, 0) < 0;
	if (!pid)
		_exit(refused);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, 0, 0);
	/* Who is refused is a matter of luck. */
	puts(WIFEXITED(status) ? "both ended" : "killed");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "attach"))
		attach();
	else if (!strcmp(what, "stopped"))
		stopped(argv[0]);
	else if (!strcmp(what, "child"))
		child(argv[0]);
	else if (!strcmp(what, "both"))
		both();
	else if (!strcmp(what, "end"))
		return 3;
	else if (!strcmp(what, "ask")) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			return 9;
		signal(SIGUSR1, SIG_IGN);
		raise(SIGUSR1);
		return 4;
	} else {
		return 9;
	}
	return 0;
}
