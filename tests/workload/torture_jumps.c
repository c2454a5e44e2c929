// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks: jumps out of handlers, alternate ones, overflow, contexts. */
#include "torture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SMALL = 16384, ALTERNATE = 32768, JUMPS = 8 };

static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void jump(int sig)
{
	/* The timer's last may come before it is taken away. */
	if (sig == SIGVTALRM && jumps >= JUMPS)
		return;
	jumps++;
	siglongjmp(back, sig);
}

static void jump_out(void)
{
	struct itimerval fast = { { 0, 500 }, { 0, 500 } }, none = { 0 };
	struct sigaction a = { .sa_handler = jump };
	volatile char *nowhere = mmap(NULL, 4096, PROT_NONE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGVTALRM, &a, NULL);
	sigaction(SIGSEGV, &a, NULL);
	setitimer(ITIMER_VIRTUAL, &fast, NULL);
	while (jumps < JUMPS)
		if (!sigsetjmp(back, 1))
			for (;;)
				burn_ms(1);
	setitimer(ITIMER_VIRTUAL, &none, NULL);
	printf("jumps: %d\n", (int)jumps);
	jumps = 0;
	for (volatile int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
	printf("faults: %d\n", (int)jumps);
	signal(SIGVTALRM, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
}

/* Small alternate stacks that no signal of the program ever uses. */
static void small_alternate(size_t size)
{
	enum { AROUND = 1 << 15 };
	static unsigned char around[2 * AROUND];
	stack_t s = { .ss_sp = around + AROUND, .ss_size = size };
	size_t changed = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		memset(around, 0xa5, sizeof(around));
		if (sigaltstack(&s, NULL) < 0)
			_exit(9);
		burn_ms(40);
		for (size_t i = 0; i < sizeof(around); i++)
			changed += around[i] != 0xa5;
		s.ss_flags = SS_DISABLE;
		sigaltstack(&s, NULL);
		burn_ms(5);
		_exit(changed ? 1 : 0);
	}
	show_child("small alternate stack", pid);
}

static void on_alternate(int sig)
{
	stack_t now;

	(void)sig;
	burn_ms(10);
	sigaltstack(NULL, &now);
	printf("alternate: flags %d\n", now.ss_flags);
}

static void alternate(void)
{
	stack_t s = { .ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE }, now;
	struct sigaction a = { .sa_handler = on_alternate,
			       .sa_flags = SA_ONSTACK };

	sigaltstack(&s, &now);
	printf("before: flags %d\n", now.ss_flags);
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	s.ss_flags = SS_DISABLE;
	sigaltstack(&s, NULL);
	free(s.ss_sp);
	small_alternate(2048);
	small_alternate((size_t)sysconf(_SC_MINSIGSTKSZ));
}

static void too_deep(int sig)
{
	static const char text[] = "too deep\n";

	(void)sig;
	if (write(1, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(7);
}

/* Each level works, so that samples find it everywhere. */
static int descend(int n)
{
	volatile char room[2048];

	memset((char *)room, n, sizeof(room));
	if (n % 512 == 0)
		burn_ms(1);
	return n < 0 ? n : descend(n + 1) + room[n % 2048];
}

static void overflow(int with_handler)
{
	struct sigaction a = { .sa_handler = too_deep, .sa_flags = SA_ONSTACK };
	struct rlimit small = { 1 << 20, 1 << 20 }, none = { 0, 0 };
	stack_t s = { .ss_sp = malloc(ALTERNATE), .ss_size = ALTERNATE };
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid) {
		show_child("overflow", pid);
		free(s.ss_sp);
		return;
	}
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_STACK, &small);
	if (with_handler) {
		sigaltstack(&s, NULL);
		sigaction(SIGSEGV, &a, NULL);
	}
	_exit(descend(1));
}

static ucontext_t home, away[2];
static int turns;

static void other(void)
{
	while (turns++ < 40) {
		burn_ms(1);
		swapcontext(&away[turns % 2], &away[1 - turns % 2]);
	}
	setcontext(&home);
}

/* Two small stacks that take turns, with nothing below them. */
static void contexts(void)
{
	for (int i = 0; i < 2; i++) {
		char *p = mmap(NULL, SMALL + 4096, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(p + 4096, SMALL, PROT_READ | PROT_WRITE);
		getcontext(&away[i]);
		away[i].uc_stack.ss_sp = p + 4096;
		away[i].uc_stack.ss_size = SMALL;
		away[i].uc_link = &home;
		makecontext(&away[i], other, 0);
	}
	swapcontext(&home, &away[0]);
	printf("turns: %d\n", turns);
}

void torture_jumps(void)
{
	jump_out();
	alternate();
	overflow(1);
	overflow(0);
	contexts();
}
