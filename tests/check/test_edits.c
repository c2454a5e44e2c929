// SPDX-License-Identifier: GPL-2.0-or-later
/* Changed functions, from diffs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/test.h"
#include "check/edits.h"

static void names(void **state)
{
	static const char *const lines[][2] = {
		{ "static unsigned hash(const char *s, size_t n)", "hash" },
		{ "int main (void)", "main" },
		{ "local uInt longest_match(deflate_state *s, IPos cur_match) {",
		  "longest_match" },
		{ "__attribute__((noinline)) int slow(int n)", "slow" },
		{ "void ns::Table<int>::grow(size_t n)", "grow" },
		{ "Cache::~Cache()", "Cache::~Cache" },
		{ "std::vector<int> list(Map<a, b> m)", "list" },
		{ "T max<T>(T a, T b)", "max" },
		{ "local const config configuration_table[10] = {",
		  "configuration_table" },
		{ "static int limit = 4;", "limit" },
		{ "#define MAX_CHAIN 4096", "MAX_CHAIN" },
		{ "#  define HASH(x) ((x) * 31)", "HASH" },
		{ "struct table {", "table" },
		{ "class Cache:", "Cache" },
		{ "def grow(self, n):", "grow" },
		{ "func (t *Table) Grow(n int) {", "Grow" },
		{ "func main() {", "main" },
		{ "pub fn grow<T: Copy>(t: T) -> usize {", "grow" },
		{ "grow() {", "grow" },
		{ "static int warm = lex(0);", "warm" },
		{ "const x = memo(function (a) {", "x" },
		{ "export const y = (a) => {", "y" },
		{ "int f(int a = 3)", "f" },
		{ "typedef int (*compare)(const void *, const void *);", "compare" },
		{ "typedef unsigned long size;", "size" },
		{ "static int (*const table[])(int) = {", "table" },
		{ "static int (*table[4])(int) = { f(1) };", "table" },
		{ "static struct point (*grid)[8];", "grid" },
		{ "void (*signal(int sig, void (*func)(int)))(int)", "signal" },
		{ "std::function<int(int)> callback = make(3);", "callback" },
		{ "std::function<int(int)> make_it(int x)", "make_it" },
		{ "bool operator==(const A &a, const A &b)", "operator==" },
		{ "A &A::operator=(const A &a)", "A::operator=" },
		{ "int Hash::operator()(int x) const", "Hash::operator()" },
		{ "bool operator<(const A &a, const A &b)", "operator<" },
		{ "int operators(int x)", "operators" },
		{ "__declspec(dllexport) int api(int x)", "api" },
		{ "[[deprecated(\"no\")]] int old(int x)", "old" },
		{ "[[nodiscard]] int limit = 3;", "limit" },
		{ "Foo::Foo(int a) : a_(a), b_(init(a))", "Foo::Foo" },
		{ "class Cache : public Base<int(int)> {", "Cache" },
		{ "int[] sorted(int[] x) {", "sorted" },
		{ "template <typename T = int(int)> T map(T t)", "map" },
		{ "def grow(*args, **more):", "grow" },
		{ "int a[N(3)] = { 1 };", "a" },
		{ "#include <stdio.h>", "" },
		{ "(", "" },
		{ "case 14:", "" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		char *name = edits_name(lines[i][0], strlen(lines[i][0]));

		assert_string_equal(name, lines[i][1]);
		free(name);
	}
}

struct want {
	const char *path;
	uint32_t line;
	const char *name;
	enum edit_kind kind;
};

static void check(const char *diff, const struct want *want, size_t n)
{
	struct edits e = { .v = { 0 } };

	assert_int_equal(edits_parse(&e, diff, strlen(diff)), 0);
	assert_int_equal(e.v.n, n);
	assert_int_equal(e.all, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(e.v.v[i].path, want[i].path);
		assert_string_equal(e.v.v[i].name, want[i].name);
		assert_int_equal(e.v.v[i].line, want[i].line);
		assert_int_equal(e.v.v[i].kind, want[i].kind);
	}
	edits_fini(&e);
}

/* What git diff -U0 printed of changes to zlib. */
static void changed(void **state)
{
	static const char diff[] =
		"diff --git a/deflate.c b/src/deflate.c\n"
		"index 799fb93..4e2f1c5 100644\n"
		"--- a/deflate.c\n"
		"+++ b/src/deflate.c\n"
		"@@ -137 +137 @@ local const config configuration_table[10] = {\n"
		"-/* 6 */ {8,   16, 128, 128, deflate_slow},\n"
		"+/* 6 */ {8,   16, 128, 512, deflate_slow},\n"
		"@@ -1249 +1249,2 @@ local uInt longest_match(s, cur_match)\n"
		"-    unsigned chain_length = s->max_chain_length;\n"
		"+    /* longer */\n"
		"+    unsigned chain_length = 4 * s->max_chain_length;\n"
		"@@ -1300,0 +1302,6 @@ local uInt longest_match(s, cur_match)\n"
		"+\n"
		"+/* compares */\n"
		"+local int same(const Bytef *a, const Bytef *b)\n"
		"+{\n"
		"+    return *a == *b;\n"
		"+}\n"
		"@@ -1400,2 +1407,0 @@ local void check_match(s, start, match, length)\n"
		"-    if (s->x)\n"
		"-        return;\n"
		"diff --git a/with space.h b/with space.h\n"
		"--- a/with space.h\n"
		"+++ b/with space.h\t\n"
		"@@ -0,0 +1 @@\n"
		"+#define CHAIN 4\n"
		"diff --git a/gone.c b/gone.c\n"
		"deleted file mode 100644\n"
		"--- a/gone.c\n"
		"+++ /dev/null\n"
		"@@ -1,2 +0,0 @@\n"
		"-int gone(void)\n"
		"-{ return 1; }\n";
	static const struct want want[] = {
		{ "src/deflate.c", 137, "configuration_table", EDIT_CHANGED },
		{ "src/deflate.c", 1249, "longest_match", EDIT_CHANGED },
		{ "src/deflate.c", 1304, "same", EDIT_CHANGED },
		{ "src/deflate.c", 1407, "check_match", EDIT_CHANGED },
		{ "with space.h", 1, "CHAIN", EDIT_CHANGED },
		{ "gone.c", 1, "gone", EDIT_REMOVED },
	};

	(void)state;
	check(diff, want, COUNT(want));
}

