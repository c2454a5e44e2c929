/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled by matrix.sh in many ways.  No standard library: quick to compile. */
#pragma once

namespace mx {
struct shape {
	virtual ~shape() {}
	virtual int area(int k) const = 0;
};

template <class T, int N> struct box : shape {
	T side[N];

	explicit box(T first)
	{
		for (int i = 0; i < N; i++)
			side[i] = first + T(i);
	}
	int area(int k) const override
	{
		int sum = 0;

		each([&](T v) { sum += scale(int(v), k); });
		return sum;
	}
	template <class F> void each(F f) const
	{
		for (int i = 0; i < N; i++)
			f(side[i]);
	}
	static inline int scale(int v, int k)
	{
		return k & 1 ? v * k : v + k;
	}
};

int other(int n);		/* in the second unit */
[[noreturn]] void fail(int n);
extern volatile int sink;

__attribute__((always_inline)) inline int twice(int n)
{
	sink = n;
	return 2 * n + sink;
}
}
