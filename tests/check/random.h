/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_CHECK_RANDOM_H
#define TALLY_TESTS_CHECK_RANDOM_H
/* Random numbers that are the same everywhere, for simulations. */
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

struct rng rng_seed(uint64_t seed);
double rng_uniform(struct rng *r);	/* 0 < x < 1 */
double rng_normal(struct rng *r);
double rng_gamma(struct rng *r, double shape);
uint64_t rng_binomial(struct rng *r, uint64_t n, double p);

#endif
