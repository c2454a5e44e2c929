// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals: actions, masks, waiting, SIGPROF and timers of the program's own. */
#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t profs, alarms, queued, notified;

static void on_prof(int sig) { (void)sig; profs++; }
static void on_alarm(int sig) { (void)sig; alarms++; }
static void on_queued(int sig, siginfo_t *si, void *context)
{
	(void)sig;
	(void)context;
	queued += si->si_value.sival_int;
}

static void show_actions(void)
{
	struct sigaction a;

	for (int s = 1; s <= SIGRTMAX; s++) {
		int r = sigaction(s, NULL, &a);

		if (r < 0)
			printf("action %d: errno %d\n", s, errno);
		else if (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN)
			printf("action %d: flags %x\n", s,
			       (unsigned int)a.sa_flags);
	}
}

static void show_mask(const char *name)
{
	sigset_t set;
	int n = 0;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int s = 1; s <= SIGRTMAX; s++)
		n += sigismember(&set, s) == 1;
	printf("%s: %d blocked", name, n);
	sigpending(&set);
	n = 0;
	for (int s = 1; s <= SIGRTMAX; s++)
		n += sigismember(&set, s) == 1;
	printf(", %d pending\n", n);
}

/* All are blocked while it works; SIGUSR1 and a timeout are waited for. */
static void wait_for_signals(void)
{
	struct timespec soon = { 0, 3000000 };
	sigset_t all, before;
	siginfo_t si;
	int sig, fd;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	burn_ms(10);
	show_mask("blocked");
	raise(SIGUSR1);
	sig = -1;
	sigwait(&all, &sig);
	printf("sigwait: %d\n", sig);
	for (int i = 0; i < 3; i++) {
		burn_ms(3);
		sig = sigtimedwait(&all, &si, &soon);
		printf("sigtimedwait: %d %s\n", sig, sig < 0 && errno == EAGAIN
		       ? "EAGAIN" : "other");
	}
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	burn_ms(10);
	printf("signalfd: %zd\n", read(fd, &si, sizeof(si)));
	close(fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
	show_mask("restored");
}

/* SIGPROF of the program's own, as a profiler in it would. */
static void own_prof(void)
{
	struct itimerval fast = { { 0, 1000 }, { 0, 1000 } }, none = { 0 };
	struct sigaction a = { .sa_handler = on_prof, .sa_flags = SA_RESTART };

	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &fast, NULL);
	while (profs < 5)
		burn_ms(1);
	setitimer(ITIMER_PROF, &none, NULL);
	printf("SIGPROF: came\n");
	signal(SIGPROF, SIG_DFL);
}

static void on_thread(union sigval v)
{
	notified = v.sival_int;
}

static void own_timers(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
			       .sigev_signo = SIGRTMIN + 5 };
	struct sigaction a = { .sa_handler = on_alarm };
	struct itimerspec once = { { 0, 0 }, { 0, 1000000 } };
	timer_t t;

	alarms = 0;
	sigaction(SIGRTMIN + 5, &a, NULL);
	timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &t);
	timer_settime(t, 0, &once, NULL);
	while (!alarms)
		burn_ms(1);
	timer_delete(t);
	printf("timer of its own: %d\n", (int)alarms);
	memset(&ev, 0, sizeof(ev));
	ev.sigev_notify = SIGEV_THREAD;
	ev.sigev_notify_function = on_thread;
	ev.sigev_value.sival_int = 17;
	timer_create(CLOCK_MONOTONIC, &ev, &t);
	timer_settime(t, 0, &once, NULL);
	while (!notified)
		burn_ms(1);
	timer_delete(t);
	printf("timer with a thread: %d\n", (int)notified);
}

static void check_errno(void)
{
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		errno = 1234;
		burn_ms(1);
		bad += errno != 1234;
	}
	printf("errno: %d times changed\n", bad);
}

/* Programs that start from nothing: they reset each signal by the bare call. */
static void reset_all(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} none = { 0 };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (int i = 1; i <= 64; i++)
			syscall(SYS_rt_sigaction, i, &none, NULL, 8);
		burn_ms(30);
		_exit(8);
	}
	show_child("all signals reset", pid);
}

/* A child that the kernel gives no handlers. */
static void without_handlers(void)
{
	uint64_t args[8] = { 0x100000000 /* CLONE_CLEAR_SIGHAND */, 0, 0, 0,
			     SIGCHLD };
	long pid, r;

	fflush(stdout);
	pid = syscall(SYS_clone3, args, sizeof(args));
	if (!pid) {
		burn_ms(30);
		_exit(9);
	}
	if (pid > 0)
		show_child("without handlers", (int)pid);
	r = syscall(SYS_clone3, (void *)16, sizeof(args));
	printf("clone3 of nothing: %ld %d\n", r, errno);
}

/* A name that ends with its page. */
static void name_at_end(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), is[16] = "";

	mprotect(m + page, (size_t)page, PROT_NONE);
	memcpy(m + page - 15, "fifteen-letters", 15);
	printf("name: %d", prctl(PR_SET_NAME, m + page - 15));
	prctl(PR_GET_NAME, is);
	printf(" %s\n", is);
	prctl(PR_SET_NAME, "torture");
	munmap(m, 2 * (size_t)page);
}

void torture_signals(void)
{
	struct sigaction a = { .sa_sigaction = on_queued,
			       .sa_flags = SA_SIGINFO };
	union sigval v = { .sival_int = 3 };

	show_actions();
	show_mask("begin");
	wait_for_signals();
	own_prof();
	own_timers();
	sigaction(SIGRTMAX, &a, NULL);
	for (int i = 0; i < 4; i++)
		sigqueue(getpid(), SIGRTMAX, v);
	printf("queued: %d\n", (int)queued);
	check_errno();
	reset_all();
	without_handlers();
	name_at_end();
	show_actions();
}
