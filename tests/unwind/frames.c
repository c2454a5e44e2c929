// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions whose frames differ: built several times with options that make
 * compilers describe them otherwise (local.mk), as a program of its own that
 * test_step follows instruction by instruction.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

typedef int vec8 __attribute__((vector_size(32)));

static volatile unsigned sink;

NOINLINE static unsigned leaf(unsigned x)
{
	return x * 2654435761u + 1;
}

/* Pushes all that the ABI saves. */
NOINLINE static unsigned saves(unsigned x)
{
	unsigned a = leaf(x), b = leaf(a), c = leaf(b), d = leaf(c),
		 e = leaf(d), f = leaf(e), g = leaf(f);

	return leaf(a ^ b) + leaf(c ^ d) + leaf(e ^ f) + leaf(g ^ a) + b + c;
}

/* Its size is known when it runs. */
NOINLINE static unsigned dynamic(unsigned x)
{
	volatile char *p = alloca(16 + x % 64);

	p[x % 16] = (char)x;
	return saves(x) + (unsigned)p[x % 16];
}

/* Arguments on the stack. */
NOINLINE static unsigned many(unsigned a, unsigned b, unsigned c, unsigned d,
			      unsigned e, unsigned f, unsigned g, unsigned h,
			      unsigned i)
{
	return leaf(a + b + c + d + e) + leaf(f + g + h + i);
}

/* The stack is aligned further than the ABI does: gcc's DRAP. */
NOINLINE static unsigned aligned(unsigned x)
{
	volatile vec8 v = { (int)x, 1, 2, 3, 4, 5, 6, 7 };
	volatile char *p = alloca(8 + x % 32);

	p[0] = (char)v[x % 8];
	return many(x, 1, 2, 3, 4, 5, 6, 7, 8) + (unsigned)p[0] +
	       (unsigned)v[(x + 1) % 8];
}

NOINLINE static unsigned tail2(unsigned x)
{
	return saves(x ^ 3);
}

/* Ends in a jump. */
NOINLINE static unsigned tail(unsigned x)
{
	sink = leaf(x);
	return tail2(x + 1);
}

/* Calls of libraries, through the PLT. */
NOINLINE static unsigned plt(unsigned x)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", x);
	return (unsigned)strtoul(text, NULL, 10) + (unsigned)strlen(text);
}

NOINLINE static int compare(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return leaf(x) < leaf(y) ? -1 : leaf(x) > leaf(y);
}

/* libc calls us. */
NOINLINE static unsigned called_back(unsigned x)
{
	unsigned v[6] = { x, 3, 1, 4, 1, 5 };

	qsort(v, 6, sizeof(*v), compare);
	return v[0] ^ v[5];
}

/* A large frame, and one early way out. */
NOINLINE static unsigned large(unsigned x)
{
	volatile char fill[5000];

	if (x == 12345)
		return leaf(x);
	fill[x % 5000] = 1;
	return saves(x) + (unsigned)fill[x % 5000];
}

NOINLINE static unsigned recursive(unsigned n)
{
	return n ? recursive(n - 1) * 3 + leaf(n) : tail(n);
}

static void on_signal(int sig)
{
	sink = saves((unsigned)sig);
}

/* A handler on its own stack, and one on the same. */
NOINLINE static unsigned signals(unsigned x)
{
	static char other[64 << 10];
	stack_t alt = { .ss_sp = other, .ss_size = sizeof(other) };
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sigaltstack(&alt, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &sa, NULL);
	raise(SIGUSR2);
	return leaf(x);
}

static jmp_buf back;

NOINLINE static unsigned jumps(unsigned x)
{
	if (x > 3)
		longjmp(back, 1);
	return jumps(x + 1) + leaf(x);
}

/* Frames that are left by a jump. */
NOINLINE static unsigned jumped_over(unsigned x)
{
	if (!setjmp(back))
		return jumps(x);
	return leaf(x);
}

int main(int argc, char **argv)
{
	unsigned x = (unsigned)argc;

	(void)argv;
	sink = dynamic(x) + aligned(x) + tail(x) + large(x) + recursive(5);
	sink += plt(x) + called_back(x) + signals(x) +
		jumped_over(x);
	return 0;
}
