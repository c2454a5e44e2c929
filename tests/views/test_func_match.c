// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of one name in one image: which of them are the same (compare/func_match.h). */
#include <stdint.h>

#include "../checks.h"

#include "compare/func_match.h"

enum { BUILD = 7, OTHER_BUILD = 8 };

/* Returns how many functions two rows are, of recordings 0 and 1. */
static uint32_t functions(struct match_item a, struct match_item b)
{
	struct match_item v[] = { a, b };
	uint32_t n;

	v[1].recording = 1;
	assert_int_equal(match_items(v, 2, &n), 0);
	assert_int_equal(v[0].id != v[1].id, n == 2);
	return n;
}

/* One build has two functions of this name, and each recording has samples of one. */
static void each_recording_has_another(void **state)
{
	struct match_item a = { .file = "lookup.c", .vaddr = 0x1000, .build = BUILD };
	struct match_item b = { .file = "direct.c", .vaddr = 0x2000, .build = BUILD };

	(void)state;
	assert_int_equal(functions(a, b), 2);
	a.line = b.line = 12;
	assert_int_equal(functions(a, b), 2);
	a.line = b.line = 0;
	a.file = b.file = "";
	assert_int_equal(functions(a, b), 2);
	b.vaddr = a.vaddr;
	assert_int_equal(functions(a, b), 1);
}

/* Another build may have moved the function and its file. */
static void other_builds_match_by_name(void **state)
{
	struct match_item a = { .file = "lookup.c", .vaddr = 0x1000, .build = BUILD };
	struct match_item b = { .file = "direct.c", .vaddr = 0x2000,
				.build = OTHER_BUILD };

	(void)state;
	assert_int_equal(functions(a, b), 1);
	a.build = b.build = 0;
	assert_int_equal(functions(a, b), 1);
}

/* Parts of one function have addresses of their own: copies, and those inlined. */
static void parts_of_one_function(void **state)
{
	struct match_item a = { .file = "", .vaddr = 0x1000, .build = BUILD };
	struct match_item b = { .file = "", .vaddr = 0x2000, .build = BUILD,
				.clone = true };

	(void)state;
	assert_int_equal(functions(a, b), 1);
	b.clone = false;
	b.vaddr = 0;
	assert_int_equal(functions(a, b), 1);
	b.vaddr = 0x2000;
	a.file = b.file = "part.c";
	a.line = b.line = 12;
	assert_int_equal(functions(a, b), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_recording_has_another),
		cmocka_unit_test(other_builds_match_by_name),
		cmocka_unit_test(parts_of_one_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
