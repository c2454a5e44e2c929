// SPDX-License-Identifier: GPL-2.0-or-later
/* Sections whose bytes depend on other rows: strings that repeat each other, the
 * functions of frames, frames by address. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"

enum { NAMES = 100, PARTS = 32, LOCS = 20000 };

static const struct table *table_named(enum section_kind kind)
{
	for (size_t i = 0; i < format_ntables; i++)
		if (format_tables[i].section == kind)
			return &format_tables[i];
	fail();
	return NULL;
}

/* One section's bytes without its kind and length. */
static struct cursor body_of(const struct buf *b, uint64_t want)
{
	struct cursor c = cursor_of(b->p, b->n);
	uint64_t kind = cursor_uleb(&c), n = cursor_uleb(&c);

	assert_int_equal(kind, want);
	assert_int_equal(n, cursor_left(&c));
	return c;
}

/* Names as long as those of C++, each of parts that others have, too. */
static void add_names(struct profile *p)
{
	char name[2048], parts[PARTS][200];
	uint64_t seed = 1;

	for (int i = 0; i < PARTS; i++) {
		for (int k = 0; k < 199; k++) {
			seed = hash_u64(seed + 1);
			parts[i][k] = (char)('a' + seed % 26);
		}
		parts[i][199] = 0;
	}
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "_ZN%d%s%d%s%s", i, parts[i % PARTS], i,
			 parts[i * 3 % PARTS], parts[i * 5 % PARTS]);
		assert_int_equal(profile_str(p, name), 2 + i);
	}
}

static void test_strings(void **state)
{
	struct profile p, q;
	struct buf b = { 0 };
	struct cursor c;

	(void)state;
	profile_init(&p);
	profile_init(&q);
	add_names(&p);
	section_put_strings(&b, &p, 2, p.str.str.n);
	c = body_of(&b, SECTION_PACKED_STRINGS);
	assert_true(b.n < NAMES * 300);
	assert_true(section_get(&q, SECTION_PACKED_STRINGS, &c, 0));
	assert_int_equal(q.str.str.n, p.str.str.n);
	for (uint32_t i = 0; i < p.str.str.n; i++)
		assert_string_equal(profile_cstr(&p, i), profile_cstr(&q, i));
	profile_fini(&q);
	/* any prefix of it, and any byte of the pieces another one */
	for (size_t n = 0; n < 600 && n < b.n; n++) {
		struct cursor cut = body_of(&b, SECTION_PACKED_STRINGS);

		cut.end = cut.p + n;
		profile_init(&q);
		assert_false(section_get(&q, SECTION_PACKED_STRINGS, &cut, 0));
		profile_fini(&q);
		b.p[b.n - 1 - n] ^= 0x80;
		b.p[8 + n] ^= 0x21;
		c = body_of(&b, SECTION_PACKED_STRINGS);
		profile_init(&q);
		(void)section_get(&q, SECTION_PACKED_STRINGS, &c, 0);
		assert_true(q.str.str.n <= p.str.str.n);
		profile_fini(&q);
		b.p[b.n - 1 - n] ^= 0x80;
		b.p[8 + n] ^= 0x21;
	}
	buf_fini(&b);
	profile_fini(&p);
}

/* A promise of more text than the bytes can hold. */
static void test_bomb(void **state)
{
	struct profile p;
	struct buf b = { 0 };
	struct cursor c;

	(void)state;
	profile_init(&p);
	buf_uleb(&b, 2);
	buf_uleb(&b, 1);
	buf_uleb(&b, 60 << 20);
	buf_uleb(&b, 1);
	buf_uleb(&b, 1);
	buf_uleb(&b, (60 << 20) - 66);
	buf_sleb(&b, 1);
	buf_str(&b, "a");
	buf_u8(&b, 0);
	c = cursor_of(b.p, b.n);
	assert_false(section_get(&p, SECTION_PACKED_STRINGS, &c, 0));
	buf_fini(&b);
	profile_fini(&p);
}

static uint32_t add_frame(struct profile *p, uint32_t func, uint32_t line,
			  uint32_t file, uint32_t outer)
{
	struct prof_frame f = { func, file, line, line % 7, outer };

	return profile_frame(p, &f);
}

static void fill_frames(struct profile *p)
{
	uint32_t file = profile_str(p, "/a.c"), other = profile_str(p, "/b.h");

	vec_push(&p->images, ((struct prof_image){ .path = file }));
	vec_push(&p->symbols, ((struct prof_symbol){ 0, file, 0x1000, 16 }));
	vec_push(&p->symbols, ((struct prof_symbol){ 0, file, 0x9000, 16 }));
	for (uint32_t i = 0; i < 200; i++) {
		struct prof_func f = { 0, 2 + i % 2, i % 3 ? file : other,
				       i * 10, 0 };

		/* by a symbol, by none, and not at all */
		f.vaddr = i % 5 == 0 ? 0x1000 : i % 5 == 1 ? 0x9000
			  : i % 5 == 2 ? 0x5555 + i : 0;
		profile_func(p, &f);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t outer = i % 4 ? (uint32_t)p->frames.n - 1 : PROF_NONE;

		add_frame(p, i * 7919 % 200, i % 50 * 3, i % 11 ? file : other,
			  outer);
	}
}

