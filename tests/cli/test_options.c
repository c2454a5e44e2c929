// SPDX-License-Identifier: GPL-2.0-or-later
/* Command lines: parsing, messages, and that --help tells of every option. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../checks.h"

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/perf_options.h"

struct opts {
	bool on, off;
	const char *str, *maybe;
	struct opt_strs many, words;
	uint64_t num;
	double frac, secs;
};

#define AT(f) offsetof(struct opts, f)
static const struct opt table[] = {
	OPT_TITLE("First part"),
	{ OPT_FLAG, 'n', "on", NULL, AT(on), "Turns on." },
	{ OPT_NOFLAG, 0, "no-off", NULL, AT(off), "Turns off." },
	{ OPT_STR, 's', "string", "WORD", AT(str), "Some word." },
	{ OPT_OPTSTR, 'g', "graph", "MODE", AT(maybe), "Maybe a mode." },
	{ OPT_STRS, 'e', "event", "EVENT", AT(many), "Events." },
	{ OPT_WORDS, 0, "files", "FILE [FILE...]", AT(words), "Files." },
	{ OPT_UINT, 'F', "freq", "HZ", AT(num), "A rate." },
	{ OPT_DOUBLE, 0, "limit", "PERCENT", AT(frac), "A share." },
	{ OPT_DELAY, 0, "delay", "TIME", AT(secs), "A time." },
	{ OPT_FLAG, 'q', NULL, NULL, AT(on), "Only short." },
	OPT_END
};

static const struct command cmd = { .name = "try", .summary = "Tries.",
				    .args = "[FILE]", .opts = table,
				    .opts_size = sizeof(struct opts) };
static const struct command cmd_stop = { .name = "run", .summary = "Runs.",
					 .args = "CMD", .opts = table,
					 .opts_size = sizeof(struct opts),
					 .stop_at_arg = true };

struct parsed {
	struct opts o;
	int rest, rc;
	bool help;
	struct error err;
};

/* Splits the line at blanks. */
static struct parsed parse(const struct command *c, const char *line,
			   char **argv, int *argc)
{
	static char copy[1000];
	struct parsed p = { .o = { .off = true } };
	char *save;

	snprintf(copy, sizeof(copy), "%s", line);
	*argc = 0;
	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		argv[(*argc)++] = w;
	argv[*argc] = NULL;
	p.rc = options_parse(c, &p.o, *argc, argv, &p.rest, &p.help, &p.err);
	return p;
}

static void test_kinds(void **state)
{
	char *argv[40];
	int argc;
	struct parsed p = parse(&cmd,
		"try -n --no-off -s word file1 --graph -e a -e b --event=c -F "
		"4k --limit 2.5 --delay 250ms file2", argv, &argc);

	(void)state;
	assert_int_equal(p.rc, 0);
	assert_true(p.o.on);
	assert_false(p.o.off);
	assert_string_equal(p.o.str, "word");
	assert_string_equal(p.o.maybe, "");
	assert_int_equal(p.o.many.n, 3);
	assert_string_equal(p.o.many.v[2], "c");
	assert_int_equal(p.o.num, 4000);
	assert_true(p.o.frac == 2.5);
	assert_true(p.o.secs == 0.25);
	assert_int_equal(argc - p.rest, 2);
	assert_string_equal(argv[p.rest], "file1");
	assert_string_equal(argv[p.rest + 1], "file2");
	options_release(&cmd, &p.o);
	p = parse(&cmd, "try -gcallers --string=a --string=b", argv, &argc);
	assert_string_equal(p.o.maybe, "callers");
	assert_string_equal(p.o.str, "b");
	p = parse(&cmd, "try -g=callees -n", argv, &argc);
	assert_string_equal(p.o.maybe, "callees");
	p = parse(&cmd, "try --limit 0x10", argv, &argc);
	assert_int_equal(p.rc, -ERR_USAGE);
	p = parse(&cmd, "try --graph=x -q", argv, &argc);
	assert_string_equal(p.o.maybe, "x");
	assert_true(p.o.on);
}

