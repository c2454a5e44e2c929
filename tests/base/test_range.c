// SPDX-License-Identifier: GPL-2.0-or-later
/* Coded bits: what was written comes back, in about as few bytes as it has
 * information; what nobody wrote does not hang or read beyond its end. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/range.h"
#include "test.h"

enum { MANY = 20000 };

static uint64_t value(int i)
{
	uint64_t h = hash_u64((uint64_t)i + 1);

	switch (i % 5) {
	case 0:
		return h >> (h % 64);		/* all lengths */
	case 1:
		return 0;
	case 2:
		return UINT64_MAX - (h & 1);
	default:
		return h % 9;
	}
}

static void test_numbers(void **state)
{
	struct range_number m = { 0 };
	struct buf b = { 0 };
	struct range r;

	(void)state;
	buf_str(&b, "before");
	range_write(&r, &b);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(range_number(&r, &m, value(i)), value(i));
	assert_true(range_end(&r));
	assert_memory_equal(b.p, "before", 6);
	memset(&m, 0, sizeof(m));
	range_read(&r, b.p + 6, b.n - 6);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(range_number(&r, &m, 0), value(i));
	assert_true(range_end(&r));
	/* more bytes, or many less, are an error */
	buf_u64(&b, 0);
	memset(&m, 0, sizeof(m));
	range_read(&r, b.p + 6, b.n - 6);
	for (int i = 0; i < MANY; i++)
		range_number(&r, &m, 0);
	assert_false(range_end(&r));
	memset(&m, 0, sizeof(m));
	range_read(&r, b.p + 6, 10);
	for (int i = 0; i < MANY; i++)
		range_number(&r, &m, 0);
	assert_false(range_end(&r));
	buf_fini(&b);
}

/* One bit of 64 is set: 0.116 bits of information each (Shannon). */
static void test_size(void **state)
{
	struct range_bit m = { 0 };
	struct buf b = { 0 };
	struct range r;

	(void)state;
	range_write(&r, &b);
	for (int i = 0; i < MANY; i++)
		range_bit(&r, &m, hash_u64((uint64_t)i + 7) % 64 == 0);
	assert_true(range_end(&r));
	assert_in_range(b.n, 200, MANY * 0.116 / 8 * 1.25);
	memset(&m, 0, sizeof(m));
	range_read(&r, b.p, b.n);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(range_bit(&r, &m, 0),
				 hash_u64((uint64_t)i + 7) % 64 == 0);
	assert_true(range_end(&r));
	buf_fini(&b);
}

/* Carries run through bytes of ff: bits of the upper part of the range only. */
static void test_carries(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (unsigned int seed = 0; seed < 300; seed++) {
		struct range_number m = { 0 }, n = { 0 };
		struct range r;

		buf_reset(&b);
		range_write(&r, &b);
		for (unsigned int i = 0; i < 40; i++)
			range_number(&r, &m, hash_u64(seed << 8 | i) &
				     (i % 3 ? UINT32_MAX : 1));
		assert_true(range_end(&r));
		range_read(&r, b.p, b.n);
		for (unsigned int i = 0; i < 40; i++)
			assert_int_equal(range_number(&r, &n, 0),
					 hash_u64(seed << 8 | i) &
					 (i % 3 ? UINT32_MAX : 1));
		assert_true(range_end(&r));
	}
	buf_fini(&b);
}

static void test_noise(void **state)
{
	uint8_t bytes[64];

	(void)state;
	for (unsigned int seed = 0; seed < 2000; seed++) {
		struct range_number m = { 0 };
		struct range r;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = seed ? (uint8_t)hash_u64(seed << 8 | i)
					: 0xff;
		range_read(&r, bytes, seed % sizeof(bytes));
		for (int i = 0; i < 100; i++)
			range_number(&r, &m, 0);
		(void)range_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_carries),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
