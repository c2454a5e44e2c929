// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * big SECONDS [THREADS]: runs all parts in turn, in every thread, until the time
 * is over and each has run once.  The bench's "C++ program of real size".
 */
#include "parts.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::uint64_t (*parts[])(std::uint64_t) = {
#ifndef JSON_AND_STD_ONLY	// scripts/try: compiles in seconds
	part_delaunay, part_hull,   part_arrangement, part_polygons,
	part_parse,    part_graph,  part_matrix,      part_sparse,
#endif
	part_json,     part_std,
};

void run(std::uint64_t seed, clock_type::time_point until, std::uint64_t &out)
{
	std::uint64_t sum = 0;

	for (bool all_ran = false;; all_ran = true) {
		for (auto part : parts) {
			sum = sum * 31 + part(seed++);
			if (all_ran && clock_type::now() >= until) {
				out = sum;
				return;
			}
		}
	}
}

} // namespace

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 3;
	unsigned threads = argc > 2 ? std::atoi(argv[2]) : 2;
	std::vector<std::uint64_t> sums(threads);
	std::vector<std::thread> pool;
	std::uint64_t sum = 0;

	if (seconds <= 0 || threads < 1 || threads > 64) {
		std::fprintf(stderr, "usage: big SECONDS [THREADS]\n");
		return 2;
	}
	auto until = clock_type::now() +
		std::chrono::duration_cast<clock_type::duration>(
			std::chrono::duration<double>(seconds));
	for (unsigned i = 0; i < threads; i++)
		pool.emplace_back(run, i * 1000 + 1, until, std::ref(sums[i]));
	for (auto &t : pool)
		t.join();
	for (auto s : sums)
		sum ^= s;
	std::printf("%016llx\n", static_cast<unsigned long long>(sum));
	return 0;
}