/* Comments and blank lines change nothing; a line that looks like the head of a
 * file is one of the hunk. */
static void not_changed(void **state)
{
	static const char diff[] =
		"--- a/a.c\n"
		"+++ b/a.c\n"
		"@@ -10,0 +11,4 @@ int f(void)\n"
		"+/* A long\n"
		"+ * comment */\n"
		"+\n"
		"+}\n"
		"@@ -20,2 +24,2 @@ out:\n"
		"--- a/x.c\n"
		"-  i = 1;\n"
		"+++ b/y.c\n"
		"+  i = 2;\n"
		"\\ No newline at end of file\n";
	static const struct want want[] = { { "a.c", 24, "", EDIT_CHANGED } };

	(void)state;
	check(diff, want, 1);
}

/* Declarations that are gone, at their old lines; one that only moved is not. */
static void removed(void **state)
{
	static const char diff[] =
		"--- a/config.h\n"
		"+++ b/config.h\n"
		"@@ -3,2 +2,0 @@ int f(void);\n"
		"-#define HAVE_SIMD 1\n"
		"-#define WIDTH 4\n"
		"@@ -9,4 +6,0 @@ int f(void);\n"
		"-static int fast(int x)\n"
		"-{\n"
		"-	return x;\n"
		"-}\n"
		"@@ -30,0 +24 @@ int f(void);\n"
		"+#define WIDTH 8\n"
		"--- a/data.txt\n"
		"+++ /dev/null\n"
		"@@ -1,2 +0,0 @@\n"
		"-1 2 3\n"
		"-4 5 6\n";
	static const struct want want[] = {
		{ "config.h", 3, "HAVE_SIMD", EDIT_REMOVED },
		{ "config.h", 24, "WIDTH", EDIT_CHANGED },
		{ "config.h", 9, "fast", EDIT_REMOVED },
		{ "data.txt", 1, "", EDIT_REMOVED },
	};
	struct edits e = { .v = { 0 } };

	(void)state;
	check(diff, want, COUNT(want));
	/* the history of the lines on both sides of the gap has the commit */
	assert_int_equal(edits_parse(&e, diff, strlen(diff)), 0);
	assert_int_equal(e.v.v[0].at, 2);
	assert_int_equal(e.v.v[0].to, 3);
	assert_int_equal(e.v.v[3].at, 0);
	edits_fini(&e);
}

/* Paths that git quotes, and submodules. */
static void files(void **state)
{
	static const char diff[] =
		"--- \"a/a\\\"b\\\\\\303\\266\\t.c\"\n"
		"+++ \"b/a\\\"b\\\\\\303\\266\\t.c\"\n"
		"@@ -1 +1 @@\n"
		"-int f(void) { return 1; }\n"
		"+int f(void) { return 2; }\n"
		"--- a/lib\n"
		"+++ b/lib\n"
		"@@ -1 +1 @@\n"
		"-Subproject commit 1eaac7d0000000000000000000000000000000aa\n"
		"+Subproject commit b665004000000000000000000000000000000000\n"
		"diff --git a/x and y b/x and y\n"
		"Binary files a/t.bin and b/t.bin differ\n"
		"Binary files a/old.bin and /dev/null differ\n";
	static const struct want want[] = {
		{ "a\"b\\\303\266\t.c", 1, "f", EDIT_CHANGED },
		{ "lib", 1, "", EDIT_SUBMODULE },
		{ "t.bin", 1, "", EDIT_CHANGED },
		{ "old.bin", 1, "", EDIT_REMOVED },
	};

	(void)state;
	check(diff, want, COUNT(want));
}

