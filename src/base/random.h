/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_RANDOM_H
#define TALLY_BASE_RANDOM_H
#include <stdint.h>

/* Returns the next random number of a generator, whose state is not 0: xorshift64*
 * (Vigna 2014). */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1dull;
}

/* Returns n, varied by a random number by up to a quarter, so that what happens at such
 * intervals is not in step with a program. */
static inline uint64_t random_about(uint64_t n, uint64_t random)
{
	return n - n / 4 + random % (n / 2 + 1);
}

#endif
