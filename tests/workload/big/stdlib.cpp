// SPDX-License-Identifier: GPL-2.0-or-later
#include "parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

std::uint64_t part_std(std::uint64_t seed)
{
	static const std::regex word("([a-z]+)([0-9]+)(_x)?");
	std::mt19937_64 rng(seed);
	std::vector<std::string> names;
	std::map<std::string, std::uint64_t> tree;
	std::unordered_map<std::string, std::uint64_t> table;
	std::uint64_t sum = 0;

	for (int i = 0; i < 4000; i++) {
		std::ostringstream s;

		s << char('a' + rng() % 26) << "name" << rng() % 3000
		  << (i % 3 ? "" : "_x");
		names.push_back(s.str());
	}
	for (const auto &n : names) {
		std::smatch m;

		tree[n]++;
		table[n] += n.size();
		if (tree.size() % 4 == 0 && std::regex_match(n, m, word))
			sum += m[2].length();
	}
	std::stable_sort(names.begin(), names.end(),
			 [](const auto &a, const auto &b) {
				 return a.size() != b.size()
						? a.size() < b.size() : a < b;
			 });
	return sum + tree.size() + table.size() +
		std::accumulate(names.begin(), names.end(), std::uint64_t(0),
				[](auto n, const auto &s) {
					return n + static_cast<unsigned char>(
							   s[1]);
				});
}
