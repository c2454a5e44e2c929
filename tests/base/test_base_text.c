// SPDX-License-Identifier: GPL-2.0-or-later
/* Safe text, CSV and the JSON writer. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/text.h"

struct text_row {
	const char *in, *want;
};

static void each(void fn(struct buf *, const char *),
		 const struct text_row *rows, size_t n)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		fn(&b, rows[i].in);
		check_text(&b, rows[i].want);
	}
	buf_fini(&b);
}

static void safe_text_cannot_drive_a_terminal(void **state)
{
	static const struct text_row rows[] = {
		{ "", "" },
		{ "plain name<int>(a, b)", "plain name<int>(a, b)" },
		{ "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80",
		  "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80" },
		/* ESC, and CSI as one C1 character */
		{ "\x1b[31mred", "\\x1b[31mred" },
		{ "\xc2\x9b" "31m", "\\u{9b}31m" },
		{ "\x1b]0;title\x07", "\\x1b]0;title\\x07" },
		{ "a\nb\tc\rd\x7f", "a\\x0ab\\x09c\\x0dd\\x7f" },
		/* RLO, LRI, PDI, RLM, ALM (Unicode Bidi_Control) */
		{ "\xe2\x80\xae", "\\u{202e}" },
		{ "\xe2\x81\xa6\xe2\x81\xa9", "\\u{2066}\\u{2069}" },
		{ "\xe2\x80\x8f\xd8\x9c", "\\u{200f}\\u{61c}" },
		/* zero width space, BOM, a tag character */
		{ "a\xe2\x80\x8b" "b\xef\xbb\xbf", "a\\u{200b}b\\u{feff}" },
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" },
	};

	(void)state;
	each(text_safe, rows, COUNT(rows));
}

/* Unicode 15 table 3-7: what is not well formed. */
static void invalid_utf8_is_spelled_out(void **state)
{
	static const struct text_row rows[] = {
		{ "\x80", "\\x80" },
		{ "\xff\xfe", "\\xff\\xfe" },
		{ "\xc0\xaf", "\\xc0\\xaf" },		/* overlong / */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },	/* surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* > 10ffff */
		{ "\xe2\x82", "\\xe2\\x82" },		/* cut short */
		{ "\xc3(", "\\xc3(" },
	};

	(void)state;
	each(text_safe, rows, COUNT(rows));
}

static void columns_count_cells(void **state)
{
	(void)state;
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns("gr\xc3\xbc\xc3\x9f"), 4);
	assert_int_equal(text_columns("\xe6\x97\xa5\xe6\x9c\xac"), 4);
	assert_int_equal(text_columns("\xf0\x9f\x98\x80"), 2);
}

static void cut_fits_its_columns(void **state)
{
	static const struct {
		const char *in;
		size_t columns;
		const char *want;
	} rows[] = {
		{ "abcdef", 6, "abcdef" },
		{ "abcdef", 5, "abcd\xe2\x80\xa6" },
		{ "abcdef", 1, "\xe2\x80\xa6" },
		{ "abcdef", 0, "" },
		{ "", 0, "" },
		/* half a wide character does not fit */
		{ "\xe6\x97\xa5\xe6\x9c\xac", 4, "\xe6\x97\xa5\xe6\x9c\xac" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 3, "\xe6\x97\xa5\xe2\x80\xa6" },
		{ "\xe6\x97\xa5\xe6\x9c\xac", 2, "\xe2\x80\xa6" },
	};
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_cut(&b, rows[i].in, rows[i].columns);
		check_text(&b, rows[i].want);
	}
	buf_fini(&b);
}

static void json_strings_follow_rfc_8259(void **state)
{
	static const struct text_row rows[] = {
		{ "", "\"\"" },
		{ "a \"b\" \\ /", "\"a \\\"b\\\" \\\\ /\"" },
		{ "\n\x01\x7f", "\"\\u000a\\u0001\\u007f\"" },
		/* RFC 8259 §7's example of a surrogate pair is U+1D11E; it is
		 * a safe character and stays itself. */
		{ "\xf0\x9d\x84\x9e", "\"\xf0\x9d\x84\x9e\"" },
		{ "\xf3\xa0\x81\x81", "\"\\udb40\\udc41\"" },
		{ "\xe2\x80\xae", "\"\\u202e\"" },
		{ "</script>&", "\"\\u003c/script\\u003e\\u0026\"" },
		{ "x\xff\xc0\xafy", "\"x\\ufffd\\ufffd\\ufffdy\"" },
	};

	(void)state;
	each(text_json, rows, COUNT(rows));
}

