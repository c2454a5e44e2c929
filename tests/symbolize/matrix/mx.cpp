// SPDX-License-Identifier: GPL-2.0-or-later
// First unit: see mx.h.
#include "mx.h"

namespace mx {
volatile int sink;

/* The same in both units, each its own. */
static __attribute__((noinline)) int helper(int n)
{
	return twice(twice(n)) - 1;
}

namespace {
struct hidden {
	int v;

	__attribute__((noinline)) int get(int n) const
	{
		auto add = [this](auto x) { return x + v; };

		return twice(add(n));
	}
};
}

/* The bodies are equal: linkers may fold them. */
__attribute__((noinline)) int same_a(int n) { return n * 17 + sink; }
__attribute__((noinline)) int same_b(int n) { return n * 17 + sink; }

/* A part that is never run goes elsewhere (.cold). */
__attribute__((noinline)) int checked(int n)
{
	if (__builtin_expect(n > 1000000, 0)) {
		sink = n;
		fail(twice(n));
	}
	return helper(n) + 1;
}

int operator_test(const hidden &h, int n);
int operator_test(const hidden &h, int n)
{
	struct local {
		static int run(int k) { return twice(k) + 3; }
	};
	return h.get(n) + local::run(n);
}

template <class T> __attribute__((noinline)) T sum(const T *p, int n)
{
	T s = T();

	for (int i = 0; i < n; i++)
		s += p[i] * T(twice(i));
	return s;
}
}

extern "C" __attribute__((noinline)) int mx_plain(int n)
{
	return mx::twice(n) ^ mx::sink;
}

int main(int argc, char **)
{
	int a[4] = { argc, argc + 1, 3, 4 };
	double d[3] = { 1.5, 2.5, double(argc) };
	mx::box<int, 3> b(argc);
	mx::box<short, 5> c(short(argc + 2));
	const mx::shape *s[2] = { &b, &c };
	mx::hidden h = { argc };
	int r = mx::checked(argc) + mx::other(argc) + mx_plain(argc);

	for (int i = 0; i < 2; i++)
		r += s[i]->area(argc + i);
	r += mx::sum(a, 4) + int(mx::sum(d, 3)) + mx::operator_test(h, argc);
	r += mx::same_a(argc) + mx::same_b(argc + 1);
	return r == 12345;
}
