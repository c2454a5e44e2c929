// SPDX-License-Identifier: GPL-2.0-or-later
/* Renamed functions: paired by what they have in common, each once. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include "../checks.h"

#include "compare/renames.h"

enum { RUNS = 100 };

/* Code of RUNS runs, of which only this one has the last `own`. */
static struct rename_item item(const char *image, const char *name, double share,
			       uint64_t seed, size_t own)
{
	static uint64_t unique = 1u << 30;
	struct rename_item x = { .share = share, .image = image, .name = name,
				 .file = "" };

	x.code.nkind = x.code.ntext = RUNS;
	x.code.kind = calloc(RUNS, sizeof(*x.code.kind));
	x.code.text = calloc(RUNS, sizeof(*x.code.text));
	assert_non_null(x.code.kind);
	assert_non_null(x.code.text);
	for (size_t i = 0; i < RUNS; i++)
		x.code.kind[i] = x.code.text[i] =
			i < RUNS - own ? seed + i : unique++;
	return x;
}

static void fini(struct rename_item *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		code_ngrams_fini(&v[i].code);
}

static void test_code(void **state)
{
	struct rename_item old[] = { item("a", "f", .2, 1000, 0),
				     item("a", "g", .1, 2000, 0) };
	struct rename_item new[] = { item("a", "x", .1, 3000, 0),
				     item("a", "y", .9, 2000, 20),
				     item("a", "z", .2, 1000, 60) };
	size_t now[2];

	(void)state;
	assert_int_equal(renames_find(old, 2, new, 3, now), 0);
	/* most of z is its own */
	assert_int_equal(now[0], RENAME_NONE);
	/* nine times as dear, and still the same code */
	assert_int_equal(now[1], 1);
	fini(old, 2);
	fini(new, 3);
}

static void test_best(void **state)
{
	struct rename_item old[] = { item("a", "f", .2, 1000, 0) };
	struct rename_item new[] = { item("a", "x", .2, 1000, 10),
				     item("a", "y", .1, 1000, 5) };
	size_t now[1];

	(void)state;
	assert_int_equal(renames_find(old, 1, new, 2, now), 0);
	assert_int_equal(now[0], 1);
	fini(old, 1);
	fini(new, 2);
}

static void test_names(void **state)
{
	struct rename_item old[] = { item("a", "f", .2, 1000, 0),
				     item("a", "g", .2, 1000, 0) };
	struct rename_item new[] = { item("b", "x", .2, 1000, 0),
				     item("b", "g", .1, 1000, 5),
				     item("a", "y", .1, 1000, 0) };
	size_t now[2];

	(void)state;
	assert_int_equal(renames_find(old, 2, new, 3, now), 0);
	assert_int_equal(now[1], 1);	/* moved to b */
	assert_int_equal(now[0], 2);	/* stayed where it was */
	fini(old, 2);
	fini(new, 3);
}

/* Equal code says nothing of which is which. */
static void test_equals(void **state)
{
	struct rename_item old[] = { item("a", "f", .3, 1000, 0),
				     item("a", "g", .1, 1000, 0),
				     item("a", "h", .02, 1000, 0) };
	struct rename_item new[] = { item("a", "x", .09, 1000, 0),
				     item("a", "y", .33, 1000, 0) };
	size_t now[3];

	(void)state;
	assert_int_equal(renames_find(old, 3, new, 2, now), 0);
	assert_int_equal(now[0], 1);
	assert_int_equal(now[1], 0);
	assert_int_equal(now[2], RENAME_NONE);
	fini(old, 3);
	fini(new, 2);
}

/* Half of it is new; the file says that it is the same. */
static void test_file(void **state)
{
	struct rename_item old[] = { item("a", "f", .3, 1000, 0) };
	struct rename_item new[] = { item("a", "x", .3, 1000, 50) };
	size_t now[1];

	(void)state;
	assert_int_equal(renames_find(old, 1, new, 1, now), 0);
	assert_int_equal(now[0], RENAME_NONE);
	old[0].file = "f.c";
	assert_int_equal(renames_find(old, 1, new, 1, now), 0);
	assert_int_equal(now[0], RENAME_NONE);
	new[0].file = "f.c";
	assert_int_equal(renames_find(old, 1, new, 1, now), 0);
	assert_int_equal(now[0], 0);
	fini(old, 1);
	fini(new, 1);
}

static void test_none(void **state)
{
	struct rename_item one[] = { item("a", "f", .3, 1000, 0) };
	size_t now[1];

	(void)state;
	assert_int_equal(renames_find(NULL, 0, one, 1, now), 0);
	assert_int_equal(renames_find(one, 1, NULL, 0, now), 0);
	assert_int_equal(now[0], RENAME_NONE);
	fini(one, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_best),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_equals),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("renames", tests, NULL, NULL);
}