/* RFC 4180 §2; control characters are spelled out, so a record is one line. */
static void percent_follows_rfc_3986(void **state)
{
	struct buf b = { 0 };

	(void)state;
	text_percent(&b, "/a b/\xc3\xbc%~_.9", "/~_.");
	check_text(&b, "/a%20b/%C3%BC%25~_.9");
	text_percent(&b, "/~", "");
	check_text(&b, "%2F%7E");
	buf_fini(&b);
}

static void csv_cells_follow_rfc_4180(void **state)
{
	static const struct text_row rows[] = {
		{ "", "" },
		{ "aaa", "aaa" },
		{ "a b", "a b" },
		{ "a,b", "\"a,b\"" },
		{ "b\"bb", "\"b\"\"bb\"" },
		{ "b\r\nbb", "b\\x0d\\x0abb" },
		{ "a,\x1b[31m", "\"a,\\x1b[31m\"" },
		{ "a,\xff\xe2\x80\xae", "\"a,\\xff\\u{202e}\"" },
		/* what a spreadsheet would run */
		{ "=1+1", "\"'=1+1\"" },
		{ "+a", "\"'+a\"" },
		{ "-a", "\"'-a\"" },
		{ "@a", "\"'@a\"" },
		{ "=\x1b\"", "\"'=\\x1b\"\"\"" },
	};

	(void)state;
	each(text_csv, rows, COUNT(rows));
}

static void counts_have_thousands(void **state)
{
	static const struct {
		uint64_t n;
		const char *want;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1234567, "1,234,567" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		text_count(&b, rows[i].n);
		check_text(&b, rows[i].want);
	}
	buf_fini(&b);
}

static void json_writes_every_kind(void **state)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	(void)state;
	json_object(&j, NULL);
	json_uint(&j, "u", UINT64_MAX);
	json_int(&j, "i", INT64_MIN);
	json_bool(&j, "t", true);
	json_bool(&j, "f", false);
	json_str(&j, "s\"", "v");
	json_fixed(&j, "d", 12.345, 2);
	json_fixed(&j, "neg", -0.5, 1);
	json_fixed(&j, "nan", NAN, 2);
	json_fixed(&j, "inf", -INFINITY, 2);
	json_hex(&j, "h", 0xffffffff81000000ull);
	json_raw(&j, "r", "[1]", 3);
	json_array(&j, "a");
	json_uint(&j, NULL, 1);
	json_uint(&j, NULL, 2);
	json_object(&j, NULL);
	json_end(&j);
	json_end(&j);
	json_array(&j, "e");
	json_end(&j);
	json_end(&j);
	check_text(&b, "{\"u\":18446744073709551615,"
		       "\"i\":-9223372036854775808,\"t\":true,\"f\":false,"
		       "\"s\\\"\":\"v\",\"d\":12.35,\"neg\":-0.5,\"nan\":null,"
		       "\"inf\":null,\"h\":\"0xffffffff81000000\","
		       "\"r\":[1],\"a\":[1,2,{}],\"e\":[]}");
	buf_fini(&b);
}

static void json_lines_break_between_rows(void **state)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	(void)state;
	json_object(&j, NULL);
	json_array_lines(&j, "rows");
	json_object(&j, NULL);
	json_uint(&j, "a", 1);
	json_end(&j);
	json_object(&j, NULL);
	json_end(&j);
	json_end(&j);
	json_array_lines(&j, "none");
	json_end(&j);
	json_end(&j);
	check_text(&b, "{\"rows\":[\n{\"a\":1},\n{}\n],\"none\":[]}");
	buf_fini(&b);
}

/* Deeper than the writer keeps track of: a failed buffer, not a dead process
 * and not memory beyond the arrays. */
