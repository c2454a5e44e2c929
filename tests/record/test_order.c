// SPDX-License-Identifier: GPL-2.0-or-later
#include "../checks.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "record/source/order.h"

static void put(struct order *o, size_t stream, uint64_t time, uint64_t value)
{
	uint8_t *p = order_room(o, stream, sizeof(value));

	assert_non_null(p);
	memcpy(p, &value, sizeof(value));
	order_commit(o, stream, sizeof(value), time);
}

struct seen {
	uint64_t time[70000], value[70000];
	size_t n;
	size_t stop_at;
};

static int see(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct seen *s = ctx;

	assert_int_equal(size, 8);
	assert_int_equal((uintptr_t)bytes & 7, 0);
	s->time[s->n] = time;
	memcpy(&s->value[s->n++], bytes, 8);
	return s->stop_at && s->n == s->stop_at ? -7 : 0;
}

static void streams_merge_by_time(void **state)
{
	enum { STREAMS = 7, N = 70000 };
	struct seen *s = calloc(1, sizeof(*s));
	uint64_t clock[STREAMS] = { 0 }, last = 0, sum = 0, upto = 0;
	struct order o;

	(void)state;
	srand(42);
	assert_int_equal(order_init(&o, STREAMS), 0);
	for (uint64_t i = 0; i < N; i++) {
		size_t k = (size_t)rand() % STREAMS;

		/* A stream may be ahead of another, never behind what was
		 * flushed. */
		if (clock[k] < upto)
			clock[k] = upto;
		clock[k] += (uint64_t)rand() % 100;
		put(&o, k, clock[k], i);
		if (i % 1000 == 999) {
			upto = UINT64_MAX;
			for (size_t j = 0; j < STREAMS; j++)
				if (clock[j] < upto)
					upto = clock[j];
			assert_int_equal(order_flush(&o, upto, see, s), 0);
			for (size_t j = 0; j < s->n; j++)
				assert_true(s->time[j] <= upto);
		}
	}
	assert_int_equal(order_flush(&o, UINT64_MAX, see, s), 0);
	assert_int_equal(s->n, N);
	for (size_t i = 0; i < N; i++) {
		assert_true(s->time[i] >= last);
		last = s->time[i];
		sum += s->value[i];
	}
	assert_int_equal(sum, (uint64_t)N * (N - 1) / 2);
	assert_int_equal(o.late, 0);
	assert_int_equal(order_waiting(&o), 0);
	order_fini(&o);
	free(s);
}

static void a_step_back_keeps_its_place(void **state)
{
	static struct seen s;
	struct order o;

	(void)state;
	s.n = 0;
	assert_int_equal(order_init(&o, 2), 0);
	put(&o, 0, 100, 1);
	put(&o, 0, 50, 2);	/* an interrupt came between */
	put(&o, 1, 99, 3);
	put(&o, 1, 101, 4);
	assert_int_equal(order_flush(&o, 200, see, &s), 0);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.value[0], 3);
	assert_int_equal(s.value[1], 1);
	assert_int_equal(s.value[2], 2);
	assert_int_equal(s.time[2], 100);
	assert_int_equal(s.value[3], 4);
	assert_int_equal(o.late, 0);
	order_fini(&o);
}

static void late_records_are_counted_and_delivered(void **state)
{
	static struct seen s;
	struct order o;

	(void)state;
	s.n = 0;
	assert_int_equal(order_init(&o, 2), 0);
	put(&o, 0, 1000, 1);
	assert_int_equal(order_flush(&o, 1000, see, &s), 0);
	put(&o, 1, 10, 2);
	assert_int_equal(order_flush(&o, 1000, see, &s), 0);
	assert_int_equal(o.late, 1);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.value[1], 2);
	order_fini(&o);
}

static void a_shorter_flush_forgives_nothing(void **state)
{
	static struct seen s;
	struct order o;

	(void)state;
	s.n = s.stop_at = 0;
	assert_int_equal(order_init(&o, 1), 0);
	assert_int_equal(order_flush(&o, 1000, see, &s), 0);
	assert_int_equal(order_flush(&o, 500, see, &s), 0);
	put(&o, 0, 700, 1);
	assert_int_equal(order_flush(&o, 1000, see, &s), 0);
	assert_int_equal(o.late, 1);
	assert_int_equal(s.n, 1);
	order_fini(&o);
}

