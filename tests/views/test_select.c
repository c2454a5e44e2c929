// SPDX-License-Identifier: GPL-2.0-or-later
/* Filters, sort keys, time slices, and the damage of a file in the report. */
#include "make_profile.h"

#include <string.h>

#include "views/query/lines.h"
#include "views/query/match.h"
#include "views/report.h"

/* Two threads, two runs, two images; ten samples 1 ms apart from 1 s on,
 * alternating between cpu 0 and 1:
 *	0-2 app f	thread 0	run 1
 *	3-5 app f > libx g	worker	run 1
 *	6-9 app f	thread 0's namesake in run 2 */
static void three_groups(struct maker *m)
{
	uint32_t lf, lg, worker, second;

	maker_init(m, 1);
	maker_run(m, 11000000000, 21000000000);
	worker = maker_thread(m, "worker-1", 100, 101, 0);
	second = maker_thread(m, "app", 200, 200, 1);
	lf = maker_loc(m, maker_func(m, m->app, "_ZN2ns1fEi", "f.cc", 1), 2);
	lg = maker_loc(m, maker_func(m, m->lib, "g", "g.c", 1), 2);
	maker_samples(m, STACK(m, lf), 0, 0, 1, 3);
	maker_samples(m, STACK(m, lf, lg), 0, worker, 1, 3);
	maker_samples(m, STACK(m, lf), 0, second, 1, 4);
}

static struct report *build(struct reader *r, const struct select_spec *sel,
			    const char *keys)
{
	struct report_spec spec = { .select = *sel };
	struct report *rep = NULL;
	struct error err = { 0 };

	if (key_list_parse(keys, &spec.keys, &err) < 0 ||
	    report_build(r, &spec, &rep, &err) < 0)
		fail_msg("%s", err.msg);
	return rep;
}

#define NAMES(...) \
	{ (const char *const[]){ __VA_ARGS__ }, \
	  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) }

static void test_samples(void **state)
{
	const struct {
		struct select_spec sel;
		uint64_t want;
	} cases[] = {
		{ { .pids = NULL }, 10 },
		{ { .comms = NAMES("app") }, 7 },
		{ { .comms = NAMES("work*") }, 3 },
		{ { .comms = NAMES("app,worker-?") }, 10 },
		{ { .comms = NAMES("app", "worker-1") }, 10 },
		{ { .comms = NAMES("ap") }, 0 },
		{ { .pids = "100" }, 6 },
		{ { .pids = "101-199" }, 0 },
		{ { .tids = "101,200" }, 7 },
		{ { .runs = "2" }, 4 },
		{ { .runs = "1-2" }, 10 },
		{ { .cpus = "0" }, 5 },
		{ { .cpus = "1-3" }, 5 },
		{ { .cpus = "0", .comms = NAMES("app") }, 4 },
		/* 1 s + i ms: slices include their start and not their end */
		{ { .time = "2ms,5ms" }, 3 },
		{ { .time = ",0.002" }, 2 },
		{ { .time = "0.009," }, 1 },
		{ { .time = "0%,50%" }, 10 },
		{ { .time = "50%,100%" }, 0 },
		{ { .events = NAMES("event0") }, 10 },
	};
	struct reader *r;
	struct maker m;

	(void)state;
	three_groups(&m);
	r = maker_read(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report *rep = build(r, &cases[i].sel, "symbol");

		if (rep->quality.shown != cases[i].want)
			fail_msg("case %zu: %llu", i,
				 (unsigned long long)rep->quality.shown);
		assert_int_equal(rep->quality.got, 10);
		report_free(rep);
	}
	reader_close(r);
	maker_fini(&m);
}