/* # begins a comment in some languages only. */
static void hash_signs(void **state)
{
	static const char diff[] =
		"--- a/lib.rs\n+++ b/lib.rs\n@@ -2 +2 @@ fn look() {\n"
		"-#[inline(never)]\n+#[inline(always)]\n"
		"--- a/run.py\n+++ b/run.py\n@@ -2 +2 @@ def look():\n"
		"-# define nothing\n+# define something\n"
		"--- a/Makefile\n+++ b/Makefile\n@@ -2,2 +2,2 @@\n"
		"-# src/*.c\n-CFLAGS = -O2\n+# src/*.h\n+CFLAGS = -O1\n"
		"--- a/a.js\n+++ b/a.js\n@@ -2 +2 @@ class A {\n"
		"-  #emit(x) {\n+  #emit(y) {\n";
	static const struct want want[] = {
		{ "lib.rs", 2, "look", EDIT_CHANGED },
		{ "Makefile", 3, "CFLAGS", EDIT_CHANGED },
		{ "a.js", 2, "A", EDIT_CHANGED },
	};

	(void)state;
	check(diff, want, COUNT(want));
}

/* With whole files as context it is known what a line is in. */
static void context(void **state)
{
	static const char diff[] =
		"--- a/k.c\n"
		"+++ b/k.c\n"
		"@@ -1,35 +1,30 @@\n"
		" /* of many\n"
		"-   lines: int f(int)\n"
		"+   rows: int f(int)\n"
		"    here */\n"
		" int\n"
		" look(a, b)\n"
		" int a;\n"
		" struct pair *b;\n"
		" {\n"
		" #define INNER 1\n"
		"-	a = 1;\n"
		"+	a = 2\n"
		"+	    * 3;\n"
		" out:\n"
		" 	return a;\n"
		" }\n"
		" \n"
		"-int count;\n"
		"+long count;\n"
		" [[nodiscard]] int nod(int x)\n"
		" {\n"
		"-	return x;\n"
		"+	return x + 1; /* more */\n"
		" }\n"
		" #define LONG(x) \\\n"
		"-	((x) + 1)\n"
		"+	((x) + 2)\n"
		"-int gone(int x)\n"
		" {\n"
		"-	return x;\n"
		"-}\n"
		"-int late(int x)\n"
		"-{\n"
		" 	return 4;\n"
		" }\n"
		"-int proto(int);\n"
		" int proto(int x)\n"
		" {\n"
		"-	x++;\n"
		" 	return x;\n"
		" }\n"
		"+struct pair *pairs;\n";
	static const struct want want[] = {
		{ "k.c", 10, "look", EDIT_CHANGED },
		{ "k.c", 16, "count", EDIT_CHANGED },
		{ "k.c", 19, "nod", EDIT_CHANGED },
		{ "k.c", 22, "LONG", EDIT_CHANGED },
		{ "k.c", 22, "gone", EDIT_REMOVED },
		{ "k.c", 26, "late", EDIT_REMOVED },
		{ "k.c", 25, "proto", EDIT_CHANGED },
		{ "k.c", 30, "pairs", EDIT_CHANGED },
	};

	(void)state;
	check(diff, want, COUNT(want));
}

/* Many names do not take long, and their number is true beyond the limit. */
static void many(void **state)
{
	enum { N = EDITS_MAX + 5 };
	char *diff = malloc((size_t)N * 40), *p = diff;
	struct edits e = { .v = { 0 } };

	(void)state;
	assert_non_null(diff);
	p += sprintf(p, "--- a/t.h\n+++ b/t.h\n@@ -0,0 +1,%d @@\n", N);
	for (int i = 0; i < N; i++)
		p += sprintf(p, "+static int v%d = %d;\n", i, i);
	assert_int_equal(edits_parse(&e, diff, (size_t)(p - diff)), 0);
	assert_int_equal(e.v.n, EDITS_MAX);
	assert_int_equal(e.all, N);
	edits_fini(&e);
	free(diff);
}

static void damaged(void **state)
{
	static const struct want first[] = { { "a.c", 1, "f", EDIT_CHANGED } };

	(void)state;
	check("+++ b/a.c\n@@ -0,1 +0,1 @@\n-x;\n+int f(void)\n", first, 1);
	check("", NULL, 0);
	check("@@ -1 +1 @@ int f(void)\n-a\n+b\n", NULL, 0);
	check("+++ b/a.c\n@@ -1 +99999999999 @@\n+int f(void)\n", NULL, 0);
	check("+++ b/a.c\n@@ -1 +1,2 @@ int f(void)\n", NULL, 0);
	check("+++ b/\n@@ -1 +1 @@ int f(void)\n+x\n", NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(changed),
		cmocka_unit_test(not_changed),
		cmocka_unit_test(removed),
		cmocka_unit_test(files),
		cmocka_unit_test(hash_signs),
		cmocka_unit_test(context),
		cmocka_unit_test(many),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
