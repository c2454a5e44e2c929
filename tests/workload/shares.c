// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose functions cost 50, 25, 15, 8 and 2 %, each of which can be made
 * slower by a known ratio:
 *
 *	shares ROUNDS [FUNCTION=RATIO...] [new=SHARE] [moved=PART]
 *
 * f50=1.1 makes f50 10 % slower, all=1.05 everything; new=0.05 adds a function of
 * 5 % of the rest, moved=0.3 lets a helper do 30 % of f50's work.  Scripts compare
 * recordings of such runs: scripts/bench-check.
 *
 * Refactorings that cost nothing are builds of this file:
 *	-Df15=NAME			f15 renamed
 *	-DF15_ONLY, -DF15_ELSEWHERE	f15 in a file of its own, and the rest
 *	-DINLINE_HELPER			the helper inlined into main
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One step of work for each unit, so that cost is what the arguments say.  Each
 * adds another number, or compilers would fold equal functions into one. */
#define WORK(kind, name, odd) \
	kind uint64_t name(uint64_t x, long n) \
	{ \
		for (long i = 0; i < n; i++) \
			x = x * 6364136223846793005u + (odd); \
		return x; \
	}
#define OWN static __attribute__((noinline))

#ifdef F15_ELSEWHERE
uint64_t f15(uint64_t x, long n);
#elif defined(F15_ONLY)
uint64_t f15(uint64_t x, long n);
WORK(, f15, 1442695040888963411u)
#else
WORK(OWN, f15, 1442695040888963411u)
#endif

#ifdef INLINE_HELPER
#define HELPER static inline __attribute__((always_inline))
#else
#define HELPER OWN
#endif

#ifndef F15_ONLY
WORK(OWN, f50, 1442695040888963407u)
WORK(OWN, f25, 1442695040888963409u)
WORK(OWN, f8, 1442695040888963413u)
WORK(OWN, f2, 1442695040888963415u)
WORK(OWN, f_new, 1442695040888963417u)
WORK(HELPER, f50_helper, 1442695040888963419u)

enum { UNIT = 2000 };

static const struct {
	const char *name;
	long percent;
	uint64_t (*run)(uint64_t x, long n);
} parts[] = { { "f50", 50, f50 }, { "f25", 25, f25 }, { "f15", 15, f15 },
	      { "f8", 8, f8 }, { "f2", 2, f2 } };
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* The same numbers in each run. */
static uint64_t random_step(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

static double take(const char *word, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(word, name, n) && word[n] == '='
		       ? strtod(word + n + 1, NULL) : -1;
}

int main(int argc, char **argv)
{
	double ratio[PARTS], added = 0, moved = 0, x;
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	uint64_t v = 1, seed = 1;

	for (int k = 0; k < PARTS; k++)
		ratio[k] = 1;
	for (int i = 2; i < argc; i++) {
		for (int k = 0; k < PARTS; k++) {
			if ((x = take(argv[i], parts[k].name)) >= 0 ||
			    (x = take(argv[i], "all")) >= 0)
				ratio[k] = x;
		}
		if ((x = take(argv[i], "new")) >= 0)
			added = x;
		if ((x = take(argv[i], "moved")) >= 0)
			moved = x;
	}
	for (long r = 0; r < rounds; r++) {
		/* rounds of other lengths: one period would beat with the
		 * sampling's */
		double vary = 0.5 + (double)(random_step(&seed) % 1000) / 999;

		for (int k = 0; k < PARTS; k++) {
			double n = (double)(parts[k].percent * UNIT) *
				   ratio[k] * vary;

			if (!k && moved > 0)
				v = f50_helper(v, (long)(n * moved));
			v = parts[k].run(v, (long)(k ? n : n * (1 - moved)));
		}
		if (added > 0)
			v = f_new(v, (long)(added * 100 * UNIT * vary));
	}
	printf("%llu\n", (unsigned long long)v);
	return 0;
}
#endif