static void test_words(void **state)
{
	char *argv[40];
	int argc;
	struct parsed p = parse(&cmd, "try x --files a b -n y --files=c d "
				"--string s -- z", argv, &argc);

	(void)state;
	assert_int_equal(p.rc, 0);
	assert_int_equal(p.o.words.n, 4);
	assert_string_equal(p.o.words.v[0], "a");
	assert_string_equal(p.o.words.v[1], "b");
	assert_string_equal(p.o.words.v[2], "c");
	assert_string_equal(p.o.words.v[3], "d");
	assert_true(p.o.on);
	assert_string_equal(p.o.str, "s");
	/* words behind other options do not count */
	assert_int_equal(argc - p.rest, 3);
	assert_string_equal(argv[p.rest], "x");
	assert_string_equal(argv[p.rest + 1], "y");
	assert_string_equal(argv[p.rest + 2], "z");
	options_release(&cmd, &p.o);
	p = parse(&cmd, "try --files", argv, &argc);
	assert_int_equal(p.rc, -ERR_USAGE);
}

static void test_stop_at_arg(void **state)
{
	char *argv[40];
	int argc;
	struct parsed p = parse(&cmd_stop, "run -n ls -l --on -Z", argv,
				&argc);

	(void)state;
	assert_int_equal(p.rc, 0);
	assert_int_equal(p.rest, 2);
	assert_string_equal(argv[p.rest], "ls");
	p = parse(&cmd_stop, "run -n -- ls -l", argv, &argc);
	assert_string_equal(argv[p.rest], "ls");
	p = parse(&cmd, "try -- -n", argv, &argc);
	assert_false(p.o.on);
	assert_string_equal(argv[p.rest], "-n");
}

static void test_messages(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "try --strng x", "no option --strng; did you mean --string?" },
		{ "try --frag x", "no option --frag; 'tally help try'" },
		{ "try --xyzzy", "no option --xyzzy; 'tally help try'" },
		{ "try -Z", "no option -Z" },
		{ "try --string", "--string needs a value: WORD" },
		{ "try -s", "--string needs a value: WORD" },
		{ "try --on=3", "--on takes no value" },
		{ "try --help=3", "--help takes no value" },
		{ "try -F x", "--freq 'x'" },
		{ "try -F -5", "--freq '-5'" },
		{ "try -F 5x", "--freq '5x'" },
		{ "try -F 99999999999999999999", "too large" },
		{ "try -F 18446744073709551615k", "too large" },
		{ "try --limit nan", "--limit 'nan'" },
		{ "try --limit 1e999", "--limit '1e999'" },
		{ "try --limit 0.5%", "--limit '0.5%'" },
		{ "try --delay inf", "--delay 'inf'" },
		{ "try --delay 5d", "--delay '5d'" },
	};
	char *argv[40];
	int argc;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct parsed p = parse(&cmd, cases[i].line, argv, &argc);

		assert_int_equal(p.rc, -ERR_USAGE);
		assert_int_equal(p.err.code, ERR_USAGE);
		if (!strstr(p.err.msg, cases[i].said))
			fail_msg("%s: %s", cases[i].line, p.err.msg);
		options_release(&cmd, &p.o);
	}
}

/* Of the times that options take, in seconds; negative: refused, saying `said`.
 */