static void test_frames(void **state)
{
	const struct {
		struct select_spec sel;
		const char *keys;
		uint64_t rows, self, total;	/* of the first row */
	} cases[] = {
		{ { .images = NAMES("libx.so.1") }, "symbol", 1, 3, 3 },
		{ { .images = NAMES("/usr/lib/libx.so.1") }, "symbol", 1, 3,
		  3 },
		{ { .images = NAMES("libx*") }, "symbol", 1, 3, 3 },
		{ { .images = NAMES("lib") }, "symbol", 0, 0, 0 },
		{ { .images = NAMES("app,libx.so.1") }, "symbol", 2, 7, 10 },
		{ { .symbols = NAMES("ns::f") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("ns::f(int)") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("_ZN2ns1fEi") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("n?::*") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("f") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("s::f(") }, "symbol", 1, 7, 10 },
		{ { .symbols = NAMES("f", "g") }, "symbol", 2, 7, 10 },
		{ { .symbols = NAMES("nothing") }, "symbol", 0, 0, 0 },
		{ { .symbols = NAMES("g"), .images = NAMES("app") }, "symbol",
		  0, 0, 0 },
		/* a thread's time in a library */
		{ { .images = NAMES("libx.so.1") }, "comm", 1, 3, 3 },
		{ { .images = NAMES("app") }, "tid", 3, 4, 4 },
	};
	struct reader *r;
	struct maker m;

	(void)state;
	three_groups(&m);
	r = maker_read(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct report *rep = build(r, &cases[i].sel, cases[i].keys);
		const struct values *v;

		if (rep->order.n != cases[i].rows)
			fail_msg("case %zu: %zu rows", i, rep->order.n);
		/* percentages stay those of all samples */
		assert_int_equal(rep->quality.shown, 10);
		if (rep->order.n) {
			v = report_values(rep, rep->order.v[0]);
			assert_int_equal(v->self.count, cases[i].self);
			assert_int_equal(v->total.count, cases[i].total);
		}
		report_free(rep);
	}
	reader_close(r);
	maker_fini(&m);
}

static void test_mistakes(void **state)
{
	const struct {
		struct select_spec sel;
		const char *said;	/* part of the message */
	} cases[] = {
		{ { .pids = "12,x" }, "--pid '12,x'" },
		{ { .cpus = "5-2" }, "--cpu '5-2'" },
		{ { .tids = "" }, "--tid ''" },
		{ { .runs = "99999999999999999999" }, "--run" },
		{ { .time = "1" }, "--time '1'" },
		{ { .time = "2,1" }, "ends before it starts" },
		{ { .time = "-1,2" }, "--time" },
		{ { .time = "nan,2" }, "--time" },
		{ { .time = "1,2 parsecs" }, "--time" },
		{ { .events = NAMES("evnet0") }, "it has event0" },
	};
	struct report_spec spec = { .limit = 0 };
	struct report *rep;
	struct error err;
	struct reader *r;
	struct maker m;

	(void)state;
	three_groups(&m);
	r = maker_read(&m);
	assert_int_equal(key_list_parse("symbol", &spec.keys, &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		spec.select = cases[i].sel;
		assert_int_equal(report_build(r, &spec, &rep, &err),
				 -ERR_USAGE);
		assert_null(rep);
		if (!strstr(err.msg, cases[i].said))
			fail_msg("case %zu: %s", i, err.msg);
	}
	reader_close(r);
	maker_fini(&m);
}

static void test_keys(void **state)
{
	struct key_list l;
	struct error err;

	(void)state;
	assert_int_equal(key_list_parse("overhead,comm,dso,sym,srcline", &l,
					&err), 0);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.v[0], KEY_COMM);
	assert_int_equal(l.v[1], KEY_IMAGE);
	assert_int_equal(l.v[2], KEY_SYMBOL);
	assert_int_equal(l.v[3], KEY_LINE);
	assert_int_equal(key_list_parse("pid,pid", &l, &err), 0);
	assert_int_equal(l.n, 1);
	assert_int_equal(key_list_parse("symbl", &l, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "did you mean 'symbol'?"));
	assert_int_equal(key_list_parse("", &l, &err), -ERR_USAGE);
	assert_int_equal(key_list_parse("a,,b", &l, &err), -ERR_USAGE);
	assert_int_equal(key_list_parse("overhead", &l, &err), -ERR_USAGE);
	for (int k = 0; k < KEY_COUNT; k++) {
		assert_int_equal(key_list_parse(key_name((enum view_key)k), &l,
						&err), 0);
		assert_int_equal(l.v[0], k);
	}
}

