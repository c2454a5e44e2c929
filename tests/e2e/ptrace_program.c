// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does what tracers get wrong, and prints what it saw: the same with and
 * without one.  With an argument: `spin SECONDS` works so long, three quarters
 * of it in work_long; `calls SECONDS` half in system calls; `naps SECONDS` in
 * each of four threads that sleep in between.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 150, THREADS = 200 };

static volatile unsigned int sink;
static volatile sig_atomic_t signals;

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double wall_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of a round.  Rounds of one size can be in step with a clock that samples them. */
static volatile unsigned int size = 100000;

static void next_size(void)
{
	static unsigned int seed = 1;

	seed = seed * 1103515245 + 12345;
	size = 50000 + (seed >> 8) % 100000;
}

/* A chain of multiplications, whose time depends on neither memory nor alignment. */
#define CHAIN(n)							\
	do {								\
		unsigned int x = 1, end = (n);				\
									\
		for (unsigned int i = 0; i < end; i++) {		\
			x = x * 3 + i;					\
			__asm__ volatile("" : "+r"(x));			\
		}							\
		sink = x;						\
	} while (0)

__attribute__((noinline)) void work_long(void)
{
	CHAIN(3 * size);
}

__attribute__((noinline)) void work_short(void)
{
	CHAIN(size);
}

static void spin(double seconds)
{
	double end = cpu_time() + seconds;

	do {
		next_size();
		work_long();
		work_short();
	} while (cpu_time() < end);
}

/* As long in the kernel as outside of it. */
static void calls(double seconds)
{
	double end = cpu_time() + seconds;
	char zeros[65536];

	do {
		double from = cpu_time(), took;

		for (int i = 0; i < 4; i++)
			sink += (unsigned int)syscall(SYS_getrandom, zeros,
						      sizeof(zeros), 0);
		took = cpu_time() - from;
		for (from = cpu_time(); cpu_time() < from + took;)
			work_short();
	} while (cpu_time() < end);
}

static void count(int signo)
{
	(void)signo;
	signals = signals + 1;
}

static void *spin_thread(void *p)
{
	spin(*(double *)p);
	return NULL;
}

static void *exec_thread(void *p)
{
	execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
	return p;
}

static void stops(void)
{
	int status;
	pid_t p = fork();

	if (!p) {
		spin(0.03);
		raise(SIGSTOP);
		spin(0.03);
		_exit(9);
	}
	waitpid(p, &status, WUNTRACED);
	printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
	usleep(30000);
	printf("still %d\n", (int)waitpid(p, &status, WNOHANG | WUNTRACED));
	kill(p, SIGCONT);
	waitpid(p, &status, 0);
	printf("then exit %d\n", WEXITSTATUS(status));
	p = fork();
	if (!p)
		spin(60);
	usleep(20000);
	kill(p, SIGSEGV);
	waitpid(p, &status, 0);
	printf("ended by %d\n", WTERMSIG(status));
}

static void programs(void)
{
	double seconds = 60;
	pthread_t t;
	int status;
	pid_t p = fork();

	if (!p) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t, NULL, spin_thread, &seconds);
		spin(0.02);
		pthread_create(&t, NULL, exec_thread, NULL);
		spin(60);
	}
	waitpid(p, &status, 0);
	printf("exec of a thread: exit %d\n", WEXITSTATUS(status));
	p = vfork();
	if (!p) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(1);
	}
	waitpid(p, &status, 0);
	printf("vfork: exit %d\n", WEXITSTATUS(status));
}

static void threads(void)
{
	double little = 0.0003;
	int bad = 0;

	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, spin_thread, &little) ||
		    pthread_join(t, NULL))
			bad++;
	}
	printf("threads: %d bad\n", bad);
}

/* A call that waits for a millisecond may end neither sooner nor otherwise. */
static void waits(void)
{
	struct timespec ms = { 0, 1000000 };
	int poll_fd = epoll_create1(0), sem = semget(IPC_PRIVATE, 1, 0600);
	struct sembuf op = { 0, -1, 0 };
	int interrupted = 0, early = 0;
	struct epoll_event ev;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	for (int i = 0; i < ROUNDS; i++) {
		double from = wall_time();

		interrupted += epoll_wait(poll_fd, &ev, 1, 1) < 0;
		early += wall_time() - from < 0.0009;
		spin(0.0007);
		interrupted += sigtimedwait(&set, NULL, &ms) < 0 &&
			       errno != EAGAIN;
		spin(0.0007);
		interrupted += semtimedop(sem, &op, 1, &ms) < 0 &&
			       errno != EAGAIN && errno != EINVAL;
		spin(0.0007);
		from = wall_time();
		interrupted += nanosleep(&ms, NULL) < 0;
		early += wall_time() - from < 0.001;
		spin(0.0007);
	}
	semctl(sem, 0, IPC_RMID);
	printf("waits: %d interrupted, %d early\n", interrupted, early);
}

/* Its own signals still interrupt. */
static void own_signals(void)
{
	struct sigaction sa = { .sa_handler = count };
	struct epoll_event ev;
	int fd = epoll_create1(0), status, ended;
	pid_t p;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGPROF, &sa, NULL);
	p = fork();
	if (!p) {
		for (int i = 0; i < 20; i++) {
			usleep(5000);
			kill(getppid(), SIGUSR1);
		}
		_exit(0);
	}
	ended = epoll_wait(fd, &ev, 1, 60000);
	printf("a signal ends a wait: %d %d\n", ended, errno == EINTR);
	while (waitpid(p, &status, 0) < 0)
		;
	for (int i = 0; i < 1000; i++)
		raise(SIGPROF);
	printf("all signals came: %d\n", signals >= 1001);
}

static void *nap(void *seconds)
{
	double end = cpu_time() + *(double *)seconds;

	do {
		usleep(500);
		work_long();
	} while (cpu_time() < end);
	return NULL;
}

/* Threads that wake up often, for about half a millisecond. */
static void naps(double seconds)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, nap, &seconds);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2 && !strcmp(argv[1], "spin")) {
		spin(atof(argv[2]));
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "calls")) {
		calls(atof(argv[2]));
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "naps")) {
		naps(atof(argv[2]));
		return 0;
	}
	stops();
	programs();
	threads();
	waits();
	own_signals();
	kill(getpid(), SIGTERM);
	return 7;
}
