// SPDX-License-Identifier: GPL-2.0-or-later
/* error, vec, buf and cursor. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/vec.h"

static void error_names_code_and_text(void **state)
{
	struct error err = { 0 };

	(void)state;
	assert_int_equal(error_set(&err, ERR_USAGE, "%s: %d", "a", 7),
			 -ERR_USAGE);
	assert_int_equal(err.code, ERR_USAGE);
	assert_string_equal(err.msg, "a: 7");
	error_prefix(&err, "file %d", 3);
	assert_string_equal(err.msg, "file 3: a: 7");
	assert_int_equal(err.code, ERR_USAGE);
	assert_int_equal(error_set(NULL, ERR_IO, "x"), -ERR_IO);
	error_prefix(NULL, "x");
}

static void errno_becomes_a_code(void **state)
{
	static const struct {
		int errnum, code;
	} rows[] = {
		{ EPERM, ERR_PERM },	 { EACCES, ERR_PERM },
		{ ENOMEM, ERR_NOMEM },	 { ENOENT, ERR_NOTFOUND },
		{ ENOSPC, ERR_IO },	 { EMFILE, ERR_FILES },
	};
	char want[200];
	struct error err;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(error_errno(&err, rows[i].errnum, "%s", "f"),
				 -rows[i].code);
		snprintf(want, sizeof(want), "f: %s", strerror(rows[i].errnum));
		assert_string_equal(err.msg, want);
	}
	assert_int_equal(error_errno(NULL, EPERM, "x"), -ERR_PERM);
}

/* A path as long as the message keeps the message terminated. */
static void long_errors_are_cut(void **state)
{
	char path[5000];
	struct error err;

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	error_errno(&err, ENOENT, "%s", path);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	error_set(&err, ERR_IO, "short");
	error_prefix(&err, "%s", path);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	error_set(&err, ERR_IO, "%s", path);
	error_prefix(&err, "a");
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_memory_equal(err.msg, "a: ppp", 6);
}

static void vec_grows_and_keeps(void **state)
{
	VEC(uint32_t) v = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(vec_push(&v, i * 3), 0);
	assert_int_equal(v.n, 10000);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(v.v[i], i * 3);
	/* An element of the vector itself survives the move. */
	while (v.n < v.cap)
		assert_int_equal(vec_push(&v, 1), 0);
	assert_int_equal(vec_push(&v, v.v[9999]), 0);
	assert_int_equal(v.v[v.n - 1], 29997);
	assert_int_equal(vec_reserve(&v, SIZE_MAX / 2), -ERR_NOMEM);
	assert_int_equal(v.v[5], 15);
	vec_fini(&v);
	assert_int_equal(v.cap, 0);
	assert_null(v.v);
}

static void integers_are_little_endian(void **state)
{
	static const uint8_t want[] = { 0x01, 0x34, 0x12, 0x78, 0x56, 0x34,
					0x12, 0xf0, 0xde, 0xbc, 0x9a, 0x78,
					0x56, 0x34, 0x12 };
	struct buf b = { 0 };
	struct cursor c;

	(void)state;
	buf_u8(&b, 1);
	buf_u16(&b, 0x1234);
	buf_u32(&b, 0x12345678);
	buf_u64(&b, 0x123456789abcdef0);
	assert_int_equal(b.n, sizeof(want));
	assert_memory_equal(b.p, want, sizeof(want));
	c = cursor_of(want, sizeof(want));
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x1234);
	assert_int_equal(cursor_u32(&c), 0x12345678);
	assert_true(cursor_u64(&c) == 0x123456789abcdef0);
	assert_int_equal(cursor_left(&c), 0);
	assert_false(c.bad);
	buf_fini(&b);
}

/* DWARF 5 §7.6, tables 7.8 and 7.9, and the ends of the 64-bit range. */
static const struct uleb_row {
	uint64_t v;
	size_t n;
	uint8_t bytes[10];
} uleb_rows[] = {
	{ 0, 1, { 0 } },
	{ 2, 1, { 2 } },
	{ 127, 1, { 127 } },
	{ 128, 2, { 0x80, 1 } },
	{ 129, 2, { 0x81, 1 } },
	{ 12857, 2, { 57 + 0x80, 100 } },
	{ UINT64_MAX, 10,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 } },
};