static void test_timeslice(void **state)
{
	uint64_t from, to;
	struct error err;

	(void)state;
	assert_int_equal(timeslice_parse("1.5,3", 1000, 0, &from, &to, &err),
			 0);
	assert_int_equal(from, 1500001000);
	assert_int_equal(to, 3000001000);
	assert_int_equal(timeslice_parse("2m,1h", 0, 0, &from, &to, &err), 0);
	assert_int_equal(from, 120000000000);
	assert_int_equal(to, 3600000000000);
	assert_int_equal(timeslice_parse("10%-20%", 100, 1100, &from, &to,
					 &err), 0);
	assert_int_equal(from, 200);
	assert_int_equal(to, 300);
	/* a recording without end has no percent */
	assert_int_equal(timeslice_parse("10%,20%", 100, 0, &from, &to, &err),
			 -ERR_USAGE);
	assert_int_equal(timeslice_parse("1e300,", 0, 0, &from, &to, &err),
			 -ERR_USAGE);
}

static void check_line(struct buf *b, const char *want)
{
	assert_string_equal(buf_cstr(b), want);
	buf_reset(b);
}

static void test_lines(void **state)
{
	struct buf b = { 0 };

	(void)state;
	line_comment(&b, "aaaa bbbb cccc dddd", 20);
	check_line(&b, "# aaaa bbbb cccc\n#   dddd\n");
	line_comment(&b, "", 80);
	check_line(&b, "#\n");
	/* a word that never fits is cut on a terminal and whole in a pipe */
	line_comment(&b, "a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 20);
	check_line(&b, "# a xxxxxxxxxxxxxxx\xe2\x80\xa6\n");
	line_cut_left(&b, "/usr/include/c++/12/vector:12", 14);
	check_line(&b, "\xe2\x80\xa6" "/12/vector:12");
	line_cut_left(&b, "short", 14);
	check_line(&b, "short");
	line_duration(&b, 999);
	check_line(&b, "1 us");
	line_duration(&b, 250000000);
	check_line(&b, "250 ms");
	line_duration(&b, 125000000000);
	check_line(&b, "2 min 05 s");
	line_duration(&b, 7320000000000);
	check_line(&b, "2 h 02 min");
	buf_fini(&b);
}

static void test_cut_file(void **state)
{
	struct report_spec spec = { .limit = 0 };
	struct text_style style = { .columns = 80 };
	struct buf out = { 0 };
	struct report *rep;
	struct reader *r;
	struct error err;
	struct maker m;

	(void)state;
	three_groups(&m);
	reader_close(maker_read(&m));
	/* all but the end mark */
	assert_int_equal(reader_open_bytes(m.bytes, m.n - 20, "cut", &r, &err),
			 0);
	assert_int_equal(key_list_parse("symbol", &spec.keys, &err), 0);
	assert_int_equal(report_build(r, &spec, &rep, &err), 0);
	report_text(rep, &style, &out);
	assert_non_null(strstr(buf_cstr(&out), "\n# Damaged: "));
	assert_int_equal(rep->quality.got, 10);
	buf_reset(&out);
	report_json(rep, &out);
	assert_non_null(strstr(buf_cstr(&out), "\"incomplete\":true"));
	buf_fini(&out);
	report_free(rep);
	reader_close(r);
	maker_fini(&m);
}

/* * is any text, ? any character. */
static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool is;
	} t[] = {
		{ "", "", true }, { "*", "", true }, { "*", "abc", true },
		{ "?", "", false }, { "?", "a", true }, { "?", "ab", false },
		{ "?", "\xc3\xa9", true }, { "??", "\xc3\xa9", false },
		{ "a*", "b", false }, { "a*", "a", true }, { "*a", "ba", true },
		{ "*a", "bab", false }, { "a*c*e", "abcde", true },
		{ "a*c*e", "abde", false }, { "*ab*ab*", "abab", true },
		{ "*ab*ab*", "aba", false }, { "*ab", "aabab", true },
		{ "**b**", "abc", true }, { "f?o*(int)", "foobar(int)", true },
		{ "operator[]*", "operator[](int)", true },
		{ "operator\\*?*", "operator*(A)", true },
		{ "operator\\*?*", "operator+(A)", false },
	};
	char text[20001], pattern[128] = "*";

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (match_word(t[i].pattern, t[i].text) != t[i].is)
			fail_msg("%s: %s", t[i].pattern, t[i].text);
	/* time grows with the text, not with its power by the number of * */
	memset(text, 'A', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 40; i++)
		strcat(pattern, "A*");
	assert_true(match_word(pattern, text));
	strcat(pattern, "b");
	assert_false(match_word(pattern, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_timeslice),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_cut_file),
		cmocka_unit_test(test_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
