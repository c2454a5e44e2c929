// SPDX-License-Identifier: GPL-2.0-or-later
/* Which line of a growing perf map named an address at a time. */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/perfmap_times.h"

static struct perfmap_times *t;
static struct perfmap_line line;
static uint64_t size;

static int begin(void **state)
{
	(void)state;
	size = 0;
	return perfmap_times_new(&t);
}

static int end(void **state)
{
	(void)state;
	perfmap_times_free(t);
	return 0;
}

/* Adds lines written between two times.  Returns their offset. */
static uint64_t add(const char *text, uint64_t since, uint64_t until)
{
	char *copy = strdup(text);
	size_t n = strlen(text);
	uint64_t at = size;

	assert_non_null(copy);
	assert_int_equal(perfmap_times_add(t, at, copy, n, since, until), 0);
	free(copy);
	size += n;
	return at;
}

static enum perfmap_found find(uint64_t addr, uint64_t time)
{
	return perfmap_times_find(t, addr, time, &line);
}

static void later_code_has_its_own_name(void **state)
{
	uint64_t at;

	(void)state;
	add("1000 20 old\n", 0, 10);
	at = add("1000 10 new\n", 30, 40);
	assert_int_equal(find(0x1004, 20), PERFMAP_FIRST);
	assert_int_equal(find(0x1004, 30), PERFMAP_FIRST);
	assert_int_equal(find(0x1004, 40), PERFMAP_LATER);
	assert_int_equal(line.offset, at);
	assert_int_equal(line.start, 0x1000);
	assert_int_equal(line.size, 0x10);
	/* not covered by the new line */
	assert_int_equal(find(0x1010, 50), PERFMAP_FIRST);
	assert_int_equal(find(0x2000, 50), PERFMAP_FIRST);
}

static void between_two_looks_it_is_unknown(void **state)
{
	uint64_t at;

	(void)state;
	add("1000 20 old\n", 0, 10);
	at = add("1000 20 new\n", 30, 40);
	assert_int_equal(find(0x1000, 31), PERFMAP_EITHER);
	assert_int_equal(line.offset, at);
	assert_int_equal(find(0x1000, 39), PERFMAP_EITHER);
	/* nothing was there before */
	add("3000 20 only\n", 50, 60);
	assert_int_equal(find(0x3000, 55), PERFMAP_FIRST);
	/* parts may overlap by the inaccuracy of the samples' times */
	add("3000 20 second\n", 58, 70);
	assert_int_equal(find(0x3000, 59), PERFMAP_EITHER);
	assert_int_equal(find(0x3000, 70), PERFMAP_LATER);
}

static void the_last_line_of_a_part_counts(void **state)
{
	uint64_t at;

	(void)state;
	add("1000 1000 coarse\n1000 20 fine\n", 0, 10);
	assert_int_equal(find(0x1000, 5), PERFMAP_FIRST);
	assert_int_equal(find(0x1000, 20), PERFMAP_FIRST);
	add("1000 20 a\n", 20, 30);
	at = size;
	/* the same part, in two pieces */
	add("1000 20 b\n", 20, 30);
	assert_int_equal(find(0x1000, 30), PERFMAP_LATER);
	assert_int_equal(line.offset, at);
}

static void a_function_that_is_compiled_again_stays(void **state)
{
	(void)state;
	add("1000 20 JS:~f /a.js:1:2\n", 0, 10);
	add("1000 40 JS:*f /a.js:1:2\n", 20, 30);
	assert_int_equal(find(0x1000, 25), PERFMAP_FIRST);
	assert_int_equal(find(0x1000, 40), PERFMAP_FIRST);
	add("1000 40 JS:*f /a.js:9:2\n", 40, 50);
	assert_int_equal(find(0x1000, 60), PERFMAP_LATER);
	/* the first one again */
	add("1000 40 JS:*f /a.js:1:2\n", 60, 70);
	assert_int_equal(find(0x1000, 70), PERFMAP_FIRST);
}

static void epochs_differ_where_results_do(void **state)
{
	static const uint64_t times[] = { 0, 5, 10, 15, 20, 21, 25, 29, 30, 35, 40, 41,
					  44, 45, 49, 50, 60 };
	enum { TIMES = sizeof(times) / sizeof(times[0]) };

	(void)state;
	add("1000 20 a\n", 0, 10);
	assert_int_equal(perfmap_times_epoch(t, 100), 0);
	add("1008 20 b\n", 20, 30);
	add("1010 8 c\n", 28, 45);
	add("9000 8 elsewhere\n", 48, 50);
	for (size_t i = 0; i < TIMES; i++)
		for (size_t k = 0; k < TIMES; k++)
			for (uint64_t at = 0x1000; at < 0x1030; at += 4) {
				enum perfmap_found x = find(at, times[i]);
				struct perfmap_line was = line;

				if (perfmap_times_epoch(t, times[i]) !=
				    perfmap_times_epoch(t, times[k]))
					continue;
				assert_int_equal(find(at, times[k]), x);
				if (x != PERFMAP_FIRST)
					assert_int_equal(line.offset, was.offset);
				if (!perfmap_times_epoch(t, times[i]))
					assert_int_equal(x, PERFMAP_FIRST);
			}
}

static void parts_end_where_their_lines_do(void **state)
{
	const uint64_t *ends;
	size_t n;

	(void)state;
	add("1000 20 a\n", 0, 10);
	add("nonsense\n\n", 20, 30);
	add("2000 20 b\n", 20, 30);
	ends = perfmap_times_ends(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(ends[0], 10);
	assert_int_equal(ends[1], size);
	perfmap_times_close(t);
	assert_int_equal(find(0x1000, 50), PERFMAP_FIRST);
	ends = perfmap_times_ends(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(ends[1], size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(later_code_has_its_own_name, begin, end),
		cmocka_unit_test_setup_teardown(between_two_looks_it_is_unknown, begin, end),
		cmocka_unit_test_setup_teardown(the_last_line_of_a_part_counts, begin, end),
		cmocka_unit_test_setup_teardown(a_function_that_is_compiled_again_stays,
						begin, end),
		cmocka_unit_test_setup_teardown(epochs_differ_where_results_do, begin, end),
		cmocka_unit_test_setup_teardown(parts_end_where_their_lines_do, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
