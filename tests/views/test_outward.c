// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Locations of stacks, each once, the nearest first: the same as by going from
 * node to node; and how many steps that takes.
 */
#include "../checks.h"
#include <stdlib.h>

#include "views/query/outward.h"

enum { LOCS = 40 };

static uint32_t random_number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Locations 0 … LOCS - 1 of one image. */
static void begin(struct profile *p)
{
	assert_int_equal(profile_init(p), 0);
	for (uint32_t i = 0; i < LOCS; i++)
		assert_int_equal(profile_loc(p, 0, 16 * i), i);
}

/* Marks, which are numbers beyond all locations, count as one more. */
static size_t place(uint32_t loc)
{
	return loc < LOCS ? loc : LOCS;
}

static size_t by_nodes(const struct profile *p, uint32_t node, uint32_t *out)
{
	bool seen[LOCS + 1] = { false };
	size_t n = 0;

	for (; node; node = p->nodes.v[node].parent) {
		uint32_t loc = p->nodes.v[node].loc;

		if (!seen[place(loc)])
			out[n++] = loc;
		seen[place(loc)] = true;
	}
	return n;
}

/* Returns the steps it took. */
static size_t check(const struct outward_index *x, uint32_t node)
{
	uint32_t want[LOCS + 1], loc;
	size_t n = by_nodes(x->p, node, want), k = 0, steps = 0;
	bool seen[LOCS + 1] = { false };
	struct outward o = outward_begin(x, node);

	for (; outward_next(x, &o, &loc); steps++) {
		if (seen[place(loc)])
			continue;
		seen[place(loc)] = true;
		assert_true(k < n);
		assert_int_equal(loc, want[k]);
		k++;
	}
	assert_int_equal(k, n);
	return steps;
}

static void test_random(void **state)
{
	struct outward_index x;
	struct profile p;
	uint32_t seed = 7;

	(void)state;
	begin(&p);
	for (int i = 0; i < 300; i++) {
		uint32_t parent = random_number(&seed) % (uint32_t)p.nodes.n;
		size_t deep = random_number(&seed) % 2000;

		if (i % 50 == 0)
			parent = profile_end(&p, PROF_MARK_CUT,
					     PROF_END_UNKNOWN, PROF_NONE);
		for (size_t k = 0; k < deep; k++) {
			/* long runs of few, so that order counts */
			uint32_t few = 1 + (uint32_t)k / 100 % LOCS;

			parent = profile_node(&p, parent,
					      random_number(&seed) % few);
		}
	}
	assert_true(p.nodes.n > 50000);
	assert_int_equal(outward_init(&x, &p), 0);
	for (uint32_t i = 0; i < p.nodes.n; i += 13)
		check(&x, i);
	assert_true(x.lists.n > 10);
	assert_true(x.locs.n <= 2 * p.nodes.n);
	outward_fini(&x);
	profile_fini(&p);
}

static void test_deep(void **state)
{
	struct outward_index x;
	struct profile p;
	uint32_t node = 0;

	(void)state;
	begin(&p);
	for (uint32_t i = 0; i < 1000000; i++)
		node = profile_node(&p, node, i < 10 ? i : 10 + i % 7);
	assert_int_equal(outward_init(&x, &p), 0);
	assert_true(check(&x, node) < 1000);
	assert_true(check(&x, node - 500) < 1000);
	assert_true(x.locs.n <= 2 * p.nodes.n);
	outward_fini(&x);
	profile_fini(&p);
}

/* What branches off where lists would be: memory stays in proportion. */
static void test_bush(void **state)
{
	struct outward_index x;
	struct profile p;
	uint32_t trunk = 0;

	(void)state;
	begin(&p);
	for (uint32_t i = 0; i < 255; i++)
		trunk = profile_node(&p, trunk, i % LOCS);
	for (uint32_t i = 0; i < 100000; i++)
		profile_node(&p, trunk, profile_loc(&p, 1, i));
	assert_int_equal(outward_init(&x, &p), 0);
	assert_true(x.locs.n <= 2 * p.nodes.n);
	outward_fini(&x);
	profile_fini(&p);
}

/* Of many locations the outer ones are left out, with and without lists. */
static void test_many(void **state)
{
	struct outward_index x;
	struct profile p;
	uint32_t node = 0, loc, n = 0;

	(void)state;
	begin(&p);
	for (uint32_t i = 0; i < 5000; i++)
		node = profile_node(&p, node, profile_loc(&p, 1, i));
	assert_int_equal(outward_init(&x, &p), 0);
	for (struct outward o = outward_begin(&x, node);
	     outward_next(&x, &o, &loc); n++)
		assert_int_equal(p.locs.v[loc].vaddr, 4999 - n);
	assert_int_equal(n, 1024);
	outward_fini(&x);
	profile_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_bush),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
