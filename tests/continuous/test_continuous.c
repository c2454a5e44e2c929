// SPDX-License-Identifier: GPL-2.0-or-later
/* Finished files and their retention, the status, and options of a file. */
#include "../checks.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/at_files.h"
#include "continuous/files.h"
#include "continuous/status.h"

#define SECOND 1000000000ull
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct scratch {
	char path[64];
	int dir;
};

static int setup(void **state)
{
	struct scratch *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	strcpy(s->path, "/tmp/tally-files.XXXXXX");
	if (!mkdtemp(s->path))
		return -1;
	s->dir = open(s->path, O_RDONLY | O_DIRECTORY);
	*state = s;
	return s->dir < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct scratch *s = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", s->path);
	close(s->dir);
	if (system(command))
		return -1;
	free(s);
	return 0;
}

/* A file of so many bytes that is so many seconds old. */
static void make(const struct scratch *s, const char *name, size_t bytes,
		 time_t age)
{
	struct timespec times[2] = { { time(NULL) - age, 0 },
				     { time(NULL) - age, 0 } };
	int fd = openat(s->dir, name, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool is_there(const struct scratch *s, const char *name)
{
	return !faccessat(s->dir, name, F_OK, 0);
}

static void names_are_those_of_finished_files(void **state)
{
	static const struct {
		const char *name;
		bool want;
	} cases[] = {
		{ "record-0.tally.2026112409425336", true },
		{ "record-1.tally.1", true },
		{ "record-2.tally.1", false }, { "record-0.tally", false },
		{ "record-0.tally.", false }, { "record-0.tally.old", false },
		{ "record-0.tally.1x", false }, { "x-0.tally.1", false },
		{ "record-0.tally.1/../x", false }, { "", false },
		{ "record-0.tally.11111111111111111111111111111111111111111111111"
		  "111111111111111", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(is_finished_name(cases[i].name), cases[i].want);
}

static void oldest_files_go_first(void **state)
{
	struct scratch *s = *state;
	struct files f = { .bytes = 0 };
	struct retention r = { .keep_ns = 1000 * SECOND };
	uint64_t removed = 0;
	struct error err;

	make(s, "record-0.tally.1", 100, 2000);
	make(s, "record-1.tally.2", 200, 500);
	make(s, "record-0.tally.3", 300, 10);
	make(s, "mine.txt", 1000, 5000);
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	assert_int_equal(f.v.n, 3);
	assert_int_equal(f.bytes, 600);
	assert_string_equal(f.v.v[0].name, "record-0.tally.1");
	assert_true(files_retain(&f, s->dir, &r, &removed));
	assert_int_equal(removed, 1);
	assert_false(is_there(s, "record-0.tally.1"));
	assert_true(is_there(s, "record-1.tally.2"));
	r = (struct retention){ .keep_bytes = 400 };
	assert_true(files_retain(&f, s->dir, &r, &removed));
	assert_int_equal(removed, 2);
	assert_int_equal(f.bytes, 300);
	assert_true(is_there(s, "record-0.tally.3"));
	/* no disk is so large */
	r = (struct retention){ .free_bytes = UINT64_MAX };
	assert_false(files_retain(&f, s->dir, &r, &removed));
	assert_int_equal(removed, 3);
	assert_int_equal(f.v.n, 0);
	assert_true(is_there(s, "mine.txt"));
	files_fini(&f);
}

/* What was seen to be young stays so, although its time says otherwise. */
static void steps_of_the_clock_age_nothing(void **state)
{
	struct scratch *s = *state;
	struct files f = { .bytes = 0 };
	struct retention r = { .keep_ns = 1000 * SECOND };
	uint64_t removed = 0;
	struct error err;

	make(s, "record-0.tally.1", 100, 10);
	make(s, "record-0.tally.2", 100, -100000);	/* from the future */
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	make(s, "record-0.tally.1", 100, 100000);
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	files_retain(&f, s->dir, &r, &removed);
	assert_int_equal(removed, 0);
	assert_int_equal(f.v.n, 2);
	files_fini(&f);
}

/* A file that appears after the clock was set is neither old nor older than others. */
static void files_finished_after_a_step_are_the_newest(void **state)
{
	static const time_t ages[] = { 36000, -36000 };	/* steps back and forward */

	for (size_t i = 0; i < COUNT(ages); i++) {
		struct scratch *s = *state;
		struct files f = { .bytes = 0 };
		struct retention r = { .keep_ns = 1000 * SECOND };
		uint64_t removed = 0;
		struct error err;

		make(s, "record-0.tally.1", 100, 20);
		make(s, "record-0.tally.2", 100, 10);
		assert_int_equal(files_update(&f, s->dir, &err), 0);
		make(s, "record-0.tally.3", 100, ages[i]);
		assert_int_equal(files_update(&f, s->dir, &err), 0);
		files_retain(&f, s->dir, &r, &removed);
		assert_int_equal(removed, 0);
		r = (struct retention){ .keep_bytes = 100 };
		files_retain(&f, s->dir, &r, &removed);
		assert_int_equal(removed, 2);
		assert_true(is_there(s, "record-0.tally.3"));
		assert_int_equal(unlinkat(s->dir, "record-0.tally.3", 0), 0);
		files_fini(&f);
	}
}

/* How long a file has been quiet does not depend on the wall clock, either. */
static void files_that_change_are_not_quiet(void **state)
{
	struct scratch *s = *state;
	struct files f = { .bytes = 0 };
	struct error err;

	make(s, "record-0.tally.1", 100, 500);
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	assert_in_range(finished_quiet_ns(&f.v.v[0]), 499 * SECOND, 5000 * SECOND);
	make(s, "record-0.tally.1", 200, -36000);
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	assert_in_range(finished_quiet_ns(&f.v.v[0]), 0, 400 * SECOND);
	files_fini(&f);
}

static void leftovers_are_adopted(void **state)
{
	struct scratch *s = *state;
	struct files f = { .bytes = 0 };
	struct error err;

	assert_int_equal(files_adopt(s->dir, 0, &err), 0);
	make(s, "record-0.tally", 5, 10);
	assert_int_equal(files_adopt(s->dir, 0, &err), 0);
	make(s, "record-0.tally", 6, 10);	/* of the same moment */
	assert_int_equal(files_adopt(s->dir, 0, &err), 0);
	assert_false(is_there(s, "record-0.tally"));
	assert_int_equal(files_update(&f, s->dir, &err), 0);
	assert_int_equal(f.v.n, 2);
	assert_int_equal(f.bytes, 11);
	files_fini(&f);
}

static void status_is_read_as_written(void **state)
{
	struct continuous_status s = { .state = "recording", .why = "a \"b\"\n",
		.pid = 7, .cpu_seconds = 1.5, .pushing = true, .files = 3,
		.keeper_says = { .files = 9, .samples = 1ull << 50, .full = 2,
				 .push.problem = "x" } }, got;
	struct buf text = { 0 };
	struct error err;

	(void)state;
	status_json(&s, &text);
	assert_int_equal(status_parse(text.p, text.n, &got, &err), 0);
	assert_string_equal(got.state, "recording");
	assert_string_equal(got.why, "a \"b\"\n");
	assert_int_equal(got.pid, 7);
	assert_true(got.cpu_seconds == 1.5);
	assert_true(got.pushing);
	assert_int_equal(got.files, 3);
	assert_int_equal(got.keeper_says.files, 9);
	assert_int_equal(got.keeper_says.full, 2);
	assert_int_equal(got.keeper_says.samples, 1ull << 50);
	assert_string_equal(got.keeper_says.push.problem, "x");
	for (size_t n = 0; n < text.n - 1; n++)
		assert_int_equal(status_parse(text.p, n, &got, &err),
				 -ERR_FORMAT);
	assert_int_equal(status_parse("[]", 2, &got, &err), -ERR_FORMAT);
	buf_fini(&text);
}

/* The wall clock was set back by a day since the recording began. */
static void durations_do_not_follow_the_wall_clock(void **state)
{
	struct continuous_status s = { .state = "recording", .started_s = 1800000000,
		.written_s = 1799913700, .running_s = 200, .cpu_seconds = 2 };
	struct buf text = { 0 };

	(void)state;
	status_text(&s, true, 1799913701, &text);
	assert_non_null(strstr(buf_cstr(&text), "recording, for 3 min 20 s\n"));
	assert_non_null(strstr(buf_cstr(&text), " 1.00% of one"));
	buf_fini(&text);
}

static void options_of_a_file_are_words(void **state)
{
	static const char *const want[] = { "--freq=19", "--all-cpus", "-g",
		"-F20", "--label=a = b #c", "--output=" };
	char text[] = "# remark\n\n freq =\t19 \nall-cpus\ng\nF=20\r\n"
		      "label=a = b #c\noutput =";
	struct at_files a = { { 0 }, { 0 } };
	struct error err;

	(void)state;
	assert_int_equal(config_words(&a, "x", text, &err), 0);
	assert_int_equal(a.argv.n, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++)
		assert_string_equal(a.argv.v[i], want[i]);
	at_files_fini(&a);
	for (int i = 0; i < 4; i++) {
		char bad[4][16] = { "a\n--x = 1", "a\n= 1", "a\nno option",
				    "a\n/x" };

		assert_int_equal(config_words(&a, "x", bad[i], &err),
				 -ERR_USAGE);
		assert_non_null(strstr(err.msg, "x:2: "));
		at_files_fini(&a);
	}
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_finished_files),
		IN_FOLDER(oldest_files_go_first),
		IN_FOLDER(steps_of_the_clock_age_nothing),
		IN_FOLDER(files_finished_after_a_step_are_the_newest),
		IN_FOLDER(files_that_change_are_not_quiet),
		IN_FOLDER(leftovers_are_adopted),
		cmocka_unit_test(status_is_read_as_written),
		cmocka_unit_test(durations_do_not_follow_the_wall_clock),
		cmocka_unit_test(options_of_a_file_are_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
