// SPDX-License-Identifier: GPL-2.0-or-later
/* Exceptions while samples are taken: through frames, threads and libraries. */
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct guard {
	explicit guard(int &n) : count(n) {}
	~guard() { count++; }
	int &count;
};

static int level(int n, int &cleaned)
{
	guard g(cleaned);

	if (!n)
		throw std::runtime_error("deep");
	return level(n - 1, cleaned) + 1;
}

static int rounds(int n)
{
	int caught = 0, cleaned = 0;

	for (int i = 0; i < n; i++)
		try {
			level(20, cleaned);
		} catch (const std::exception &e) {
			caught += std::string(e.what()) == "deep";
		}
	return caught * 1000 + cleaned / n;
}

int main()
{
	std::vector<std::thread> threads;
	int results[4] = {};

	for (int &r : results)
		threads.emplace_back([&r] { r = rounds(1500); });
	for (std::thread &t : threads)
		t.join();
	for (int r : results)
		std::printf("thread: %d\n", r);
	std::printf("main: %d\n", rounds(1500));
	try {
		throw 5;
	} catch (int i) {
		return i;
	}
}
