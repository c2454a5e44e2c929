// SPDX-License-Identifier: GPL-2.0-or-later
/* Callers of frames that leave the copy: when are those seen before believed? */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>

#include "record/collect/outer_callers.h"

enum { N = 40 };
#define FUNCTION 0x4000ull
#define STACK 0x7fff0000ull

/* Callers i of a function: at pc 0x1000 * (i + 1) + site. */
struct seer {
	struct outer_callers o;
	struct outer_view v;
	uint64_t pc[N], sps[N];
	uint64_t own;		/* the only site that calls the next frame; or 0 */
};

static enum outer_call call_at(void *ctx, size_t i, uint64_t pc)
{
	const struct seer *s = ctx;

	(void)i;
	if (!s->own)
		return OUTER_CALL_UNKNOWN;
	return pc % 0x1000 == s->own ? OUTER_CALL_THIS : OUTER_CALL_OTHER;
}

static bool same_function(void *ctx, uint64_t a, uint64_t b)
{
	(void)ctx;
	return a / 0x1000 == b / 0x1000;
}

static int set_up(void **state)
{
	struct seer *s = calloc(1, sizeof(*s));

	for (size_t i = 0; i < N; i++)
		s->sps[i] = STACK + 0x100 * (i + 1);
	s->v = (struct outer_view){
		.pid = 7, .tid = 8, .space = 1, .function = FUNCTION,
		.sp = STACK, .pc = s->pc, .sps = s->sps, .n = 3,
		.call = call_at, .same_function = same_function, .ctx = s,
	};
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static bool see(struct seer *s, uint64_t site, uint32_t batch)
{
	for (size_t i = 0; i < N; i++)
		s->pc[i] = 0x1000 * (i + 1) + 0x11;
	s->pc[0] = 0x1000 + site;
	return outer_callers_see(&s->o, &s->v, batch);
}

static void what_is_in_place_is_believed_at_once(void **state)
{
	struct seer *s = *state;

	s->v.in_place = true;
	assert_true(see(s, 0x11, 1));
	assert_true(see(s, 0x11, 1));
	/* until the callers are seen to change */
	assert_false(see(s, 0x22, 2));
	assert_false(see(s, 0x11, 3));
	assert_false(see(s, 0x11, 4));
}

static void else_after_a_row_of_batches(void **state)
{
	struct seer *s = *state;

	for (int i = 0; i < 100; i++)
		assert_false(see(s, 0x11, 1));
	for (uint32_t batch = 2; batch < OUTER_ROW; batch++)
		assert_false(see(s, 0x11, batch));
	assert_true(see(s, 0x11, OUTER_ROW));
	assert_true(see(s, 0x11, OUTER_ROW));
	/* another thread, another place, other mappings */
	s->v.tid = 9;
	assert_false(see(s, 0x11, OUTER_ROW + 1));
	s->v.tid = 8;
	s->v.space = 2;
	assert_false(see(s, 0x11, OUTER_ROW + 1));
}

static void a_change_wants_a_longer_row(void **state)
{
	struct seer *s = *state;
	uint32_t batch = 1;

	while (!see(s, 0x11, batch))
		batch++;
	assert_false(see(s, 0x22, ++batch));
	for (int i = 1; i < 4 * OUTER_ROW - 1; i++)
		assert_false(see(s, 0x22, ++batch));
	assert_true(see(s, 0x22, ++batch));
	/* the frames behind count, too, also those that are not kept one by one */
	s->v.n = N;
	while (!see(s, 0x22, batch))
		batch++;
	s->sps[N - 1] += 8;
	assert_false(see(s, 0x22, ++batch));
}

static void a_caller_in_another_call_is_the_same(void **state)
{
	struct seer *s = *state;
	uint32_t batch = 1;

	s->own = 0x11;
	/* what is over already is not taken for a caller */
	for (; batch < 3 * OUTER_ROW; batch++)
		assert_false(see(s, 0x33, batch));
	while (!see(s, 0x11, batch))
		batch++;
	assert_true(see(s, 0x33, ++batch));
	assert_int_equal(s->pc[0], 0x1011);
	assert_int_equal(s->pc[1], 0x2011);
	/* … but not of another function */
	assert_false(see(s, 0x5033, ++batch));
	assert_false(see(s, 0x11, ++batch));
}

/* The share of batches in which a caller is believed that it was not: one of two
 * calls with this probability at the time of the sample, and anew at that of reading. */
static double wrong_share(struct seer *s, double share, double *believed)
{
	uint32_t wrong = 0, all = 0, n = 20000;

	srand48(1);
	for (uint32_t batch = 1; batch <= n; batch++) {
		bool was = drand48() < share, is = drand48() < share;

		if (!see(s, is ? 0x22 : 0x11, batch))
			continue;
		all++;
		wrong += was != is;
	}
	*believed = (double)all / n;
	return (double)wrong / n;
}

static void callers_in_turn_are_found_out(void **state)
{
	static const double shares[] = { 0.5, 0.2, 0.1, 0.05, 0.02, 0.01 };
	struct seer *s = *state;
	double believed;

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		memset(&s->o, 0, sizeof(s->o));
		assert_true(wrong_share(s, shares[i], &believed) < 0.005);
	}
	/* most of what has one caller, or one that seldom changes, is known */
	memset(&s->o, 0, sizeof(s->o));
	assert_true(wrong_share(s, 0, &believed) == 0);
	assert_true(believed > 0.99);
}

static void callers_for_long_are_known(void **state)
{
	struct seer *s = *state;
	uint32_t batch = 1, known = 0, n = 20000;

	for (; batch <= n; batch++)
		known += see(s, batch / 500 % 2 ? 0x22 : 0x11, batch);
	assert_true(known > n * 3 / 4);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_in_place_is_believed_at_once),
		T(else_after_a_row_of_batches),
		T(a_change_wants_a_longer_row),
		T(a_caller_in_another_call_is_the_same),
		T(callers_in_turn_are_found_out),
		T(callers_for_long_are_known),
	};

	return cmocka_run_group_tests_name("outer callers", tests, NULL, NULL);
}
