// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled by symbolize.sh in many ways: inlined calls in calls, cold code in
 * another place, blocks, a function that is never called. */
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

extern volatile int sink;
volatile int sink;

INLINE int square(int x)
{
	return x * x + sink;
}

INLINE int poly(int x)
{
	int sum = 0, i;

	for (i = 0; i < 3; i++) {
		int part = square(x + i);

		if (part & 1)
			sum += square(part) ^ sink;
	}
	return sum;
}

NOINLINE static int work(int n)
{
	int i, s = 0;

	for (i = 0; i < n; i++)
		s += poly(i) + square(s);
	return s;
}

NOINLINE __attribute__((cold)) static int rare(int n)
{
	return poly(n) / (sink + 1);
}

int split(int n);
NOINLINE int split(int n)
{
	if (__builtin_expect(n > 1000, 0)) {
		sink = rare(n) + square(n);
		abort();
	}
	return square(n);
}

int never_called(int n);
int never_called(int n)
{
	return poly(n);
}

int main(int argc, char **argv)
{
	(void)argv;
	return work(argc) + split(argc) == 12345;
}