static const struct sleb_row {
	int64_t v;
	size_t n;
	uint8_t bytes[10];
} sleb_rows[] = {
	{ 2, 1, { 2 } },
	{ -2, 1, { 0x7e } },
	{ 127, 2, { 0xff, 0 } },
	{ -127, 2, { 0x81, 0x7f } },
	{ 128, 2, { 0x80, 1 } },
	{ -128, 2, { 0x80, 0x7f } },
	{ 129, 2, { 0x81, 1 } },
	{ -129, 2, { 0xff, 0x7e } },
	{ 63, 1, { 63 } },
	{ -64, 1, { 64 } },
	{ 8191, 2, { 0xff, 0x3f } },
	{ -8192, 2, { 0x80, 0x40 } },
	{ 8192, 3, { 0x80, 0xc0, 0 } },
	{ -8193, 3, { 0xff, 0xbf, 0x7f } },
	{ INT64_MAX, 10,
	  { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 } },
	{ INT64_MIN, 10,
	  { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f } },
};

static void leb_follows_dwarf(void **state)
{
	struct buf b = { 0 };
	struct cursor c;

	(void)state;
	for (size_t i = 0; i < COUNT(uleb_rows); i++) {
		const struct uleb_row *r = &uleb_rows[i];

		buf_uleb(&b, r->v);
		assert_int_equal(b.n, r->n);
		assert_memory_equal(b.p, r->bytes, r->n);
		buf_reset(&b);
		c = cursor_of(r->bytes, r->n);
		assert_true(cursor_uleb(&c) == r->v);
		assert_false(c.bad);
		assert_int_equal(cursor_left(&c), 0);
	}
	for (size_t i = 0; i < COUNT(sleb_rows); i++) {
		const struct sleb_row *r = &sleb_rows[i];

		buf_sleb(&b, r->v);
		assert_int_equal(b.n, r->n);
		assert_memory_equal(b.p, r->bytes, r->n);
		buf_reset(&b);
		c = cursor_of(r->bytes, r->n);
		assert_true(cursor_sleb(&c) == r->v);
		assert_false(c.bad);
		assert_int_equal(cursor_left(&c), 0);
	}
	buf_fini(&b);
}

/* Linkers pad LEB128 so that a field keeps its width; that is not damage. */
static void padded_leb_is_good(void **state)
{
	static const uint8_t u[] = { 0x82, 0x80, 0x80, 0x80, 0x80, 0x80,
				     0x80, 0x80, 0x80, 0x80, 0x80, 0x00 };
	static const uint8_t s[] = { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
				     0xff, 0xff, 0xff, 0xff, 0xff, 0x7f };
	struct cursor c = cursor_of(u, sizeof(u));

	(void)state;
	assert_true(cursor_uleb(&c) == 2);
	assert_false(c.bad);
	assert_int_equal(cursor_left(&c), 0);
	c = cursor_of(u, sizeof(u));
	assert_true(cursor_sleb(&c) == 2);
	assert_false(c.bad);
	c = cursor_of(s, sizeof(s));
	assert_true(cursor_sleb(&c) == -2);
	assert_false(c.bad);
	assert_int_equal(cursor_left(&c), 0);
}

/* More than 64 significant bits, no last byte, or padding without end. */
static void hostile_leb_is_bad(void **state)
{
	static const struct {
		size_t n;
		uint8_t bytes[12];
		bool u_bad, s_bad;
	} rows[] = {
		{ 10, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			2 }, true, true },
		{ 11, { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			0x80, 1 }, true, true },
		/* 2^63 needs a 65th bit as a signed number. */
		{ 10, { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			1 }, false, true },
		/* All sign bits but one. */
		{ 11, { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			0xff, 0x3f }, true, true },
		{ 1, { 0x80 }, true, true },
		{ 3, { 0xff, 0xff, 0xff }, true, true },
		{ 0, { 0 }, true, true },
	};
	uint8_t endless[64];
	struct cursor c;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		c = cursor_of(rows[i].bytes, rows[i].n);
		(void)cursor_uleb(&c);
		assert_int_equal(c.bad, rows[i].u_bad);
		c = cursor_of(rows[i].bytes, rows[i].n);
		(void)cursor_sleb(&c);
		assert_int_equal(c.bad, rows[i].s_bad);
	}
	memset(endless, 0x80, sizeof(endless));
	c = cursor_of(endless, sizeof(endless));
	assert_true(cursor_uleb(&c) == 0);
	assert_true(c.bad);
	c = cursor_of(endless, sizeof(endless));
	assert_true(cursor_sleb(&c) == 0);
	assert_true(c.bad);
}

/* Numbers read together are those read one by one, whatever their lengths and wherever
 * the bytes end. */
