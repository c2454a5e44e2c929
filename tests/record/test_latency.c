// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares of wall-clock time. */
#include "../checks.h"
#include <string.h>

#include "record/waits/latency.h"

static uint64_t in(struct latency *l, uint32_t tid, uint64_t time)
{
	uint64_t gap;

	assert_int_equal(latency_in(l, tid, time, &gap), 0);
	return gap;
}

/* One runs alone, then two beside each other, then none, then one again. */
static void moments_are_divided_evenly(void **state)
{
	struct latency l = { 0 };

	(void)state;
	latency_begin(&l, 100);
	assert_int_equal(in(&l, 1, 100), 0);
	assert_int_equal(in(&l, 2, 200), 0);
	latency_out(&l, 1, 300);
	latency_out(&l, 2, 340);
	assert_int_equal(latency_take(&l, 1, 350), 100 + 50);
	assert_int_equal(latency_take(&l, 2, 350), 50 + 40);
	assert_int_equal(in(&l, 2, 500), 160);
	assert_int_equal(latency_take(&l, 2, 510), 10);
	assert_int_equal(latency_take(&l, 2, 510), 0);
	latency_fini(&l);
}

static void all_shares_are_the_time(void **state)
{
	enum { THREADS = 7 };
	struct latency l = { 0 };
	uint64_t now = 1000, sum = 0;
	bool runs[THREADS + 1] = { false };

	(void)state;
	srand(3);
	latency_begin(&l, now);
	for (int i = 0; i < 10000; i++) {
		uint32_t tid = 1 + (uint32_t)rand() % THREADS;

		now += (uint64_t)rand() % 100;
		if (runs[tid])
			latency_out(&l, tid, now);
		else
			sum += in(&l, tid, now);
		runs[tid] = !runs[tid];
		if (rand() % 3 == 0)
			sum += latency_take(&l, tid, now);
	}
	/* The last one ends the gap that may be open. */
	sum += in(&l, THREADS + 1, now);
	for (uint32_t t = 1; t <= THREADS; t++)
		sum += latency_take(&l, t, now);
	/* Each thread keeps less than one nanosecond. */
	assert_in_range(sum, now - 1000 - THREADS, now - 1000);
	latency_fini(&l);
}

static void an_ended_thread_is_not_running(void **state)
{
	struct latency l = { 0 };

	(void)state;
	latency_begin(&l, 0);
	in(&l, 1, 0);
	in(&l, 2, 0);
	assert_int_equal(latency_take(&l, 1, 100), 50);
	latency_exit(&l, 1, 100);
	assert_int_equal(latency_take(&l, 2, 200), 150);
	/* A new thread of the same number. */
	assert_int_equal(latency_take(&l, 1, 200), 0);
	in(&l, 1, 200);
	assert_int_equal(latency_take(&l, 1, 300), 50);
	latency_fini(&l);
}

static void what_was_lost_is_given_to_no_thread(void **state)
{
	struct latency l = { 0 };

	(void)state;
	latency_begin(&l, 0);
	in(&l, 1, 0);
	latency_lost(&l, 100);
	assert_int_equal(in(&l, 2, 300), 0);
	assert_int_equal(latency_take(&l, 1, 400), 100);
	assert_int_equal(latency_take(&l, 2, 400), 100);
	latency_out(&l, 1, 450);	/* not known to run */
	latency_out(&l, 2, 500);
	assert_int_equal(latency_take(&l, 2, 600), 100);
	/* Since then nothing was lost. */
	assert_int_equal(in(&l, 2, 700), 200);
	latency_fini(&l);
}

/* The record of its switch-out is missing. */
static void a_thread_that_runs_already_runs_once(void **state)
{
	struct latency l = { 0 };

	(void)state;
	latency_begin(&l, 0);
	in(&l, 1, 0);
	in(&l, 2, 0);
	assert_int_equal(in(&l, 1, 50), 0);
	assert_int_equal(latency_take(&l, 1, 100), 50);
	assert_int_equal(latency_take(&l, 2, 100), 50);
	latency_fini(&l);
}

static void another_run_begins_anew(void **state)
{
	struct latency l = { 0 };

	(void)state;
	latency_begin(&l, 0);
	in(&l, 1, 0);
	in(&l, 2, 0);
	in(&l, 3, 0);
	latency_exit(&l, 2, 30);
	latency_begin(&l, 1000);
	assert_int_equal(in(&l, 4, 1000), 0);
	in(&l, 5, 1010);
	assert_int_equal(latency_take(&l, 4, 1020), 10 + 5);
	assert_int_equal(latency_take(&l, 5, 1020), 5);
	assert_int_equal(latency_take(&l, 1, 1020), 0);
	latency_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_divided_evenly),
		cmocka_unit_test(all_shares_are_the_time),
		cmocka_unit_test(an_ended_thread_is_not_running),
		cmocka_unit_test(what_was_lost_is_given_to_no_thread),
		cmocka_unit_test(a_thread_that_runs_already_runs_once),
		cmocka_unit_test(another_run_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
