// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of code made at run time, in the form of Linux' tools/perf/
 * Documentation/jit-interface.txt. */
#include "../checks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/perfmap.h"

enum { MAX = 16 };

static struct perfmap_name got[MAX];

/* Looks up in a copy that ends where the text does. */
static char *resolve(const char *text, size_t n, const uint64_t *addrs,
		     size_t naddrs)
{
	char *copy = malloc(n + 1);

	assert_non_null(copy);
	memcpy(copy, text, n);
	assert_int_equal(perfmap_resolve(copy, n, NULL, addrs, naddrs, got), 0);
	return copy;
}

#define RESOLVE(text, ...) ( \
	resolve(text, strlen(text), (const uint64_t[]){ __VA_ARGS__ }, \
		sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)))

/* As CPython 3.12's Python/perf_trampoline.c, V8's src/logging/log.cc and .NET's
 * src/coreclr/vm/perfmap.cpp write. */
static void runtimes_names_are_split(void **state)
{
	static const struct {
		const char *whole, *name, *file;
		uint32_t line;
		enum perfmap_runtime runtime;
	} rows[] = {
		{ "py::main:/a b/x.py", "main", "/a b/x.py", 0, PERFMAP_OTHER },
		{ "py::A.f.<locals>.<genexpr>:<frozen importlib._bootstrap>",
		  "A.f.<locals>.<genexpr>", "<frozen importlib._bootstrap>", 0,
		  PERFMAP_OTHER },
		{ "py::", "py::", "", 0, PERFMAP_OTHER },
		{ "py::main", "py::main", "", 0, PERFMAP_OTHER },
		{ "py:::x", "py:::x", "", 0, PERFMAP_OTHER },
		{ "JS:*fib /tmp/app.js:12:13", "fib", "/tmp/app.js", 12, PERFMAP_V8 },
		{ "JS:~get size file:///a/b c.mjs:3:1", "get size", "/a/b c.mjs",
		  3, PERFMAP_V8 },
		{ "JS:^ /app.js:1:1", "<anonymous>", "/app.js", 1, PERFMAP_V8 },
		{ "LazyCompile:~Module.load node:internal/cjs:1101:33",
		  "Module.load", "node:internal/cjs", 1101, PERFMAP_V8 },
		{ "JS:*f evalmachine.<anonymous>:1:2", "f",
		  "evalmachine.<anonymous>", 1, PERFMAP_V8 },
		{ "JS:*f", "JS:*f", "", 0, PERFMAP_V8 },
		{ "JS:*f /a.js:1", "JS:*f /a.js:1", "", 0, PERFMAP_V8 },
		{ "JS:/a.js:1:2", "JS:/a.js:1:2", "", 0, PERFMAP_V8 },
		{ "JS:", "JS:", "", 0, PERFMAP_V8 },
		{ "Builtin:ArgumentsAdaptor", "Builtin:ArgumentsAdaptor", "", 0,
		  PERFMAP_OTHER },
		{ "::1:2", "::1:2", "", 0, PERFMAP_OTHER },
		{ "int32 [app] Shop.Cart::Total(class Item[],int32)[OptimizedTier1]",
		  "int32 [app] Shop.Cart::Total(class Item[],int32)", "", 0,
		  PERFMAP_DOTNET },
		{ "void [System.Private.CoreLib] A::.ctor()", "void "
		  "[System.Private.CoreLib] A::.ctor()", "", 0, PERFMAP_DOTNET },
		{ "void [a] b::c()[", "void [a] b::c()[", "", 0, PERFMAP_OTHER },
		{ "void [a] b::c()[x]y]", "void [a] b::c()[x]y]", "", 0, PERFMAP_OTHER },
		{ "void f<int [3]>(a::b)", "void f<int [3]>(a::b)", "", 0,
		  PERFMAP_OTHER },
		{ "stub<3> GenerateLookupStub<?>", "stub<3> GenerateLookupStub<?>", "",
		  0, PERFMAP_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char line[256], *t;

		snprintf(line, sizeof(line), "1000 10 %s\n", rows[i].whole);
		t = RESOLVE(line, 0x1000, 0x100f);
		for (int k = 0; k < 2; k++) {
			assert_string_equal(got[k].name, rows[i].name);
			assert_string_equal(got[k].file, rows[i].file);
			assert_int_equal(got[k].line, rows[i].line);
			assert_int_equal(got[k].runtime, rows[i].runtime);
		}
		free(t);
	}
}

static void names_cover_their_bytes(void **state)
{
	char *t = RESOLVE("7f0000001000 20 first\n"
			  "0x7f0000001020 0x10 the second one (int) /a.js:1\n",
			  0x7f0000000fff, 0x7f0000001000, 0x7f000000101f,
			  0x7f0000001020, 0x7f000000102f, 0x7f0000001030);

	(void)state;
	assert_null(got[0].name);
	assert_string_equal(got[1].name, "first");
	assert_int_equal(got[1].start, 0x7f0000001000);
	assert_int_equal(got[1].size, 0x20);
	assert_ptr_equal(got[2].name, got[1].name);
	assert_string_equal(got[3].name, "the second one (int) /a.js:1");
	assert_ptr_equal(got[4].name, got[3].name);
	assert_null(got[5].name);
	free(t);
}

/* Code takes the place of older code, in whole or in part. */
static void the_last_line_counts(void **state)
{
	char *t = RESOLVE("1000 100 all\n1020 20 middle\n1000 8 begin\n"
			  "1020 20 middle again\n",
			  0x1000, 0x1007, 0x1008, 0x1020, 0x103f, 0x1040,
			  0x10ff, 0x1100);
	const char *want[] = { "begin", "begin", "all", "middle again",
			       "middle again", "all", "all", NULL };

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		if (want[i])
			assert_string_equal(got[i].name, want[i]);
		else
			assert_null(got[i].name);
	}
	free(t);
}

