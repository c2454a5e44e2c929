// SPDX-License-Identifier: GPL-2.0-or-later
/* Records from what programs with timers report of themselves. */
#include "../checks.h"
#include <string.h>

#include "profile/model.h"
#include "record/timer/timer_sideband.h"

enum { MS = 1000000, RECORDS = 32 };

/* proc(5), /proc/PID/maps. */
#define ONE_FILE "700000-702000 r-xp 00000000 08:01 77 /x/program\n"

struct seen {
	struct timer_sideband n;
	struct record r[RECORDS];
	uint64_t user[RECORDS];		/* the first address */
	size_t nrecords;
};

static int see(void *ctx, const struct record *r, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_in_range(s->nrecords, 0, RECORDS - 1);
	if (r->kind == RECORD_SAMPLE && r->sample.nuser)
		s->user[s->nrecords] = r->sample.user[0];
	s->r[s->nrecords++] = *r;
	return 0;
}

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	timer_sideband_init(&s->n, "/nonexistent");
	s->n.cb = see;
	s->n.ctx = s;
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	timer_sideband_fini(&s->n);
	free(s);
	return 0;
}

static size_t count(const struct seen *s, enum record_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nrecords; i++)
		n += s->r[i].kind == kind;
	return n;
}

static void take(struct seen *s, const struct timer_message *m, uint64_t time)
{
	assert_int_equal(timer_sideband_message(&s->n, m, time), 0);
}

static void tell(struct seen *s, enum timer_kind kind, uint32_t pid, const char *text,
		 uint64_t time)
{
	take(s, &(struct timer_message){ .kind = kind, .pid = pid, .tid = pid,
					 .text = text, .n = strlen(text) }, time);
}

/* A program that took 30 ms, a third of it in the kernel, or 5 ms at unknown places. */
static void start(struct seen *s, uint32_t pid, bool exact, uint64_t time)
{
	struct timer_message m = { .kind = TIMER_START, .pid = pid, .tid = pid,
				   .ppid = 1, .text = "a", .n = 1, .entry = 0x7000,
				   .cpu_us = exact ? 30000 : 5000, .user_us = 20000,
				   .sys_us = 10000 };

	tell(s, TIMER_EXEC, pid, "a", time - 100 * MS);
	take(s, &m, time);
}

static void a_process_is_reported_once(void **state)
{
	struct timer_message fork = { .kind = TIMER_FORK, .pid = 10, .tid = 10,
				      .ppid = 5, .ptid = 6 };
	struct seen *s = *state;

	take(s, &fork, 1000);
	assert_int_equal(count(s, RECORD_FORK), 1);
	assert_int_equal(s->r[0].pid, 10);
	assert_int_equal(s->r[0].fork.ppid, 5);
	assert_int_equal(s->r[0].fork.ptid, 6);
	start(s, 10, true, 1000 * MS);
	assert_int_equal(count(s, RECORD_FORK), 1);
	assert_int_equal(count(s, RECORD_COMM), 1);
	/* One that was spawned without a fork. */
	start(s, 11, true, 1000 * MS);
	assert_int_equal(count(s, RECORD_FORK), 2);
	/* Its thread is unknown: the first one. */
	fork.pid = fork.tid = 12;
	fork.ptid = 0;
	s->nrecords = 0;
	take(s, &fork, 1000 * MS);
	assert_int_equal(s->r[0].fork.ptid, 5);
}

static void programs_begin_side_by_side(void **state)
{
	struct seen *s = *state;

	start(s, 10, true, 1000 * MS);
	start(s, 11, false, 1000 * MS);
	s->nrecords = 0;
	tell(s, TIMER_MAPS, 10, "", 1001 * MS);
	assert_int_equal(s->nrecords, 2);
	assert_int_equal(s->r[0].sample.weight, 20 * MS);
	assert_int_equal(s->user[0], 0x7000);
	assert_false(s->r[0].sample.in_kernel);
	assert_int_equal(s->r[1].sample.weight, 10 * MS);
	assert_true(s->r[1].sample.in_kernel);
	tell(s, TIMER_MAPS, 11, "", 1001 * MS);
	assert_int_equal(s->nrecords, 3);
	assert_int_equal(s->r[2].pid, 11);
	assert_int_equal(s->r[2].sample.weight, 5 * MS);
	assert_string_equal(s->r[2].sample.place, PLACE_BEFORE_FIRST);
	/* Before samples count. */
	s->n.counts_from = 3000ull * MS;
	start(s, 12, true, 2000ull * MS);
	s->nrecords = 0;
	tell(s, TIMER_MAPS, 12, "", 2001ull * MS);
	assert_int_equal(s->nrecords, 0);
	assert_int_equal(s->n.weight, 35 * MS);
}

