// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind tables with each n-th allocation failing: an error or a table. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include "unwind/unwind.h"

static size_t fail_at, count;	/* 0: none fails */

/* For src/cli/memory.c. */
bool allocation_fails(void);
bool allocation_fails(void)
{
	return ++count == fail_at;
}

static int open_and_compile(void)
{
	struct unwind_table *t;
	struct image *img;
	struct error err;
	int rc = image_open_file("/proc/self/exe", &img, &err);

	if (!rc)
		rc = unwind_table_open(img, &t);
	if (rc < 0)
		return rc;
	unwind_table_compile(t);
	unwind_table_close(t);
	return 0;
}

static void test_each_allocation(void **state)
{
	size_t total, failed = 0;

	(void)state;
	fail_at = count = 0;
	assert_int_equal(open_and_compile(), 0);
	total = count;
	assert_true(total > 10);
	for (size_t n = 1; n <= total && n < 500; n++) {
		fail_at = n;
		count = 0;
		failed += open_and_compile() == -ERR_NOMEM;
	}
	fail_at = 0;
	assert_true(failed > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