static void invalid_lines_are_skipped(void **state)
{
	char *t = RESOLVE("\n\n  \nnonsense\n1000\n1000 \n1000 10\n1000 10 \n"
			  "1000 0 nothing\n1000 zz name\nzz 10 name\n"
			  "-1000 10 name\n"
			  "fffffffffffffff0 20 around\n"
			  "11112222333344445 10 long\n"
			  "2000 10 fine\r\n"
			  "1000 10 not yet written to its e",
			  0x1000, 0x2000, 0xfffffffffffffff8);

	(void)state;
	assert_null(got[0].name);
	assert_string_equal(got[1].name, "fine");
	assert_null(got[2].name);
	free(t);
	t = RESOLVE("", 0x1000);
	assert_null(got[0].name);
	free(t);
}

static void long_names_are_cut(void **state)
{
	size_t n = 3 * PERFMAP_NAME_MAX;
	char *text = malloc(n), *t;
	const uint64_t at = 0x1000;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', n);
	memcpy(text, "1000 1 ", 7);
	text[n - 1] = '\n';
	t = resolve(text, n, &at, 1);
	assert_int_equal(strlen(got[0].name), PERFMAP_NAME_MAX);
	free(t);
	free(text);
}

/* Each line covers each address: that may not take their product in time. */
static void many_lines_over_many_addresses(void **state)
{
	enum { LINES = 200000, ADDRS = 50000 };
	uint64_t *addrs = malloc(ADDRS * sizeof(*addrs));
	struct perfmap_name *out = malloc(ADDRS * sizeof(*out));
	char *text = malloc(LINES * 16), *p = text;

	(void)state;
	assert_non_null(addrs);
	assert_non_null(out);
	assert_non_null(text);
	for (size_t i = 0; i < ADDRS; i++)
		addrs[i] = 0x1000 + i;
	for (size_t i = 0; i < LINES; i++) {
		memcpy(p, "1000 ffffff old\n", 16);
		p += 16;
	}
	memcpy(p - 4, "new", 3);
	assert_int_equal(perfmap_resolve(text, (size_t)(p - text), NULL, addrs, ADDRS,
					 out), 0);
	assert_string_equal(out[0].name, "new");
	assert_ptr_equal(out[ADDRS - 1].name, out[0].name);
	free(text);
	free(addrs);
	free(out);
}

static void the_first_part_counts(void **state)
{
	static const char text[] = "1000 100 coarse\n1000 20 first\n1000 10 second\n"
				   "2000 10 late\n";
	static const uint64_t addrs[] = { 0x1000, 0x1010, 0x1030, 0x2000 };
	/* the text begins at offset 7 of the file; the end of its lines is no part */
	static const uint64_t ends[] = { 3, 7 + 30, 7 + 45 };
	struct perfmap_parts parts = { ends, 3, 7 };
	char copy[sizeof(text)];

	(void)state;
	memcpy(copy, text, sizeof(text));
	assert_int_equal(perfmap_resolve(copy, sizeof(text) - 1, &parts, addrs, 4, got), 0);
	assert_string_equal(got[0].name, "first");
	assert_string_equal(got[1].name, "first");
	assert_string_equal(got[2].name, "coarse");
	assert_string_equal(got[3].name, "late");
	memcpy(copy, text, sizeof(text));
	assert_int_equal(perfmap_resolve(copy, sizeof(text) - 1, NULL, addrs, 4, got), 0);
	assert_string_equal(got[0].name, "second");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runtimes_names_are_split),
		cmocka_unit_test(names_cover_their_bytes),
		cmocka_unit_test(the_last_line_counts),
		cmocka_unit_test(invalid_lines_are_skipped),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(many_lines_over_many_addresses),
		cmocka_unit_test(the_first_part_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
