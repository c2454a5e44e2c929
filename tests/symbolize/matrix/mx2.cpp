// SPDX-License-Identifier: GPL-2.0-or-later
// Second unit: see mx.h.
#include "mx.h"

namespace mx {
static __attribute__((noinline)) int helper(int n)
{
	int r = 1;

	while (n-- > 0)
		r = twice(r) % 1001;
	return r;
}

int other(int n)
{
	box<long, 2> b(n);

	return helper(n) + b.area(n);
}

__attribute__((cold)) void fail(int n)
{
	sink = n;
	for (;;)
		sink = twice(sink);
}
}