static void check_together(const uint8_t *p, size_t size, size_t n)
{
	uint64_t u[40];
	int64_t s[40];
	struct cursor one = cursor_of(p, size), all = one;

	cursor_ulebs(&all, u, n);
	for (size_t i = 0; i < n; i++)
		assert_true(cursor_uleb(&one) == u[i] || one.bad);
	assert_int_equal(one.bad, all.bad);
	assert_ptr_equal(one.p, all.p);
	one = all = cursor_of(p, size);
	cursor_slebs(&all, s, n);
	for (size_t i = 0; i < n; i++)
		assert_true(cursor_sleb(&one) == s[i] || one.bad);
	assert_int_equal(one.bad, all.bad);
	assert_ptr_equal(one.p, all.p);
}

static void lebs_together_are_the_same(void **state)
{
	static const uint8_t long_ones[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,	/* 8 bytes */
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0,
		0x3f, 0x40, 0x7f, 0x81, 0x7f, 0xff, 0x3f, 0x80, 0x40,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,
	};
	uint8_t b[160];
	uint32_t seed = 1;

	(void)state;
	for (size_t n = 0; n <= 20; n++)
		for (size_t size = 0; size <= sizeof(long_ones); size++)
			check_together(long_ones, size, n);
	for (size_t round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(b); i++) {
			seed = seed * 1664525u + 1013904223u;
			b[i] = (uint8_t)(seed >> 24);
			/* from numbers of one byte to those of many */
			if (seed >> 8 & 7 & ~(round & 7))
				b[i] &= 0x7f;
		}
		check_together(b, round % (sizeof(b) + 1), round % 41);
	}
}

static void uleb32_refuses_more(void **state)
{
	static const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0x0f };
	static const uint8_t more[] = { 0x80, 0x80, 0x80, 0x80, 0x10 };
	struct cursor c = cursor_of(most, sizeof(most));

	(void)state;
	assert_true(cursor_uleb32(&c) == UINT32_MAX);
	assert_false(c.bad);
	c = cursor_of(more, sizeof(more));
	assert_int_equal(cursor_uleb32(&c), 0);
	assert_true(c.bad);
}

/* Once bad, a cursor gives zeros and stays at its end. */
static void check_dead(struct cursor c)
{
	assert_true(c.bad);
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_u8(&c), 0);
	assert_int_equal(cursor_u64(&c), 0);
	assert_null(cursor_cstr(&c));
	assert_true(c.bad);
}

static void overrun_is_bad_and_stays_bad(void **state)
{
	static const uint8_t b[7] = { 1, 2, 3, 4, 5, 6, 7 };
	struct cursor c, s;

	(void)state;
	c = cursor_of(b, 7);
	assert_int_equal(cursor_u64(&c), 0);
	check_dead(c);
	c = cursor_of(b, 3);
	assert_int_equal(cursor_u32(&c), 0);
	check_dead(c);
	c = cursor_of(b, 1);
	assert_int_equal(cursor_u16(&c), 0);
	check_dead(c);
	c = cursor_of(b, 7);
	assert_null(cursor_take(&c, UINT64_MAX));
	check_dead(c);
	c = cursor_of(b, 7);
	cursor_skip(&c, 8);
	check_dead(c);
	c = cursor_of(b, 7);
	s = cursor_sub(&c, 8);
	check_dead(c);
	check_dead(s);
	c = cursor_of(b, 7);
	assert_null(cursor_cstr(&c));
	check_dead(c);
}

static void sub_cursor_ends_at_its_size(void **state)
{
	static const uint8_t b[] = { 1, 2, 3, 4 };
	struct cursor c = cursor_of(b, 4);
	struct cursor s = cursor_sub(&c, 2);

	(void)state;
	assert_int_equal(cursor_left(&s), 2);
	assert_int_equal(cursor_offset(&c), 2);
	assert_int_equal(cursor_u8(&s), 1);
	assert_int_equal(cursor_u16(&s), 0);
	assert_true(s.bad);
	assert_int_equal(cursor_u16(&c), 0x0403);
	assert_false(c.bad);
	s = cursor_sub(&c, 0);
	assert_false(s.bad);
}

static void cstr_needs_its_nul(void **state)
{
	struct cursor c = cursor_of("ab\0c", 4);

	(void)state;
	assert_string_equal(cursor_cstr(&c), "ab");
	assert_int_equal(cursor_offset(&c), 3);
	assert_null(cursor_cstr(&c));
	assert_true(c.bad);
}

/* An empty file or section is NULL and 0; under UBSan even NULL + 0 counts. */
static void nothing_at_all_can_be_read(void **state)
{
	struct cursor c = cursor_of(NULL, 0), s;

	(void)state;
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_offset(&c), 0);
	(void)cursor_take(&c, 0);
	assert_false(c.bad);
	s = cursor_sub(&c, 0);
	assert_false(s.bad);
	assert_null(cursor_cstr(&c));
	check_dead(c);
	c = cursor_of(NULL, 0);
	assert_int_equal(cursor_u8(&c), 0);
	check_dead(c);
}

