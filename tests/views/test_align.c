// SPDX-License-Identifier: GPL-2.0-or-later
/* Alignment of sequences: each letter is an element; the result is written as
 * "ab" for a pair, "-b" and "a-" for one side only, with = or | between pairs. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../checks.h"

#include "base/buf.h"
#include "compare/align.h"

enum { TOKENS = 256 };

static void tokens_of(const char *s, uint32_t *out)
{
	for (size_t i = 0; s[i]; i++)
		out[i] = (uint8_t)s[i];
}

/* Letters are weakly equal when they are so but for their case. */
static void weak_of(const char *s, uint32_t *out)
{
	for (size_t i = 0; s[i]; i++)
		out[i] = (uint8_t)s[i] | 0x20;
}

static void align_is(const char *old, const char *now, bool weak,
		     const char *want)
{
	uint32_t token[2][64], second[2][64];
	const char *text[2] = { old, now };
	struct align_side side[2];
	struct align_rows rows = { 0 };
	struct buf b = { 0 };

	for (int s = 0; s < 2; s++) {
		tokens_of(text[s], token[s]);
		weak_of(text[s], second[s]);
		side[s] = (struct align_side){ token[s],
					       weak ? second[s] : NULL,
					       strlen(text[s]) };
	}
	assert_int_equal(align(side, TOKENS, &rows), 0);
	for (size_t i = 0; i < rows.n; i++) {
		const struct align_row *r = &rows.v[i];

		buf_printf(&b, "%s%c%c", i ? " " : "",
			   r->at[0] == UINT32_MAX ? '-' : old[r->at[0]],
			   r->at[1] == UINT32_MAX ? '-' : now[r->at[1]]);
		assert_int_equal(r->how, r->at[0] == UINT32_MAX ? ALIGN_NEW
				 : r->at[1] == UINT32_MAX ? ALIGN_OLD
				 : old[r->at[0]] == now[r->at[1]] ? ALIGN_SAME
				 : ALIGN_CHANGED);
	}
	assert_string_equal(buf_cstr(&b), want);
	buf_fini(&b);
	vec_fini(&rows);
}

static void test_align(void **state)
{
	(void)state;
	align_is("", "", false, "");
	align_is("abc", "abc", false, "aa bb cc");
	align_is("abc", "", false, "a- b- c-");
	align_is("", "ab", false, "-a -b");
	align_is("abc", "axc", false, "aa bx cc");
	align_is("abc", "abxyc", false, "aa bb -x -y cc");
	align_is("abxyc", "abc", false, "aa bb x- y- cc");
	/* anchors: b and d are unique and in order, a moved away */
	align_is("abcd", "bcda", false, "a- bb cc dd -a");
	/* none is unique: the longest common subsequence */
	align_is("xyxyz", "yxyxz", false, "x- yy xx yy -x zz");
	/* by weak tokens what is left */
	align_is("aBc", "abc", true, "aa Bb cc");
	align_is("aXBc", "abc", true, "aa X- Bb cc");
	align_is("aBc", "azc", true, "aa B- -z cc");
}

/* Whatever the input: order is kept, and each element comes once. */
static void test_random(void **state)
{
	uint32_t x = 12345;

	(void)state;
	for (int pass = 0; pass < 300; pass++) {
		size_t n[2];
		uint32_t v[2][200], next[2] = { 0, 0 };
		struct align_side side[2];
		struct align_rows rows = { 0 };

		for (int s = 0; s < 2; s++) {
			x = x * 1664525 + 1013904223;
			n[s] = (x >> 8) % 200;
			for (size_t i = 0; i < n[s]; i++) {
				x = x * 1664525 + 1013904223;
				v[s][i] = (x >> 16) % (1 + (uint32_t)pass);
			}
			side[s] = (struct align_side){ v[s], v[s], n[s] };
		}
		assert_int_equal(align(side, TOKENS + 300, &rows), 0);
		for (size_t i = 0; i < rows.n; i++)
			for (int s = 0; s < 2; s++)
				if (rows.v[i].at[s] != UINT32_MAX)
					assert_int_equal(rows.v[i].at[s],
							 next[s]++);
		assert_int_equal(next[0], n[0]);
		assert_int_equal(next[1], n[1]);
		vec_fini(&rows);
	}
}

/* Long sequences end soon, however bad they are. */
static void test_large(void **state)
{
	enum { N = 200000 };
	uint32_t *v[2];
	struct align_side side[2];
	struct align_rows rows = { 0 };
	size_t same = 0;

	(void)state;
	for (int s = 0; s < 2; s++) {
		v[s] = malloc(N * sizeof(**v));
		assert_non_null(v[s]);
		for (uint32_t i = 0; i < N; i++)	/* reversed */
			v[s][i] = s ? N - i : i;
		side[s] = (struct align_side){ v[s], NULL, N };
	}
	assert_int_equal(align(side, N + 1, &rows), 0);
	assert_true(rows.n >= N);
	vec_fini(&rows);
	for (uint32_t i = 0; i < N; i++)	/* a line inserted */
		v[1][i] = i < 1000 ? i : i == 1000 ? N : i - 1;
	assert_int_equal(align(side, N + 1, &rows), 0);
	for (size_t i = 0; i < rows.n; i++)
		same += rows.v[i].how == ALIGN_SAME;
	assert_int_equal(same, N - 1);
	vec_fini(&rows);
	free(v[0]);
	free(v[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_align),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
