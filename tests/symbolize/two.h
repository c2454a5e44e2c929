/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_TWO_H
#define TALLY_TESTS_TWO_H
#include <map>
#include <string>
#include <vector>

struct twin {
	int a, b;
	inline int sum(int k) const { return a * k + b; }
};

extern std::map<std::string, int> counts;
int other(int c);

#endif
