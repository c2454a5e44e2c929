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

/* What the C++ library would have: to link with it takes longer than to compile.
 * No body is empty: linkers would fold it with ours. */
void operator delete(void *p) noexcept { mx::sink = !p; }
void operator delete(void *p, __SIZE_TYPE__) noexcept { mx::sink = !p; }
extern "C" void __cxa_pure_virtual() { mx::sink = 1; }
extern "C" void __gxx_personality_v0() { mx::sink = 2; }
