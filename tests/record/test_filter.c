// SPDX-License-Identifier: GPL-2.0-or-later
/* What a filter of system calls permits, judged by the kernel: random filters are
 * installed in children, which then make the calls. */
#include "../checks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/filter.c"

struct preload preload;

bool memory_is_mapped(struct mapped_page *m, const void *at, size_t n)
{
	(void)m;
	(void)n;
	return (uintptr_t)at >= TIMER_PAGE;
}

enum { PROGRAMS = 1500, LENGTH = 14, CALLS = 4 };

/* Calls that always give a number above 0. */
static const int tried[CALLS] = { SYS_getppid, SYS_getpid, SYS_gettid, SYS_getpgrp };

/* Results of a child, in shared memory, because it may be unable to exit. */
struct results {
	long r[CALLS];
	int installed, made, done;
};

static uint64_t seed = 1;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((seed >> 33) % n);
}

static uint32_t number(void)
{
	static const uint32_t some[] = {
		0, 1, 4, 31, 32, SYS_getppid, SYS_getpid, SYS_gettid,
		SYS_getpgrp, AUDIT_ARCH_X86_64, UINT32_MAX, 0x7fff0000,
	};

	return some[below(sizeof(some) / sizeof(some[0]))];
}

static struct sock_filter load_random(bool *known)
{
	uint32_t at = 4 * below(4 + 12 * (below(4) == 0));

	switch (below(5)) {
	case 0:
		return (struct sock_filter)BPF_STMT(
			(below(2) ? BPF_LD : BPF_LDX) | BPF_IMM, number());
	case 1:
		return (struct sock_filter)BPF_STMT(
			(below(2) ? BPF_LD : BPF_LDX) | BPF_MEM, below(3));
	case 2:
		return (struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_LEN, 0);
	}
	*known &= at <= 4;
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
}

static struct sock_filter random_instruction(size_t left, bool *known)
{
	static const uint16_t alu[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_AND, BPF_OR,
					BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG,
					BPF_DIV };
	static const uint16_t jumps[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };
	uint16_t source = below(2) ? BPF_X : BPF_K;

	switch (below(6)) {
	case 0:
		return (struct sock_filter)BPF_STMT(BPF_ALU | alu[below(10)] | source,
						    number());
	case 1:
		return (struct sock_filter)BPF_STMT(below(2) ? BPF_ST : BPF_STX,
						    below(3));
	case 2:
		return (struct sock_filter)BPF_STMT(
			BPF_MISC | (below(2) ? BPF_TAX : BPF_TXA), 0);
	case 3:
		return below(4) ? (struct sock_filter)BPF_JUMP(
					  BPF_JMP | jumps[below(4)] | source, number(),
					  (uint8_t)below((uint32_t)left),
					  (uint8_t)below((uint32_t)left))
				: (struct sock_filter)BPF_JUMP(
					  BPF_JMP | BPF_JA,
					  below((uint32_t)left), 0, 0);
	}
	return load_random(known);
}

static struct sock_filter random_end(void)
{
	static const uint32_t actions[] = {
		SECCOMP_RET_ALLOW, SECCOMP_RET_ALLOW, SECCOMP_RET_LOG,
		SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ERRNO, SECCOMP_RET_TRACE,
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_TRAP,
	};

	return below(6) ? (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						       actions[below(8)])
			: (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
}

static void child(struct results *r, const struct sock_fprog *p)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, p))
		_exit(0);
	r->installed = 1;
	for (int i = 0; i < CALLS; i++) {
		r->r[i] = sys6(tried[i], 0, 0, 0, 0, 0, 0);
		__atomic_store_n(&r->made, i + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&r->done, 1, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("pause");
}

/* Returns whether the kernel took the filter. */
static bool ask_kernel(struct results *r, const struct sock_fprog *p)
{
	pid_t pid;

	memset(r, 0, sizeof(*r));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(r, p);
	while (!__atomic_load_n(&r->done, __ATOMIC_ACQUIRE) &&
	       waitpid(pid, NULL, WNOHANG) == 0)
		sched_yield();
	if (r->done) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return r->installed;
}

static void kernel_agrees(void **state)
{
	struct results *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sock_filter code[LENGTH + 1];
	size_t judged = 0, permitted = 0;

	(void)state;
	assert_true(r != MAP_FAILED);
	for (int n = 0; n < PROGRAMS; n++) {
		size_t len = 1 + below(LENGTH);
		struct sock_fprog p = { (unsigned short)(len + 1), code };
		bool known = true;

		for (size_t i = 0; i < len; i++)
			code[i] = below(8) ? random_instruction(len - i, &known)
					   : random_end();
		code[len] = random_end();
		if (!ask_kernel(r, &p))
			continue;
		for (int i = 0; i < CALLS && i <= r->made; i++) {
			bool is = i < r->made && r->r[i] > 0;
			bool ours = permits(&p, (uint16_t)tried[i]);

			if (ours && !is)
				fail_msg("filter %d permits call %d, says tally", n,
					 tried[i]);
			if (known && !ours && is)
				fail_msg("filter %d forbids call %d, says tally", n,
					 tried[i]);
			judged++;
			permitted += ours;
		}
	}
	munmap(r, sizeof(*r));
	if (!judged)
		skip_test("filters of system calls are forbidden here");
	assert_in_range(permitted, judged / 20, judged - judged / 20);
}

static void unreadable_filters_permit_nothing(void **state)
{
	struct sock_fprog p = { 4, (struct sock_filter *)16 };

	(void)state;
	assert_false(filter_look(NULL).handler);
	assert_false(filter_look((void *)16).handler);
	assert_false(filter_look(&p).handler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_agrees),
		cmocka_unit_test(unreadable_filters_permit_nothing),
	};

	return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
