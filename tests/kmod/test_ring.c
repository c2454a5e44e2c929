// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the module puts bytes of a ring, and copies of stacks: at every position
 * of the end, with memory that stops anywhere. */
#include "../checks.h"

#include "../../kmod/ring_core.h"

enum { SIZE = 64, SLACK = 8 };

/* The user's memory: byte i of it is i, below `readable`. */
static uint64_t readable;

static unsigned long fetch(void *to, uint64_t from, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n && from + i < readable; i++)
		((uint8_t *)to)[i] = (uint8_t)(from + i);
	return n - i;
}

/* A ring of ones, between bytes that must not change. */
static struct ring_data ring_of(uint8_t *mem)
{
	memset(mem, 0xee, SIZE + 2 * SLACK);
	memset(mem + SLACK, 0xff, SIZE);
	return (struct ring_data){ mem + SLACK, SIZE };
}

static void nothing_outside(const uint8_t *mem)
{
	for (int i = 0; i < SLACK; i++) {
		assert_int_equal(mem[i], 0xee);
		assert_int_equal(mem[SLACK + SIZE + i], 0xee);
	}
}

static void any_tail_is_safe(void **state)
{
	const struct ring_data r = { NULL, SIZE };

	(void)state;
	assert_int_equal(ring_free(&r, 0, 0), SIZE);
	assert_int_equal(ring_free(&r, 1000, 1000 - SIZE), 0);
	assert_int_equal(ring_free(&r, 1000, 1000 - 24), SIZE - 24);
	/* Before what it can hold; beyond the head; far away. */
	assert_int_equal(ring_free(&r, 1000, 1000 - SIZE - 1), 0);
	assert_int_equal(ring_free(&r, 1000, 1001), 0);
	assert_int_equal(ring_free(&r, 1000, UINT64_MAX), 0);
	/* Both may wrap. */
	assert_int_equal(ring_free(&r, 8, UINT64_MAX - 7), SIZE - 16);
}

static void bytes_go_around_the_end(void **state)
{
	uint8_t mem[SIZE + 2 * SLACK], record[40];

	(void)state;
	for (unsigned int i = 0; i < sizeof(record); i++)
		record[i] = (uint8_t)i;
	for (uint64_t at = (1ull << 40); at < (1ull << 40) + SIZE; at++) {
		struct ring_data r = ring_of(mem);

		ring_write(&r, at, record, sizeof(record));
		nothing_outside(mem);
		for (unsigned int i = 0; i < SIZE; i++)
			assert_int_equal(r.p[(at + i) % SIZE],
					 i < sizeof(record) ? i : 0xff);
	}
}

/* What a copy of `most` bytes from `sp` on should come to. */
static void check_copy(uint64_t at, uint64_t room, uint64_t sp, uint64_t end,
		       uint32_t most)
{
	uint8_t mem[SIZE + 2 * SLACK];
	struct ring_data r = ring_of(mem);
	struct ring_copy c = ring_copy_stack(&r, at, room, fetch, sp, end,
					     most);
	uint64_t memory = readable < end ? readable : end, there, whole;

	there = memory > sp ? memory - sp : 0;
	whole = there < most ? there : most;
	nothing_outside(mem);
	if (whole > (room & ~7ull)) {
		assert_true(c.full);
		return;
	}
	if (c.full) {
		/* Only when as much as there is fills all the room. */
		assert_int_equal(whole, room & ~7ull);
		return;
	}
	assert_int_equal(c.bytes, whole);
	assert_int_equal(c.all, whole < most);
	assert_int_equal(c.taken, (whole + 7) / 8 * 8);
	for (unsigned int i = 0; i < SIZE; i++)
		assert_int_equal(r.p[(at + i) % SIZE], i < whole
				 ? (uint8_t)(sp + i) : i < c.taken ? 0 : 0xff);
}

static void copies_are_what_is_there(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < SIZE; at += 8)
		for (uint64_t room = 0; room <= SIZE; room++)
			for (uint32_t most = 0; most <= SIZE; most += 8)
				for (uint64_t n = 0; n < 40; n++) {
					readable = 0x1000 + n;
					check_copy(at, room, 0x1000, 1u << 20,
						   most);
					/* The same by where the user's half
					 * ends. */
					readable = 1u << 20;
					check_copy(at, room, 0x1000,
						   0x1000 + n, most);
				}
}

static void pointers_may_be_nonsense(void **state)
{
	uint64_t end = 0x7ffffffff000;

	(void)state;
	readable = 0;
	check_copy(8, SIZE, 0, end, 32);
	check_copy(8, SIZE, end, end, 32);
	check_copy(8, SIZE, UINT64_MAX, end, 32);
	check_copy(8, SIZE, end - 1, end, 32);
	readable = UINT64_MAX;
	check_copy(8, SIZE, end - 5, end, 32);
	check_copy(8, SIZE, UINT64_MAX - 5, end, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_tail_is_safe),
		cmocka_unit_test(bytes_go_around_the_end),
		cmocka_unit_test(copies_are_what_is_there),
		cmocka_unit_test(pointers_may_be_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