static void only_the_wanted_part_is_sampled(void **state)
{
	static const uint64_t at = 0x7000;
	struct seen *s = *state;

	for (int kernel = 0; kernel < 2; kernel++) {
		struct timer_message m = { .kind = TIMER_SAMPLE, .pid = 10, .tid = 10,
					   .cpu = 3 };

		s->n.no_user = kernel;
		s->n.no_kernel = !kernel;
		start(s, 10, true, 1000 * MS);
		start(s, 11, false, 1000 * MS);
		s->nrecords = 0;
		tell(s, TIMER_MAPS, 10, "", 1001 * MS);
		/* Which part this is is unknown. */
		tell(s, TIMER_MAPS, 11, "", 1001 * MS);
		assert_int_equal(s->nrecords, 1);
		assert_int_equal(s->r[0].sample.in_kernel, kernel);
		m.sample = (struct record_sample){ .weight = 1, .user = &at, .nuser = 1,
						   .in_kernel = !kernel };
		take(s, &m, 1002 * MS);
		assert_int_equal(s->nrecords, 1);
		m.sample.in_kernel = kernel;
		take(s, &m, 1002 * MS);
		assert_int_equal(s->nrecords, 2);
		assert_int_equal(s->r[1].cpu, 3);
	}
}

static void mappings_are_those_of_the_program(void **state)
{
	struct timer_message fork = { .kind = TIMER_FORK, .pid = 11, .tid = 11,
				      .ppid = 10, .ptid = 10 };
	struct seen *s = *state;

	tell(s, TIMER_MAPS, 10, ONE_FILE, 1000);
	assert_int_equal(count(s, RECORD_MMAP), 1);
	tell(s, TIMER_MAPS, 10, ONE_FILE, 2000);
	assert_int_equal(count(s, RECORD_MMAP), 1);
	/* A child has them already. */
	take(s, &fork, 3000);
	tell(s, TIMER_MAPS, 11, ONE_FILE, 4000);
	assert_int_equal(count(s, RECORD_MMAP), 1);
	/* Another program has none, even in the same process. */
	start(s, 10, true, 1000 * MS);
	tell(s, TIMER_MAPS, 10, ONE_FILE, 1001 * MS);
	assert_int_equal(count(s, RECORD_MMAP), 2);
	tell(s, TIMER_EXIT, 10, "", 1002 * MS);
	tell(s, TIMER_MAPS, 10, ONE_FILE, 1003 * MS);
	assert_int_equal(count(s, RECORD_MMAP), 3);
}

static void what_did_begin_is_not_named(void **state)
{
	struct seen *s = *state;

	/* A shell tries the folders of its path. */
	tell(s, TIMER_EXEC, 10, "/a/begins", 1000 * MS);
	tell(s, TIMER_EXEC, 10, "/b/begins", 1000 * MS);
	tell(s, TIMER_EXEC, 11, "fails", 1000 * MS);
	tell(s, TIMER_EXEC, 12, "never", 1000 * MS);
	tell(s, TIMER_EXEC_FAILED, 11, "", 1000 * MS);
	tell(s, TIMER_START, 10, "begins", 1001 * MS);
	/* This one has had 10 ms. */
	tell(s, TIMER_EXEC, 13, "soon", 1190 * MS);
	assert_int_equal(timer_sideband_end(&s->n, 1200 * MS), 0);
	assert_int_equal(s->n.outside.n, 1);
	assert_string_equal(s->n.outside.v[0].name, "never");
}

static void libraries_are_awaited_for_a_while(void **state)
{
	struct seen *s = *state;

	tell(s, TIMER_LOAD, 10, "", 1000 * MS);
	assert_int_equal(timer_sideband_loads(&s->n, 1050 * MS), 0);
	assert_int_equal(s->n.loads.n, 1);
	assert_int_equal(timer_sideband_loads(&s->n, 1200 * MS), 0);
	assert_int_equal(s->n.loads.n, 0);
}

static void a_remainder_is_more_than_a_period(void **state)
{
	struct seen *s = *state;

	s->n.weight = 5 * MS;
	assert_int_equal(timer_sideband_remainder(&s->n, 9 * MS, 5 * MS, 1), 0);
	assert_int_equal(s->nrecords, 0);
	assert_int_equal(timer_sideband_remainder(&s->n, 11 * MS, 5 * MS, 1), 0);
	assert_int_equal(s->nrecords, 1);
	assert_int_equal(s->r[0].sample.weight, 6 * MS);
	assert_string_equal(s->r[0].sample.place, PLACE_NOT_SAMPLED);
	assert_int_equal(s->n.remainder, 6 * MS);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_process_is_reported_once),
		WITH(programs_begin_side_by_side),
		WITH(only_the_wanted_part_is_sampled),
		WITH(mappings_are_those_of_the_program),
		WITH(what_did_begin_is_not_named),
		WITH(libraries_are_awaited_for_a_while),
		WITH(a_remainder_is_more_than_a_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