static int see_size(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	size_t *n = ctx;

	assert_int_equal((uintptr_t)bytes & 7, 0);
	assert_int_equal(size, ++*n);
	assert_int_equal(time, *n);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(bytes[i], size);
	return 0;
}

static void records_of_any_size_are_aligned(void **state)
{
	enum { SIZES = 20 };
	struct order o;
	size_t n = 0;

	(void)state;
	assert_int_equal(order_init(&o, 1), 0);
	for (size_t size = 1; size <= SIZES; size++) {
		uint8_t *p = order_room(&o, 0, size);

		assert_non_null(p);
		memset(p, (int)size, size);
		order_commit(&o, 0, size, size);
	}
	assert_int_equal(order_flush(&o, SIZES, see_size, &n), 0);
	assert_int_equal(n, SIZES);
	assert_int_equal(order_waiting(&o), 0);
	order_fini(&o);
}

static void what_is_not_due_waits(void **state)
{
	static struct seen s;
	struct order o;

	(void)state;
	s.n = 0;
	assert_int_equal(order_init(&o, 1), 0);
	put(&o, 0, 5, 1);
	put(&o, 0, 6, 2);
	assert_int_equal(order_flush(&o, 5, see, &s), 0);
	assert_int_equal(s.n, 1);
	assert_true(order_waiting(&o) > 0);
	put(&o, 0, 7, 3);
	assert_int_equal(order_flush(&o, 7, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.value[2], 3);
	order_fini(&o);
}

static void a_stopped_flush_goes_on_later(void **state)
{
	static struct seen s;
	struct order o;

	(void)state;
	s.n = 0;
	s.stop_at = 2;
	assert_int_equal(order_init(&o, 2), 0);
	for (uint64_t i = 0; i < 6; i++)
		put(&o, i & 1, i, i);
	assert_int_equal(order_flush(&o, 10, see, &s), -7);
	s.stop_at = 0;
	assert_int_equal(order_flush(&o, 10, see, &s), 0);
	assert_int_equal(s.n, 6);
	for (uint64_t i = 0; i < 6; i++)
		assert_int_equal(s.value[i], i);
	order_fini(&o);
}

/* Records that stay elsewhere until they are due. */
struct elsewhere {
	struct order *o;
	uint64_t next, n;	/* times of the records of stream 1: next, next + 2 … */
	uint64_t value;
};

static bool elsewhere_peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time)
{
	struct elsewhere *e = ctx;

	if (stream != 1 || e->next >= e->n || e->next > upto)
		return false;
	if (e->next % 5 == 0) {	/* the other thread is faster */
		put(e->o, 1, e->next, e->next);
		e->next += 2;
		return false;
	}
	*time = e->next;
	return true;
}

static bool elsewhere_take(void *ctx, size_t stream, struct order_record *out)
{
	struct elsewhere *e = ctx;
	uint64_t time = e->next;

	assert_int_equal(stream, 1);
	e->next += 2;
	if (time % 7 == 0) {
		put(e->o, 1, time, time);
		return false;
	}
	e->value = time;
	*out = (struct order_record){ (const uint8_t *)&e->value, sizeof(e->value) };
	return true;
}

static void records_elsewhere_keep_their_order(void **state)
{
	enum { N = 1000 };
	static struct seen s;
	struct order o;
	struct elsewhere e = { &o, 1, N, 0 };
	const struct order_feed feed = { elsewhere_peek, elsewhere_take, &e };

	(void)state;
	s.n = s.stop_at = 0;
	assert_int_equal(order_init(&o, 2), 0);
	o.feed = &feed;
	for (uint64_t i = 0; i < N; i += 2)
		put(&o, 0, i, i);
	for (uint64_t upto = 0; upto < N; upto += 13)
		assert_int_equal(order_flush(&o, upto, see, &s), 0);
	assert_int_equal(order_flush(&o, N, see, &s), 0);
	assert_int_equal(s.n, N);
	for (uint64_t i = 0; i < N; i++) {
		assert_int_equal(s.value[i], i);
		assert_int_equal(s.time[i], i);
	}
	assert_int_equal(o.late, 0);
	order_fini(&o);
}

