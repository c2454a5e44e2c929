// SPDX-License-Identifier: GPL-2.0-or-later
/* Changed functions, from diffs. */
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

static void check(const char *diff, const struct edit *want, size_t n)
{
	struct edits e = { .v = { 0 } };

	assert_int_equal(edits_parse(&e, diff, strlen(diff)), 0);
	assert_int_equal(e.v.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(e.v.v[i].path, want[i].path);
		assert_string_equal(e.v.v[i].name, want[i].name);
		assert_int_equal(e.v.v[i].line, want[i].line);
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
	static const struct edit want[] = {
		{ "src/deflate.c", 137, "configuration_table" },
		{ "src/deflate.c", 1249, "longest_match" },
		{ "src/deflate.c", 1304, "same" },
		{ "src/deflate.c", 1407, "check_match" },
		{ "with space.h", 1, "CHAIN" },
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
	static const struct edit want[] = { { "a.c", 24, "" } };

	(void)state;
	check(diff, want, 1);
}

static void damaged(void **state)
{
	(void)state;
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
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
