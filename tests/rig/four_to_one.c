// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Executes a known number of instructions: ROUNDS times (default 200) four() with
 * 1,600,000 and one() with 400,000 in their loops.
 *
 * Static and without position independence, its addresses are known; the rest of
 * it is a few thousand instructions.
 */
#include <stdlib.h>

/* No inlined function: one and four are to have the samples themselves. */
#define LOOP(n) do {							\
	long left = (n);						\
									\
	__asm__ volatile("1:	dec %0\n	jnz 1b" : "+r"(left));	\
} while (0)

static __attribute__((noinline)) void four(void)
{
	LOOP(800000);
}

static __attribute__((noinline)) void one(void)
{
	LOOP(200000);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 200;

	while (n-- > 0) {
		four();
		one();
	}
	return 0;
}
