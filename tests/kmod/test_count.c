// SPDX-License-Identifier: GPL-2.0-or-later
/* The table in which the module adds up equal samples: nothing is lost, counted twice or
 * mixed up, whatever comes, and however full it is. */
#include "../checks.h"
#include <stdlib.h>

#include "../../kmod/count_core.h"

static struct tally_count sample(uint32_t tid, uint32_t stack, uint64_t time)
{
	return (struct tally_count){
		.r = { TALLY_RECORD_COUNT, 1, sizeof(struct tally_count), time },
		.pid = 10, .tid = tid, .cpu = 1, .flags = TALLY_SAMPLE_UNWOUND,
		.nuser = 3, .stack = stack, .weight = 1000 + time % 7,
		.first = time, .n = 1, .generation = 5,
	};
}

static struct count_table *empty(void)
{
	static struct count_table t;

	/* Entries beyond n have any contents. */
	memset(&t, 0xee, sizeof(t));
	count_clear(&t);
	return &t;
}

static void equal_samples_add_up(void **state)
{
	struct count_table *t = empty();
	uint64_t weight = 0;

	(void)state;
	for (uint64_t time = 100; time < 105; time++) {
		struct tally_count one = sample(11, 7, time);

		assert_true(count_add(t, &one));
		weight += one.weight;
	}
	assert_int_equal(t->n, 1);
	assert_int_equal(t->entry[0].n, 5);
	assert_int_equal(t->entry[0].weight, weight);
	assert_int_equal(t->entry[0].first, 100);
	assert_int_equal(t->entry[0].r.time, 104);
	assert_int_equal(t->entry[0].tid, 11);
	assert_int_equal(t->entry[0].nuser, 3);
}

/* Each of these alone makes another entry; so does a space that has changed.  The
 * stacks are those at which both are looked up in the same place. */
static void what_differs_stays_apart(void **state)
{
	enum { MEMBERS = 6 };

	(void)state;
	for (int i = 0; i < MEMBERS; i++) {
		struct count_table *t = empty();
		struct tally_count one, other;
		uint32_t stack = 0;

		do {
			one = other = sample(11, ++stack, 1);
			switch (i) {
			case 0: other.pid += stack; break;
			case 1: other.tid += stack; break;
			case 2: other.stack += stack; break;
			case 3: other.flags |= TALLY_SAMPLE_USER; break;
			case 4: other.generation += stack; break;
			default: other.r.event ^= (uint16_t)(stack | 1);
			}
			assert_true(stack < 1 << 24);
		} while (count_hash(&one) != count_hash(&other));
		for (int round = 0; round < 3; round++) {
			assert_true(count_add(t, &one));
			assert_true(count_add(t, &other));
		}
		assert_int_equal(t->n, 2);
		assert_int_equal(t->entry[0].n, 3);
		assert_int_equal(t->entry[1].n, 3);
	}
}

/* Samples by key, counted without a table of theirs.  One stack has these variants,
 * which differ in one member or more. */
enum { VARIANTS = 16, STACKS = 200 };

struct naive {
	uint64_t n[VARIANTS][STACKS], weight[VARIANTS][STACKS];
};

static struct tally_count variant(uint32_t i, uint32_t stack, uint64_t time)
{
	struct tally_count one = sample(11 + (i >> 3), stack, time);

	one.generation += i & 1;
	one.r.event = (uint16_t)(i >> 1 & 1);
	one.flags = i & 4 ? 0 : TALLY_SAMPLE_USER;
	return one;
}

static uint32_t variant_of(const struct tally_count *e)
{
	return (e->generation - 5) | (uint32_t)e->r.event << 1 |
	       (e->flags ? 0u : 4u) | (e->tid - 11) << 3;
}

