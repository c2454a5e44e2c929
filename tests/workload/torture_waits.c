// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls that end with EINTR when any signal is handled, in spite of
 * SA_RESTART (signal(7)).  Without a signal of the program's own none may; with
 * one, each must.
 */
#include "torture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static int epoll_fd, pair[2];
static sem_t nobody;

static struct timespec in_ns(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += ns / 1000000000;
	t.tv_nsec += ns % 1000000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static int wait_poll(long ns)
{
	return poll(NULL, 0, (int)(ns / 1000000));
}

static int wait_ppoll(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	return ppoll(NULL, 0, &t, NULL);
}

static int wait_select(long ns)
{
	struct timeval t = { ns / 1000000000, ns % 1000000000 / 1000 };

	return select(0, NULL, NULL, NULL, &t);
}

static int wait_epoll(long ns)
{
	struct epoll_event e;

	return epoll_wait(epoll_fd, &e, 1, (int)(ns / 1000000));
}

static int wait_nanosleep(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	return nanosleep(&t, NULL);
}

static int wait_sleep_left(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 }, left;

	return nanosleep(&t, &left);
}

static int wait_clock(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	int r = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);

	errno = r;
	return r ? -1 : 0;
}

static int wait_sem(long ns)
{
	struct timespec t = in_ns(ns);

	return sem_timedwait(&nobody, &t);
}

static int wait_recv(long ns)
{
	/* 0 would be for ever. */
	struct timeval t = { ns / 1000000000, ns % 1000000000 / 1000 + 1 };
	char byte;

	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	return (int)recv(pair[0], &byte, 1, 0);
}

static int wait_signal(long ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	sigset_t usr2;

	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	return sigtimedwait(&usr2, NULL, &t);
}

static const struct {
	const char *name;
	int (*wait)(long ns);
} waits[] = {
	{ "poll", wait_poll }, { "ppoll", wait_ppoll },
	{ "select", wait_select }, { "epoll_wait", wait_epoll },
	{ "nanosleep", wait_nanosleep }, { "nanosleep left", wait_sleep_left },
	{ "clock_nanosleep", wait_clock }, { "sem_timedwait", wait_sem },
	{ "recv", wait_recv }, { "sigtimedwait", wait_signal },
};

/* Little else than these calls: a tick is likely to find the thread on its way
 * into one. */
static void undisturbed(void)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		int broken = 0;

		for (int k = 0; k < ROUNDS; k++) {
			errno = 0;
			if (waits[i].wait(k % 64 ? 0 : 1000000) < 0)
				broken += errno == EINTR;
		}
		printf("%s: %d times EINTR\n", waits[i].name, broken);
	}
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

static void disturbed(void)
{
	struct sigaction a = { .sa_handler = on_alarm };
	/* Again, if the first came before the wait had begun. */
	struct itimerval soon = { { 0, 50000 }, { 0, 2000 } }, none = { 0 };

	sigaction(SIGALRM, &a, NULL);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		int r;

		setitimer(ITIMER_REAL, &soon, NULL);
		r = waits[i].wait(5000000000);
		setitimer(ITIMER_REAL, &none, NULL);
		printf("%s: %s\n", waits[i].name,
		       r < 0 && errno == EINTR ? "EINTR" : "other");
	}
	setitimer(ITIMER_REAL, &soon, NULL);
	printf("pause: %d %s\n", pause(), errno == EINTR ? "EINTR" : "other");
	setitimer(ITIMER_REAL, &none, NULL);
	printf("alarms: %s\n", alarms > 10 ? "all" : "too few");
	signal(SIGALRM, SIG_DFL);
}

static void *works(void *arg)
{
	(void)arg;
	burn_ms(30);
	return NULL;
}

/* Sleeps are as long as they were, however much another thread works. */
static void slept(void)
{
	struct timespec a, b;
	pthread_t t;
	int short_ones = 0;

	pthread_create(&t, NULL, works, NULL);
	for (int i = 0; i < 10; i++) {
		int64_t us;

		clock_gettime(CLOCK_MONOTONIC, &a);
		poll(NULL, 0, 2);
		clock_gettime(CLOCK_MONOTONIC, &b);
		us = (b.tv_sec - a.tv_sec) * 1000000 +
		     (b.tv_nsec - a.tv_nsec) / 1000;
		short_ones += us < 1900;
	}
	pthread_join(t, NULL);
	printf("sleeps: %d too short\n", short_ones);
}

void torture_waits(void)
{
	epoll_fd = epoll_create1(0);
	sem_init(&nobody, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return;
	undisturbed();
	disturbed();
	slept();
	close(epoll_fd);
	close(pair[0]);
	close(pair[1]);
}