static void test_times(void **state)
{
	static const struct {
		enum opt_kind kind;
		const char *text, *said;
		double want;
	} cases[] = {
		{ OPT_SECONDS, "500", "", 500 },
		{ OPT_SECONDS, "500ms", "", 0.5 },
		{ OPT_SECONDS, "2m", "", 120 },
		{ OPT_SECONDS, "1h", "", 3600 },
		{ OPT_SECONDS, ".5s", "", 0.5 },
		{ OPT_SECONDS, "1.s", "", 1 },
		{ OPT_SECONDS, "250us", "", 250e-6 },
		{ OPT_SECONDS, "7ns", "", 7e-9 },
		{ OPT_SECONDS, ".", "'.': not a time", -1 },
		{ OPT_SECONDS, "", "not a time", -1 },
		{ OPT_SECONDS, "-1", "not a time", -1 },
		{ OPT_SECONDS, "1e3", "not a time", -1 },
		{ OPT_SECONDS, "0x10", "not a time", -1 },
		{ OPT_SECONDS, "1.2.3", "not a time", -1 },
		{ OPT_SECONDS, "1 s", "not a time", -1 },
		{ OPT_DELAY, "2", "", 2 },
		{ OPT_DELAY, "9.5", "", 9.5 },
		{ OPT_DELAY, "10s", "", 10 },
		{ OPT_DELAY, "10", "10 milliseconds, as perf", -1 },
		{ OPT_DELAY, "500", "or 500 seconds? Write 500ms or 500s", -1 },
		{ OPT_MILLIS, "500", "", 0.5 },
		{ OPT_MILLIS, "2s", "", 2 },
		{ OPT_UNIT, "5", "Write 5ms or 5s", -1 },
		{ OPT_UNIT, "0", "", 0 },
		{ OPT_UNIT, "5ms", "", 0.005 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error err = { .msg = "" };
		double got = -7;
		int rc = option_duration("--x", cases[i].text, cases[i].kind,
					 &got, &err);

		assert_int_equal(rc, cases[i].want < 0 ? -ERR_USAGE : 0);
		if (!strstr(err.msg, cases[i].said))
			fail_msg("%s: %s", cases[i].text, err.msg);
		if (!rc && (got < cases[i].want * 0.999999 ||
			    got > cases[i].want * 1.000001))
			fail_msg("%s: %g", cases[i].text, got);
	}
}

static void test_rate(void **state)
{
	struct error err;
	uint64_t v;

	(void)state;
	assert_int_equal(option_rate("-F", "max", &v, &err), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(option_rate("-F", "4k", &v, &err), 0);
	assert_int_equal(v, 4000);
	assert_int_equal(option_rate("-F", "maximum", &v, &err), -ERR_USAGE);
}

static const struct opt *own_option(const struct command *c, const char *name)
{
	for (const struct opt *o = c->opts; !option_is_end(o); o++)
		if (o->kind != OPT_HEADING && o->name && !strcmp(o->name, name))
			return o;
	return NULL;
}

/* Rows lead to options that exist, and hide none. */
static void test_perf_table(void **state)
{
	static const struct command *const all[] = {
		&cmd_record, &cmd_report, &cmd_annotate, &cmd_stat, &cmd_diff,
	};

	(void)state;
	for (int i = 0; perf_options[i].commands; i++) {
		const struct perf_option *p = &perf_options[i];
		bool of_one = false;

		assert_true(p->name || p->short_name);
		assert_true(!p->is || !p->hint);
		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
			const struct opt *own;

			if (!perf_option_is_of(p, all[k]))
				continue;
			of_one = true;
			if (p->is && !own_option(all[k], p->is))
				fail_msg("%s has no --%s", all[k]->name, p->is);
			own = p->name ? own_option(all[k], p->name) : NULL;
			/* It may say that only perf's takes a value. */
			if (own && (!p->is || strcmp(p->name, p->is)) &&
			    !p->short_name &&
			    !(p->hint && p->arg == 'y' && !own->arg))
				fail_msg("%s has --%s itself", all[k]->name,
					 p->name);
		}
		assert_true(of_one);
	}
}

static void test_perf_options(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "record -b x", "no option -b as in perf: branch stacks" },
		{ "record --branch-any x", "no option --branch-any as in" },
		{ "record -D 500 x", "500 milliseconds, as perf reads it" },
		{ "record -m", "-m takes a value" },
		{ "record --buildid-all=1 x", "--buildid-all takes no value" },
		{ "record --no-timestamp x", "always behaves as with --timestamp" },
		{ "record --no-branch-any --no-branch=1 x",
		  "--no-branch-any takes no value" },
	};
	struct command c = { .name = "record", .opts = table,
			     .opts_size = sizeof(struct opts),
			     .stop_at_arg = true };
	struct parsed p;
	char *argv[40];
	int argc;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p = parse(&c, cases[i].line, argv, &argc);
		assert_int_equal(p.rc, -ERR_USAGE);
		if (!strstr(p.err.msg, cases[i].said))
			fail_msg("%s: %s", cases[i].line, p.err.msg);
	}
	p = parse(&c, "record -T -D 250ms --timestamp --aio=3 --no-data "
		  "--no-group --no-switch-events x -b", argv, &argc);
	assert_int_equal(p.rc, 0);
	assert_true(p.o.secs == 0.25);
	assert_string_equal(argv[p.rest], "x");
	/* tally's own abbreviations stay */
	p = parse(&c, "record --dela 1s x", argv, &argc);
	assert_int_equal(p.rc, 0);
	assert_true(p.o.secs == 1);
}

