// SPDX-License-Identifier: GPL-2.0-or-later
/* Code that moved: what gained is explained by what others lost, the largest
 * gains first, and by no more questions than there is time for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "../checks.h"

#include "compare/moves.h"

/* Those with a larger number gained more. */
static struct move_item twin(void *ctx, size_t i)
{
	double by = 1.0 + (double)(i / 2);

	(void)ctx;
	return i & 1 ? (struct move_item){ MOVE_NEW, by }
		     : (struct move_item){ MOVE_LOSS, -by };
}

/* Twins: item 2n is what item 2n + 1 became. */
static bool are_twins(void *ctx, size_t rose, size_t fell)
{
	++*(uint64_t *)ctx;
	return rose == (fell ^ 1);
}

static bool costs_same(void *ctx, const size_t *items, size_t n)
{
	(void)ctx;
	(void)items;
	(void)n;
	return false;
}

/* So many pairs. */
static size_t *find(size_t pairs, uint64_t *asked)
{
	struct moves m = { 2 * pairs, asked, twin, are_twins, costs_same };
	size_t *from;

	assert_int_equal(moves_find(&m, &from), 0);
	return from;
}

static void test_pairs(void **state)
{
	uint64_t asked = 0;
	size_t *from = find(500, &asked);

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		assert_int_equal(from[2 * i + 1], 2 * i);
		assert_int_equal(from[2 * i], MOVE_FROM_NONE);
	}
	free(from);
}

static void test_many(void **state)
{
	enum { PAIRS = 20000 };
	uint64_t asked = 0;
	size_t *from = find(PAIRS, &asked);

	(void)state;
	assert_true(asked <= (uint64_t)MOVE_QUESTIONS);
	/* the largest gains are explained, the smallest are not */
	assert_int_equal(from[2 * PAIRS - 1], 2 * PAIRS - 2);
	assert_int_equal(from[1], MOVE_FROM_NONE);
	free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
