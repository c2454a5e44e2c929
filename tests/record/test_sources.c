// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of sources, and what has to name each of them. */
#include <string.h>

#include "../checks.h"

#include "cmd/command.h"
#include "record/choose/sources.h"

static void each_is_complete_and_found(void **state)
{
	const struct source_type *const *t, *const *u;

	(void)state;
	assert_non_null(source_types[0]);
	for (t = source_types; *t; t++) {
		assert_ptr_equal(source_find((*t)->name), *t);
		assert_non_null((*t)->open);
		assert_non_null((*t)->diagnose);
		for (u = source_types; u < t; u++)
			assert_string_not_equal((*u)->name, (*t)->name);
	}
	assert_null(source_find("auto"));
	assert_null(source_find(""));
}

/* What needs a right of the kernel's is tried first: the others only stand in. */
static void those_that_see_the_kernel_come_first(void **state)
{
	bool others = false;

	(void)state;
	for (const struct source_type *const *t = source_types; *t; t++) {
		others |= !(*t)->sees_kernel;
		assert_int_equal((*t)->sees_kernel, !others);
	}
}

static void the_help_names_each(void **state)
{
	const struct opt *o = cmd_record.opts;
	struct buf words = { 0 }, names = { 0 };

	(void)state;
	buf_str(&words, "auto");
	for (const struct source_type *const *t = source_types; *t; t++)
		buf_printf(&words, "|%s", (*t)->name);
	while (!o->name || strcmp(o->name, "source"))
		o++;
	assert_string_equal(o->arg, buf_cstr(&words));
	source_names(&names);
	for (const struct source_type *const *t = source_types; *t; t++)
		assert_non_null(strstr(buf_cstr(&names), (*t)->name));
	buf_fini(&words);
	buf_fini(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_complete_and_found),
		cmocka_unit_test(those_that_see_the_kernel_come_first),
		cmocka_unit_test(the_help_names_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
