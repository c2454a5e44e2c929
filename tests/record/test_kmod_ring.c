// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of the kernel module that stay in their ring until they are due. */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/kmod/kmod_ring.h"

enum { RING = 4096, SIZE = 3 * sizeof(uint64_t) };

struct bench {
	struct kmod_ring ring;
	struct tally_ring *page;
	struct order o;
	struct order_feed feed;
	uint64_t damaged;
	uint64_t record[KMOD_RECORD_MAX / 8 + 1];
	uint64_t times[RING / SIZE], numbers[RING / SIZE];	/* delivered */
	size_t n;
};

static uint64_t clock_ns;

static uint64_t now(void)
{
	return clock_ns;
}

static bool peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time)
{
	struct bench *b = ctx;

	(void)stream;
	return kmod_ring_peek(&b->ring, upto, time, &b->damaged);
}

static bool take(void *ctx, size_t stream, struct order_record *out)
{
	struct bench *b = ctx;

	(void)stream;
	*out = (struct order_record){ (const uint8_t *)b->record,
				      kmod_ring_fetch(&b->ring, b->record) };
	return out->size;
}

static int see(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct bench *b = ctx;

	assert_int_equal(size, SIZE);
	b->times[b->n] = time;
	memcpy(&b->numbers[b->n++], bytes + sizeof(struct tally_record), 8);
	return 0;
}

/* The ring's positions begin shortly before they overflow. */
static int setup(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->page = calloc(1, page + RING);
	assert_non_null(b->page);
	b->page->head = b->page->tail = (uint64_t)0 - 4 * 8;
	b->ring = (struct kmod_ring){ .page = b->page, .size = RING };
	b->feed = (struct order_feed){ peek, take, b };
	assert_int_equal(order_init(&b->o, 1), 0);
	b->o.feed = &b->feed;
	clock_ns = 1000;
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	order_fini(&b->o);
	free(b->page);
	free(b);
	return 0;
}

static uint8_t *data_at(struct bench *b, uint64_t pos)
{
	return (uint8_t *)b->page + sysconf(_SC_PAGESIZE) + pos % RING;
}

/* Puts a record as the module does. */
static void put(struct bench *b, uint64_t time, uint64_t number)
{
	uint64_t words[3] = { 0, 0, number };
	struct tally_record r = { .type = 1, .size = SIZE, .time = time };

	memcpy(words, &r, sizeof(r));
	for (size_t i = 0; i < 3; i++)
		memcpy(data_at(b, b->page->head + 8 * i), &words[i], 8);
	b->page->head += SIZE;
}

static int look(struct bench *b)
{
	return kmod_ring_look(&b->ring, &b->o, 0, now, &b->damaged);
}

static void records_stay_until_they_are_due(void **state)
{
	struct bench *b = *state;
	uint64_t tail = b->page->tail;

	put(b, 100, 1);
	put(b, 200, 2);
	put(b, 5000, 3);	/* from the future */
	assert_int_equal(look(b), 0);
	put(b, 300, 4);		/* since the last look */
	assert_int_equal(order_waiting(&b->o), 0);
	assert_int_equal(order_flush(&b->o, 150, see, b), 0);
	assert_int_equal(b->n, 1);
	assert_int_equal(b->page->tail, tail + SIZE);
	assert_int_equal(order_flush(&b->o, 2000, see, b), 0);
	assert_int_equal(b->n, 3);
	assert_int_equal(b->times[2], 1000);
	assert_int_equal(look(b), 0);
	assert_int_equal(order_flush(&b->o, 2000, see, b), 0);
	assert_int_equal(b->n, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(b->numbers[i], i + 1);
	assert_int_equal(b->page->tail, b->page->head);
	assert_int_equal(b->damaged, 0);
}

static void a_ring_that_fills_up_is_emptied(void **state)
{
	struct bench *b = *state;
	uint64_t time;

	put(b, 100, 0);
	assert_int_equal(look(b), 0);
	assert_true(peek(b, 0, 500, &time));
	for (uint64_t i = 1; i <= RING / 2 / SIZE; i++)
		put(b, 100 + i, i);
	assert_int_equal(look(b), 0);
	assert_int_equal(b->page->tail, b->page->head);
	assert_true(order_waiting(&b->o) > RING / 2);
	/* The one that was peeked at went, too. */
	assert_int_equal(kmod_ring_fetch(&b->ring, b->record), 0);
	put(b, 900, RING / 2 / SIZE + 1);
	assert_int_equal(look(b), 0);
	assert_int_equal(order_flush(&b->o, 1000, see, b), 0);
	assert_int_equal(b->n, RING / 2 / SIZE + 2);
	for (uint64_t i = 0; i < b->n; i++)
		assert_int_equal(b->numbers[i], i);
	assert_int_equal(b->o.late, 0);
}

/* What another process may write into the ring at any time. */
static void a_header_counts_as_first_read(void **state)
{
	const struct tally_record other = { .type = 9, .size = 0xfff8, .time = 7 };
	struct bench *b = *state;
	struct tally_record got;
	uint64_t time;

	put(b, 100, 1);
	assert_int_equal(look(b), 0);
	assert_true(peek(b, 0, 500, &time));
	for (size_t i = 0; i < 2; i++)
		memcpy(data_at(b, b->page->tail + 8 * i),
		       (const uint8_t *)&other + 8 * i, 8);
	assert_int_equal(kmod_ring_fetch(&b->ring, b->record), SIZE);
	memcpy(&got, b->record, sizeof(got));
	assert_int_equal(got.size, SIZE);
	assert_int_equal(got.time, 100);
	assert_int_equal(b->page->tail, b->page->head);
}

static void damage_ends_at_the_head(void **state)
{
	static const uint16_t sizes[] = { 0, 8, 20, 2 * SIZE, 0xfff8 };
	struct bench *b = *state;
	struct tally_record bad = { .type = 1, .time = 50 };
	uint64_t time;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t at = b->page->head;

		put(b, 50, 1);
		bad.size = sizes[i];
		memcpy(data_at(b, at), &bad, 8);
		assert_int_equal(look(b), 0);
		assert_false(peek(b, 0, 500, &time));
		assert_int_equal(b->damaged, SIZE * (i + 1));
		assert_int_equal(b->page->tail, b->page->head);
		assert_false(peek(b, 0, 500, &time));
	}
	/* positions that no module leaves behind */
	b->page->head = b->page->tail - 8;
	assert_int_equal(look(b), 0);
	assert_false(peek(b, 0, 500, &time));
	assert_int_equal(b->page->tail, b->page->head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		WITH(records_stay_until_they_are_due),
		WITH(a_ring_that_fills_up_is_emptied),
		WITH(a_header_counts_as_first_read),
		WITH(damage_ends_at_the_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