/* Records elsewhere are late, and precede older ones, like those that were added. */
static void records_elsewhere_have_their_place(void **state)
{
	static struct seen s;
	struct order o;
	struct elsewhere e = { &o, 11, 12, 0 };
	const struct order_feed feed = { elsewhere_peek, elsewhere_take, &e };

	(void)state;
	s.n = s.stop_at = 0;
	assert_int_equal(order_init(&o, 2), 0);
	o.feed = &feed;
	assert_int_equal(order_flush(&o, 11, see, &s), 0);
	put(&o, 1, 4, 4);
	assert_int_equal(order_flush(&o, 20, see, &s), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.value[1], 4);
	assert_int_equal(s.time[1], 11);
	assert_int_equal(o.late, 0);
	e.next = 17;
	e.n = 18;
	assert_int_equal(order_flush(&o, 20, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(o.late, 1);
	order_fini(&o);
}

/* One record elsewhere.  While it is taken, the other thread adds the next one. */
static bool first_peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time)
{
	const struct elsewhere *e = ctx;

	(void)stream;
	*time = e->next;
	return e->next < e->n && e->next <= upto;
}

static bool first_take(void *ctx, size_t stream, struct order_record *out)
{
	struct elsewhere *e = ctx;

	e->value = e->next;
	*out = (struct order_record){ (const uint8_t *)&e->value, sizeof(e->value) };
	e->next = e->n;
	put(e->o, stream, e->n, e->n);
	return true;
}

static void a_record_added_while_another_is_taken_precedes_later_ones(void **state)
{
	static struct seen s;
	struct order o;
	struct elsewhere e = { &o, 10, 30, 0 };
	const struct order_feed feed = { first_peek, first_take, &e };

	(void)state;
	s.n = s.stop_at = 0;
	assert_int_equal(order_init(&o, 1), 0);
	o.feed = &feed;
	assert_int_equal(order_flush(&o, 10, see, &s), 0);
	put(&o, 0, 20, 20);
	assert_int_equal(order_flush(&o, 40, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.time[0], 10);
	assert_int_equal(s.time[1], 30);
	/* A step back: it gets its predecessor's time. */
	assert_int_equal(s.value[2], 20);
	assert_int_equal(s.time[2], 30);
	order_fini(&o);
}

enum { HANDED = 200000 };

static void *hand_over(void *arg)
{
	struct order *o = arg;

	for (uint64_t i = 0; i < HANDED; i++) {
		/* Of all sizes, up to what a block does not hold. */
		size_t size = i % 997 ? 8 + i % 64 * 8 : 200000;
		uint8_t *p = order_room(o, i % 3, size);

		if (!p)
			return NULL;
		memset(p, (int)i, size);
		memcpy(p, &i, sizeof(i));
		order_commit(o, i % 3, size, i);
	}
	return NULL;
}

struct taken {
	uint64_t n, next[3];
	bool bad;
};

static int take(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct taken *t = ctx;
	uint64_t i;

	memcpy(&i, bytes, sizeof(i));
	t->bad |= i != time || i != t->next[i % 3] ||
		  (size > 8 && bytes[size - 1] != (uint8_t)i);
	t->next[i % 3] = i + 3;
	t->n++;
	return 0;
}

/* Under a sanitizer for threads, too. */
static void one_thread_writes_another_reads(void **state)
{
	struct taken t = { 0, { 0, 1, 2 }, false };
	struct order o;
	pthread_t thread;

	(void)state;
	assert_int_equal(order_init(&o, 3), 0);
	assert_int_equal(pthread_create(&thread, NULL, hand_over, &o), 0);
	while (t.n < HANDED && !t.bad)
		assert_int_equal(order_flush(&o, UINT64_MAX - 1, take, &t), 0);
	pthread_join(thread, NULL);
	assert_false(t.bad);
	assert_int_equal(t.n, HANDED);
	assert_int_equal(order_waiting(&o), 0);
	order_fini(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_merge_by_time),
		cmocka_unit_test(a_step_back_keeps_its_place),
		cmocka_unit_test(late_records_are_counted_and_delivered),
		cmocka_unit_test(a_shorter_flush_forgives_nothing),
		cmocka_unit_test(records_of_any_size_are_aligned),
		cmocka_unit_test(what_is_not_due_waits),
		cmocka_unit_test(a_stopped_flush_goes_on_later),
		cmocka_unit_test(records_elsewhere_keep_their_order),
		cmocka_unit_test(records_elsewhere_have_their_place),
		cmocka_unit_test(a_record_added_while_another_is_taken_precedes_later_ones),
		cmocka_unit_test(one_thread_writes_another_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