static void test_frames(void **state)
{
	static const enum section_kind kinds[] = { SECTION_SYMBOLS,
						   SECTION_FUNCS,
						   SECTION_FRAMES };
	struct profile p, q;

	(void)state;
	profile_init(&p);
	profile_init(&q);
	fill_frames(&p);
	for (size_t k = 0; k < 3; k++) {
		const struct table *t = table_named(kinds[k]);
		struct buf b = { 0 };
		struct cursor c;

		section_put_table(&b, &p, t, 0, table_rows(&p, t));
		c = body_of(&b, kinds[k]);
		assert_true(section_get(&q, kinds[k], &c, 0));
		buf_fini(&b);
	}
	assert_int_equal(q.funcs.n, p.funcs.n);
	assert_memory_equal(q.funcs.v, p.funcs.v,
			    p.funcs.n * sizeof(*p.funcs.v));
	assert_int_equal(q.frames.n, p.frames.n);
	assert_memory_equal(q.frames.v, p.frames.v,
			    p.frames.n * sizeof(*p.frames.v));
	profile_fini(&p);
	profile_fini(&q);
}

static void fill_locs(struct profile *p)
{
	for (uint32_t i = 0; i < LOCS; i++) {
		profile_loc(p, i % 3, i * 2654435761u % 1000003);
		vec_push(&p->loc_frame, i % 9 ? i * 31 % 5000 : PROF_NONE);
	}
	assert_int_equal(p->locs.n, LOCS);
}

/* Where a location is another one, its neighbours' frames would be wrong: they
 * are unknown, and those of other groups are not. */
static void test_places(void **state)
{
	struct profile p;
	struct buf b = { 0 };

	(void)state;
	profile_init(&p);
	fill_locs(&p);
	section_put_places(&b, &p);
	for (int damaged = 0; damaged < 2; damaged++) {
		struct cursor c = cursor_of(b.p, b.n);
		struct profile q;
		int good = 0;

		profile_init(&q);
		fill_locs(&q);
		q.loc_frame.n = 0;
		q.locs.v[9000].vaddr += damaged;
		while (cursor_left(&c)) {
			uint64_t kind = cursor_uleb(&c), n = cursor_uleb(&c);
			struct cursor body = cursor_sub(&c, n);

			assert_int_equal(kind, SECTION_PLACES);
			good += section_get(&q, kind, &body, 0);
		}
		assert_int_equal(good, 3 - damaged);
		assert_int_equal(q.loc_frame.n, LOCS);
		for (uint32_t i = 0; i < LOCS; i++)
			assert_int_equal(q.loc_frame.v[i], damaged &&
					 i / 8192 == 1 ? PROF_NONE
					 : p.loc_frame.v[i]);
		profile_fini(&q);
	}
	buf_fini(&b);
	profile_fini(&p);
}

/* Files of 1.2 have the same by other sections. */
static void test_old_frames(void **state)
{
	static const enum section_kind kinds[] = { SECTION_FUNCS_OLD,
						   SECTION_FRAMES_OLD,
						   SECTION_LOC_FRAMES_OLD };
	struct profile p, q;

	(void)state;
	profile_init(&p);
	profile_init(&q);
	fill_frames(&p);
	vec_push(&p.loc_frame, 7);
	vec_push(&p.loc_frame, PROF_NONE);
	for (size_t k = 0; k < 3; k++) {
		const struct table *t = table_named(kinds[k]);
		struct buf b = { 0 };
		struct cursor c;

		assert_true(t->old);
		section_put_table(&b, &p, t, 0, table_rows(&p, t));
		c = body_of(&b, kinds[k]);
		assert_true(section_get(&q, kinds[k], &c, 0));
		buf_fini(&b);
	}
	assert_memory_equal(q.funcs.v, p.funcs.v,
			    p.funcs.n * sizeof(*p.funcs.v));
	assert_memory_equal(q.frames.v, p.frames.v,
			    p.frames.n * sizeof(*p.frames.v));
	assert_int_equal(q.loc_frame.n, 2);
	assert_int_equal(q.loc_frame.v[0], 7);
	assert_int_equal(q.loc_frame.v[1], PROF_NONE);
	profile_fini(&p);
	profile_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_old_frames),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}