static void json_too_deep_fails_the_buffer(void **state)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	(void)state;
	for (int i = 0; i < JSON_MAX_DEPTH + 10; i++)
		json_array(&j, NULL);
	assert_true(b.failed);
	for (int i = 0; i < JSON_MAX_DEPTH + 10; i++)
		json_end(&j);
	assert_int_equal(j.depth, 0);
	buf_reset(&b);
	j = json_on(&b);
	for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
		json_array(&j, NULL);
	for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
		json_end(&j);
	assert_false(b.failed);
	buf_fini(&b);
}

/* More ends than beginnings are the caller's mistake, told the same way. */
static void json_end_without_begin_fails_the_buffer(void **state)
{
	struct buf b = { 0 };
	struct json j = json_on(&b);

	(void)state;
	json_end(&j);
	assert_true(b.failed);
	assert_int_equal(j.depth, 0);
	buf_fini(&b);
}

static void json_in_reads_every_kind(void **state)
{
	static const char text[] =
		" { \"a\" : [1, -2.5e2,null ,true, 12345678901234567890] ,\n"
		"\"b\\u00e9\":{\"c\":[{},[],\"]}\\\"\"]},"
		"\"s\":\"\\ud835\\udd4f\\n\\u0000\\ud800x\"}";
	static const double want[] = { 1, -250, -1, 1, 12345678901234567890.0 };
	struct json_in j = json_in_of(text, strlen(text));
	struct buf b = { 0 };
	size_t n = 0;

	(void)state;
	assert_true(json_in_object(&j));
	assert_true(json_in_key(&j, &b));
	assert_string_equal(buf_cstr(&b), "a");
	assert_true(json_in_array(&j));
	for (; json_in_item(&j); n++)
		assert_true(json_in_number(&j) == want[n]);
	assert_int_equal(n, 5);
	assert_true(json_in_key(&j, &b));
	assert_string_equal(buf_cstr(&b), "b\xc3\xa9");
	json_in_skip(&j);
	assert_true(json_in_key(&j, &b));
	assert_true(json_in_is(&j, '"'));
	buf_reset(&b);
	assert_true(json_in_string(&j, &b));
	assert_string_equal(buf_cstr(&b), "\xf0\x9d\x95\x8f\n"
			    "\xef\xbf\xbd\xef\xbf\xbdx");
	assert_false(json_in_key(&j, &b));
	assert_false(j.bad);
	assert_true(j.p == j.end);
	buf_fini(&b);
}

/* Whether all of it is passed by as one value. */
static bool is_json(const char *text, size_t n)
{
	struct json_in j = json_in_of(text, n);

	json_in_skip(&j);
	return !j.bad;
}

static void json_in_rejects_invalid_json(void **state)
{
	static const char *const bad[] = {
		"", "[1,", "{\"a\":", "\"x", "\"x\\", "nul", "-", "[}", "{]",
		"1e", "]",
	};
	struct json_in j = json_in_of("[1,]", 4);
	char deep[JSON_IN_DEPTH + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(is_json(bad[i], strlen(bad[i])));
	memset(deep, '[', sizeof(deep));
	assert_false(is_json(deep, sizeof(deep)));
	assert_true(json_in_array(&j) && json_in_item(&j));
	assert_true(json_in_number(&j) == 1);
	assert_false(json_in_item(&j));
	assert_true(j.bad);
	j = json_in_of("[1 2]", 5);
	assert_true(json_in_array(&j) && json_in_item(&j));
	json_in_skip(&j);
	assert_false(json_in_item(&j));
	assert_true(j.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(safe_text_cannot_drive_a_terminal),
		cmocka_unit_test(invalid_utf8_is_spelled_out),
		cmocka_unit_test(columns_count_cells),
		cmocka_unit_test(cut_fits_its_columns),
		cmocka_unit_test(json_strings_follow_rfc_8259),
		cmocka_unit_test(csv_cells_follow_rfc_4180),
		cmocka_unit_test(percent_follows_rfc_3986),
		cmocka_unit_test(counts_have_thousands),
		cmocka_unit_test(json_writes_every_kind),
		cmocka_unit_test(json_lines_break_between_rows),
		cmocka_unit_test(json_too_deep_fails_the_buffer),
		cmocka_unit_test(json_end_without_begin_fails_the_buffer),
		cmocka_unit_test(json_in_reads_every_kind),
		cmocka_unit_test(json_in_rejects_invalid_json),
	};

	return cmocka_run_group_tests_name("base text", tests, NULL, NULL);
}
