// SPDX-License-Identifier: GPL-2.0-or-later
// Two units with much in common: see two.h.
#include "two.h"

int volatile sink;
std::map<std::string, int> counts;

static int square(int n) { return twin{ n, 3 }.sum(n); }

int main(int c, char **)
{
	std::vector<int> w;

	for (int i = 0; i < c + 9; i++)
		w.push_back(square(i));
	counts["y"] += 2;
	sink = other(c) + w[3];
	return 0;
}