static void buf_holds_what_was_appended(void **state)
{
	struct buf b = { 0 };
	char big[3000];

	(void)state;
	assert_string_equal(buf_cstr(&b), "");
	buf_bytes(&b, NULL, 0);
	assert_false(b.failed);
	buf_printf(&b, "%s-%d", "x", 5);
	buf_str(&b, "!");
	assert_int_equal(b.n, 4);
	check_text(&b, "x-5!");
	memset(big, 'y', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	buf_printf(&b, "%s", big);
	check_text(&b, big);
	buf_fini(&b);
	assert_null(b.p);
}

/* Room for nothing is room: NULL would mean failure. */
/* A sum of all bytes by their places, and what takes them. */
struct taker {
	uint64_t n, sum;
	size_t largest, fails_at;
};

static bool take(void *ctx, const uint8_t *p, size_t n)
{
	struct taker *t = ctx;

	for (size_t i = 0; i < n; i++)
		t->sum += (t->n++ + 1) * p[i];
	if (n > t->largest)
		t->largest = n;
	return !t->fails_at || t->n < t->fails_at;
}

static uint64_t append(struct buf *b, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t v = (uint8_t)(i * 7 >> 3);

		buf_u8(b, v);
		sum += (i + 1) * v;
	}
	buf_flush(b);
	return sum;
}

static void a_sink_takes_what_is_appended(void **state)
{
	enum { N = 3000000 };
	struct taker t = { 0 };
	struct buf_sink sink = { .take = take, .ctx = &t };
	struct buf b = { .sink = &sink };
	uint64_t sum = append(&b, N);

	(void)state;
	assert_false(b.failed);
	assert_int_equal(t.n, N);
	assert_int_equal(t.sum, sum);
	assert_int_equal(sink.taken, N);
	assert_true(b.cap < 1 << 20 && t.largest < 1 << 20);
	buf_flush(&b);
	assert_int_equal(t.n, N);
	buf_fini(&b);
	/* The limit is for all bytes, and none are passed beyond it. */
	for (int more = 0; more < 2; more++) {
		t = (struct taker){ 0 };
		sink.taken = 0;
		b = (struct buf){ .sink = &sink, .most = N };
		append(&b, N + (size_t)more);
		assert_int_equal(b.failed, more);
		assert_true(t.n <= N);
		buf_fini(&b);
	}
	/* A sink that fails is not called again. */
	t = (struct taker){ .fails_at = 1 };
	sink.taken = 0;
	b = (struct buf){ .sink = &sink };
	append(&b, N);
	assert_true(b.failed);
	assert_int_equal(t.n, t.largest);
	buf_fini(&b);
}

static void buf_room_for_nothing(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_non_null(buf_room(&b, 0));
	assert_false(b.failed);
	buf_fini(&b);
}

static void buf_failure_sticks(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_str(&b, "kept");
	assert_null(buf_room(&b, SIZE_MAX / 2));
	assert_true(b.failed);
	buf_u8(&b, 1);
	buf_str(&b, "lost");
	buf_uleb(&b, 1);
	buf_sleb(&b, 1);
	buf_u64(&b, 1);
	buf_printf(&b, "%d", 1);
	assert_int_equal(b.n, 4);
	assert_memory_equal(b.p, "kept", 4);
	assert_string_equal(buf_cstr(&b), "");
	buf_reset(&b);
	assert_false(b.failed);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_names_code_and_text),
		cmocka_unit_test(errno_becomes_a_code),
		cmocka_unit_test(long_errors_are_cut),
		cmocka_unit_test(vec_grows_and_keeps),
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(leb_follows_dwarf),
		cmocka_unit_test(padded_leb_is_good),
		cmocka_unit_test(hostile_leb_is_bad),
		cmocka_unit_test(lebs_together_are_the_same),
		cmocka_unit_test(uleb32_refuses_more),
		cmocka_unit_test(overrun_is_bad_and_stays_bad),
		cmocka_unit_test(sub_cursor_ends_at_its_size),
		cmocka_unit_test(cstr_needs_its_nul),
		cmocka_unit_test(nothing_at_all_can_be_read),
		cmocka_unit_test(buf_holds_what_was_appended),
		cmocka_unit_test(a_sink_takes_what_is_appended),
		cmocka_unit_test(buf_room_for_nothing),
		cmocka_unit_test(buf_failure_sticks),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