static void check_help(const struct command *c)
{
	struct buf text = { 0 };
	const char *s;

	options_help(c, &text);
	s = buf_cstr(&text);
	for (const struct opt *o = c->opts; o && !option_is_end(o); o++) {
		char want[80];

		if (o->kind == OPT_HEADING)
			snprintf(want, sizeof(want), "\n%s:\n", o->help);
		else if (o->name)
			snprintf(want, sizeof(want), "--%s", o->name);
		else
			snprintf(want, sizeof(want), "  -%c", o->short_name);
		if (!strstr(s, want))
			fail_msg("%s --help lacks %s", c->name, want);
	}
	for (size_t n; *s; s += n + (s[n] == '\n')) {
		n = strcspn(s, "\n");
		if (n > 80)
			fail_msg("%s --help: %.*s", c->name, (int)n, s);
	}
	buf_fini(&text);
}

static void test_help(void **state)
{
	char *argv[40];
	int argc;

	(void)state;
	assert_true(parse(&cmd, "try --help", argv, &argc).help);
	assert_true(parse(&cmd, "try -h", argv, &argc).help);
	check_help(&cmd);
	check_help(&cmd_report);
	check_help(&cmd_record);
	check_help(&cmd_info);
	check_help(&cmd_list);
	check_help(&cmd_dump);
	check_help(&cmd_symbolize);
}

static void test_commands(void **state)
{
	struct error err;
	struct buf text = { 0 };

	(void)state;
	assert_ptr_equal(command_find("report", &err), &cmd_report);
	assert_null(command_find("rceord", &err));
	assert_string_equal(err.msg,
			    "no command 'rceord'; did you mean 'record'?");
	assert_null(command_find("make-coffee", &err));
	assert_non_null(strstr(err.msg, "'tally --help' lists them"));
	assert_null(command_find("top", &err));
	assert_non_null(strstr(err.msg, "equivalent: tally record -a"));
	commands_help(&text);
	assert_non_null(strstr(buf_cstr(&text), "  symbolize "));
	buf_fini(&text);
}

static void test_nearest(void **state)
{
	struct nearest n = nearest_to("cylces");

	(void)state;
	assert_null(nearest_best(&n));
	nearest_try(&n, "instructions");
	assert_null(nearest_best(&n));
	nearest_try(&n, "cycles");	/* two neighbours swapped */
	nearest_try(&n, "cpu-cycles");
	assert_string_equal(nearest_best(&n), "cycles");
	n = nearest_to("instr");	/* begun, not finished */
	nearest_try(&n, "instructions");
	assert_string_equal(nearest_best(&n), "instructions");
	n = nearest_to("x");
	nearest_try(&n, "y");
	assert_null(nearest_best(&n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_stop_at_arg),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_perf_table),
		cmocka_unit_test(test_perf_options),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