static void take(struct count_table *t, struct naive *got)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct tally_count *e = &t->entry[i];

		assert_true(e->n > 0 && e->n <= TALLY_COUNT_SAMPLES);
		assert_true(e->first <= e->r.time);
		got->n[variant_of(e)][e->stack - 1] += e->n;
		got->weight[variant_of(e)][e->stack - 1] += e->weight;
	}
	count_clear(t);
}

/* Few keys and many, taken at any moment; what is refused is left to the caller. */
static void any_order_has_the_same_sums(void **state)
{
	static const uint32_t stacks[] = { 1, 3, 40, STACKS };
	uint64_t refused = 0;

	(void)state;
	for (size_t k = 0; k < sizeof(stacks) / sizeof(stacks[0]); k++) {
		static struct naive want, got;
		struct count_table *t = empty();
		uint32_t seed = 1;

		memset(&want, 0, sizeof(want));
		memset(&got, 0, sizeof(got));
		for (uint64_t time = 1; time < 200000; time++) {
			struct tally_count one;
			uint32_t i;

			seed = seed * 1103515245 + 12345;
			i = seed >> 16 & (VARIANTS - 1);
			one = variant(i, 1 + (seed >> 20) % stacks[k], time);
			if (time % 5000 == 0)
				take(t, &got);
			if (!count_add(t, &one)) {
				refused++;
				continue;
			}
			want.n[i][one.stack - 1]++;
			want.weight[i][one.stack - 1] += one.weight;
		}
		take(t, &got);
		assert_memory_equal(&got, &want, sizeof(want));
	}
	/* 3,200 keys do not fit. */
	assert_true(refused > 0);
}

/* Every number of entries up to a full table: what is there goes on adding up, what is
 * not is refused or becomes the next entry. */
static void a_full_table_refuses(void **state)
{
	struct count_table *t = empty();
	uint32_t next = 1, refused = 0, first = 0;

	(void)state;
	while (t->n < TALLY_COUNTS_MAX) {
		struct tally_count one = sample(11, next++ * 2654435761u, 1);
		uint32_t before = t->n;

		if (count_add(t, &one)) {
			assert_int_equal(t->n, before + 1);
			continue;
		}
		assert_int_equal(t->n, before);
		first = refused++ ? first : before;
		/* The program must not wait for a table that never fills. */
		assert_true(refused < 100000);
	}
	/* Chance refuses none before half of it is full. */
	assert_true(!refused || first > TALLY_COUNTS_MAX / 2);
	for (uint32_t i = 0; i < TALLY_COUNTS_MAX; i++) {
		struct tally_count one = t->entry[i];

		assert_true(count_add(t, &one));
		assert_int_equal(t->entry[i].n, 2);
	}
	for (uint32_t i = 0; i < 10000; i++) {
		struct tally_count one = sample(12, i, 1);

		assert_false(count_add(t, &one));
	}
	assert_int_equal(t->n, TALLY_COUNTS_MAX);
	count_clear(t);
	assert_int_equal(t->n, 0);
	assert_true(count_add(t, &(struct tally_count){ .n = 1, .stack = 1 }));
	assert_int_equal(t->n, 1);
}

static void an_entry_has_a_limit(void **state)
{
	struct count_table *t = empty();

	(void)state;
	for (uint32_t i = 0; i < 2 * TALLY_COUNT_SAMPLES + 3; i++) {
		struct tally_count one = sample(11, 7, i);

		assert_true(count_add(t, &one));
	}
	assert_int_equal(t->n, 3);
	assert_int_equal(t->entry[0].n, TALLY_COUNT_SAMPLES);
	assert_int_equal(t->entry[1].n, TALLY_COUNT_SAMPLES);
	assert_int_equal(t->entry[2].n, 3);
	assert_int_equal(t->entry[1].first, TALLY_COUNT_SAMPLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_samples_add_up),
		cmocka_unit_test(what_differs_stays_apart),
		cmocka_unit_test(any_order_has_the_same_sums),
		cmocka_unit_test(a_full_table_refuses),
		cmocka_unit_test(an_entry_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
