// SPDX-License-Identifier: GPL-2.0-or-later
/* Type information that clang wrote, compared with what the compiler of this test says. */
#include "../checks.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "record/perf/btf.h"
#include "tests/record/btf_types.h"

enum { OUTER, INNER, TRACE, FIRST, QUEUES, WRONG_KIND, ABSENT, NAMES };

struct made {
	struct buf bytes;
	struct btf b;
	struct btf_name n[NAMES];
};

static int setup(void **state)
{
	static const struct btf_name names[NAMES] = {
		[OUTER] = { BTF_STRUCTURE, "outer", 0 },
		[INNER] = { BTF_STRUCTURE, "inner", 0 },
		[TRACE] = { BTF_TYPEDEF, "btf_trace_made", 0 },
		[FIRST] = { BTF_VARIABLE, "first", 0 },
		[QUEUES] = { BTF_VARIABLE, "queues", 0 },
		[WRONG_KIND] = { BTF_STRUCTURE, "queues", 0 },
		[ABSENT] = { BTF_STRUCTURE, "oute", 0 },
	};
	const char *top = getenv("top_srcdir");
	struct made *m = calloc(1, sizeof(*m));
	char path[4096];
	struct error err;

	assert_non_null(m);
	memcpy(m->n, names, sizeof(names));
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/btf/clang", top ? top : ".");
	assert_int_equal(io_read_file(path, 1 << 20, &m->bytes, &err), 0);
	assert_true(btf_open(&m->b, m->bytes.p, m->bytes.n, m->n, NAMES));
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	btf_close(&m->b);
	buf_fini(&m->bytes);
	free(m);
	return 0;
}

static void names_have_numbers(void **state)
{
	const struct made *m = *state;

	for (int i = OUTER; i <= QUEUES; i++)
		assert_int_not_equal(m->n[i].number, 0);
	assert_int_equal(m->n[WRONG_KIND].number, 0);
	assert_int_equal(m->n[ABSENT].number, 0);
}

static void members_lie_where_the_compiler_puts_them(void **state)
{
#define MEMBER(m) { #m, offsetof(struct outer, m) }
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
		MEMBER(plain), MEMBER(low), MEMBER(high), MEMBER(real), MEMBER(named),
		MEMBER(list), MEMBER(text), MEMBER(kind),
	};
	const struct made *m = *state;
	uint32_t at;

	for (size_t i = 0; i < COUNT(members); i++) {
		assert_true(btf_member(&m->b, m->n[OUTER].number, members[i].name, &at));
		assert_int_equal(at, members[i].offset);
	}
	assert_true(btf_member(&m->b, m->n[INNER].number, "flag", &at));
	assert_int_equal(at, offsetof(struct inner, flag));
}

static void other_members_are_not_found(void **state)
{
	const struct made *m = *state;
	uint32_t at;

	assert_false(btf_member(&m->b, m->n[OUTER].number, "bits", &at));
	/* Of a structure that has a name itself. */
	assert_false(btf_member(&m->b, m->n[OUTER].number, "flag", &at));
	assert_false(btf_member(&m->b, m->n[TRACE].number, "plain", &at));
	assert_false(btf_member(&m->b, 0, "plain", &at));
	assert_false(btf_member(&m->b, UINT32_MAX, "plain", &at));
}

/* clang writes no offsets of variables: the linker would (all are 0). */
static void variables_are_in_their_section(void **state)
{
	const struct made *m = *state;
	uint32_t at;

	assert_true(btf_in_section(&m->b, "cpu", m->n[QUEUES].number, &at));
	assert_true(btf_in_section(&m->b, "cpu", m->n[FIRST].number, &at));
	assert_false(btf_in_section(&m->b, ".data", m->n[FIRST].number, &at));
	assert_false(btf_in_section(&m->b, "cpu", m->n[OUTER].number, &at));
	assert_false(btf_in_section(&m->b, "cpu", 0, &at));
}

static void each_cut_is_damage(void **state)
{
	const struct made *m = *state;
	uint8_t *copy = malloc(m->bytes.n);

	assert_non_null(copy);
	for (size_t n = 0; n < m->bytes.n; n++) {
		struct btf b;
		struct btf_name name = { BTF_STRUCTURE, "outer", 0 };

		memcpy(copy, m->bytes.p, n);
		assert_false(btf_open(&b, copy, n, &name, 1));
		btf_close(&b);
	}
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_have_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(members_lie_where_the_compiler_puts_them,
						setup, teardown),
		cmocka_unit_test_setup_teardown(other_members_are_not_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(variables_are_in_their_section, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_cut_is_damage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
