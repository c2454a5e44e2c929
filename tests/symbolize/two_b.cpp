// SPDX-License-Identifier: GPL-2.0-or-later
#include "two.h"

static int square(int n) { return twin{ n, 4 }.sum(n) * twin{ 1, n }.sum(2); }

int other(int c)
{
	std::vector<int> v;

	for (int i = 0; i < c; i++)
		v.push_back(square(i));
	counts["x"] += v.size();
	return v[c / 2];
}
