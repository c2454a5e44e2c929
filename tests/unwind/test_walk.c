// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stacks of this very program, caught in signal handlers; the same stacks by
 * libgcc's unwinder (_Unwind_Backtrace) are the second opinion.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "live.h"

#if defined(__x86_64__)

enum { FRAMES = 512, COPY = 256 << 10 };

/* What a handler caught. */
struct caught {
	struct unwind_regs regs;
	uint64_t start;
	size_t size;
	uint8_t *bytes;
	uint64_t by_gcc[FRAMES];	/* as unwind_stack.pc */
	size_t ngcc;
	bool done;
};

static struct caught caught;	/* of the handler */

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *c, void *ctx)
{
	struct caught *k = ctx;
	int exact = 0;
	uint64_t ip = _Unwind_GetIPInfo(c, &exact);

	if (k->ngcc < FRAMES && ip)
		k->by_gcc[k->ngcc++] = ip - !exact;
	return _URC_NO_REASON;
}

static uint64_t stack_end(void)
{
	pthread_attr_t a;
	void *p = NULL;
	size_t n = 0;

	pthread_getattr_np(pthread_self(), &a);
	pthread_attr_getstack(&a, &p, &n);
	pthread_attr_destroy(&a);
	return (uint64_t)(uintptr_t)p + n;
}

static void copy_stack(struct caught *k, uint64_t from)
{
	uint64_t end = stack_end();

	k->start = from;
	k->size = end - from < COPY ? (size_t)(end - from) : COPY;
	for (size_t i = 0; i < k->size; i++)
		k->bytes[i] = ((const uint8_t *)(uintptr_t)from)[i];
}

static void on_signal(int sig, siginfo_t *info, void *ctx)
{
	(void)sig, (void)info;
	if (caught.done)
		return;
	caught.done = true;
	caught.regs = regs_of_signal(ctx);
	copy_stack(&caught, caught.regs.r[UNWIND_RSP]);
	caught.ngcc = 0;
	_Unwind_Backtrace(take_frame, &caught);
}

static void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on_signal,
				.sa_flags = SA_SIGINFO | flags };

	caught.done = false;
	sigaction(sig, &sa, NULL);
}

static struct unwind_memory memory_of(const struct caught *k)
{
	return (struct unwind_memory){ .bytes = k->bytes, .start = k->start,
				       .size = k->size };
}

struct walked {
	struct unwind_stack s;
	uint64_t pc[FRAMES];
	uint8_t marks[FRAMES];
};

static void walk(struct live *l, const struct unwind_regs *regs,
		 const struct unwind_memory *m, size_t max, struct walked *w)
{
	w->s = (struct unwind_stack){ .pc = w->pc, .marks = w->marks,
				      .max = max };
	unwind_walk(l->cache, &l->space, regs, m, &w->s);
}

/* gcc's frames begin in the handler: those from the interrupted one on. */
static void check_same(const struct caught *k, const struct walked *w)
{
	size_t skip = 0;

	while (skip < k->ngcc && k->by_gcc[skip] != w->pc[0])
		skip++;
	assert_int_not_equal(skip, k->ngcc);
	assert_int_equal(w->s.n, k->ngcc - skip);
	assert_memory_equal(w->pc, k->by_gcc + skip, w->s.n * 8);
	assert_int_equal(w->marks[0], UNWIND_EXACT);
}

static void check_whole(struct live *l)
{
	struct unwind_memory m = memory_of(&caught);
	struct walked w;

	assert_true(caught.done);
	for (int warm = 0; warm < 2; warm++) {
		walk(l, &caught.regs, &m, FRAMES, &w);
		assert_int_equal(w.s.end, UNWIND_WHOLE);
		assert_int_equal(w.s.reason, UNWIND_OK);
		assert_int_equal(w.s.by_pointer, 0);
		check_same(&caught, &w);
	}
}

__attribute__((noinline)) static unsigned recurse(unsigned n, unsigned sig)
{
	volatile char fill[40 + 8 * (n % 5)];

	fill[0] = (char)n;
	if (!n) {
		raise((int)sig);
		return 1;
	}
	return recurse(n - 1, sig) + (unsigned)fill[0];
}

static void test_deep(void **state)
{
	struct live *l = *state;

	catch(SIGUSR1, 0);
	recurse(300, SIGUSR1);
	check_whole(l);
}

static int setup(void **state)
{
	struct live *l = malloc(sizeof(*l));

	caught.bytes = malloc(COPY);
	*state = l;
	if (!l || !caught.bytes)
		return -1;
	live_open(l, 0);
	return 0;
}

static int teardown(void **state)
{
	live_close(*state);
	free(*state);
	free(caught.bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("unwind/walk", tests, setup,
					   teardown);
}

#else
int main(void)
{
	return 77;
}
#endif
