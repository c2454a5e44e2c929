// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers: see random.h. */
#include "random.h"

#include <math.h>

/* splitmix64 fills the state of xoshiro256++ (Blackman and Vigna 2019). */
struct rng rng_seed(uint64_t seed)
{
	struct rng r;

	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15ull;

		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ z >> 27) * 0x94d049bb133111ebull;
		r.s[i] = z ^ z >> 31;
	}
	return r;
}

static uint64_t rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t next(struct rng *r)
{
	uint64_t *s = r->s, t = s[1] << 17;
	uint64_t x = rotate(s[0] + s[3], 23) + s[0];

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return x;
}

double rng_uniform(struct rng *r)
{
	return ((double)(next(r) >> 11) + 0.5) / 9007199254740992.0;
}

double rng_normal(struct rng *r)
{
	double u = rng_uniform(r), v = rng_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Marsaglia and Tsang 2000; scale 1. */
double rng_gamma(struct rng *r, double shape)
{
	double d, c;

	if (shape < 1)
		return rng_gamma(r, shape + 1) *
		       pow(rng_uniform(r), 1 / shape);
	d = shape - 1 / 3.0;
	c = 1 / sqrt(9 * d);
	for (;;) {
		double x = rng_normal(r), v = 1 + c * x;

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(rng_uniform(r)) <
		    0.5 * x * x + d - d * v + d * log(v))
			return d * v;
	}
}

static double log_factorial(double k)
{
	int sign;

	return lgamma_r(k + 1, &sign);
}

/* By counting the failures between successes: for few of them. */
static uint64_t few(struct rng *r, uint64_t n, double p)
{
	double at = 0, q = log1p(-p);
	uint64_t k = 0;

	for (;;) {
		at += floor(log(rng_uniform(r)) / q) + 1;
		if (at > (double)n)
			return k;
		k++;
	}
}

/* BTRS: Hörmann 1993, "The generation of binomial random variates". */
uint64_t rng_binomial(struct rng *r, uint64_t n, double p)
{
	double sd, b, a, c, vr, alpha, lpq, m, h;

	if (p > 0.5)
		return n - rng_binomial(r, n, 1 - p);
	if (!n || p <= 0)
		return 0;
	if ((double)n * p < 10)
		return few(r, n, p);
	sd = sqrt((double)n * p * (1 - p));
	b = 1.15 + 2.53 * sd;
	a = -0.0873 + 0.0248 * b + 0.01 * p;
	c = (double)n * p + 0.5;
	vr = 0.92 - 4.2 / b;
	alpha = (2.83 + 5.1 / b) * sd;
	lpq = log(p / (1 - p));
	m = floor((double)(n + 1) * p);
	h = log_factorial(m) + log_factorial((double)n - m);
	for (;;) {
		double u = rng_uniform(r) - 0.5, v = rng_uniform(r);
		double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);

		if (k < 0 || k > (double)n)
			continue;
		if (us >= 0.07 && v <= vr)
			return (uint64_t)k;
		v = log(v * alpha / (a / (us * us) + b));
		if (v <= h - log_factorial(k) - log_factorial((double)n - k) +
			       (k - m) * lpq)
			return (uint64_t)k;
	}
}
