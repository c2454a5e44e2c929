// SPDX-License-Identifier: GPL-2.0-or-later
/* Sections come back as they were written; columns that a newer version adds are
 * passed over, and those that an older one lacks are zero. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/format.h"

enum { NAMES = 100, NODES = 500 };

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

static void test_strings(void **state)
{
	struct profile p, q;
	struct buf b = { 0 };
	struct cursor c;
	char name[64];

	(void)state;
	profile_init(&p);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%.*s%d", i % 40,
			 "_ZNSt8_Rb_treeIiSt4pairIKiiESt10_Select1", i);
		assert_int_equal(profile_str(&p, name), 2 + i);
	}
	section_put_strings(&b, &p, 2, p.str.str.n);
	for (size_t n = 0; n <= b.n - 3; n++) {	/* any prefix, then all */
		profile_init(&q);
		c = body_of(&b, SECTION_STRINGS);
		c.end = c.p + n;
		assert_int_equal(section_get(&q, SECTION_STRINGS, &c, 0),
				 c.end == b.p + b.n);
		if (c.end == b.p + b.n)
			for (uint32_t i = 0; i < p.str.str.n; i++)
				assert_string_equal(profile_cstr(&p, i),
						    profile_cstr(&q, i));
		profile_fini(&q);
	}
	buf_fini(&b);
	profile_fini(&p);
}

static uint32_t add_frame(struct profile *p, uint32_t func, uint32_t line,
			  uint32_t file, uint32_t outer)
{
	struct prof_frame f = { func, file, line, line % 7, outer };

	return profile_frame(p, &f);
}

static void symbolize_add_frames(struct profile *p)
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

/* One section of p's table into q. */
static bool copy_table(const struct profile *p, struct profile *q,
		       enum section_kind kind)
{
	const struct table *t = table_named(kind);
	struct buf b = { 0 };
	struct cursor c;
	bool good;

	section_put_table(&b, p, t, kind == SECTION_NODES, table_rows(p, t));
	c = body_of(&b, kind);
	good = section_get(q, kind, &c, 0);
	buf_fini(&b);
	return good;
}

static void test_tables(void **state)
{
	struct profile p, q;

	(void)state;
	profile_init(&p);
	profile_init(&q);
	symbolize_add_frames(&p);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t loc = profile_loc(&p, i % 3, i * 2654435761u % 1009);

		profile_node(&p, i % 5 ? (uint32_t)p.nodes.n - 1 : 0,
			     i % 50 ? loc : PROF_MARK_BROKEN);
		vec_push(&p.loc_frame, i % 9 ? i * 31 % 2000 : PROF_NONE);
	}
	assert_true(copy_table(&p, &q, SECTION_LOCS));
	assert_true(copy_table(&p, &q, SECTION_NODES));
	assert_true(copy_table(&p, &q, SECTION_SYMBOLS));
	assert_true(copy_table(&p, &q, SECTION_FUNCS));
	assert_true(copy_table(&p, &q, SECTION_FRAMES));
	assert_true(copy_table(&p, &q, SECTION_LOC_FRAMES));
#define SAME(table) do { \
		assert_int_equal(q.table.n, p.table.n); \
		assert_memory_equal(q.table.v, p.table.v, \
				    p.table.n * sizeof(*p.table.v)); \
	} while (0)
	SAME(nodes);
	SAME(funcs);
	SAME(frames);
	SAME(loc_frame);
	for (size_t i = 0; i < p.locs.n; i++) {
		assert_int_equal(q.locs.v[i].image, p.locs.v[i].image);
		assert_int_equal(q.locs.v[i].vaddr, p.locs.v[i].vaddr);
	}
	profile_fini(&p);
	profile_fini(&q);
}

/* Two rows of LINES, whose columns are image u, vaddr d, frame o. */
static bool get_lines(struct profile *p, const uint8_t *body, size_t n)
{
	struct cursor c = cursor_of(body, n);

	assert_int_equal(profile_init(p), 0);
	return section_get(p, SECTION_LINES, &c, 0);
}

static void check_lines(struct profile *p, uint32_t frame)
{
	assert_int_equal(p->lines.n, 2);
	assert_int_equal(p->lines.v[0].image, 1);
	assert_int_equal(p->lines.v[0].vaddr, 0x20);
	assert_int_equal(p->lines.v[0].frame, frame);
	assert_int_equal(p->lines.v[1].image, 1);
	assert_int_equal(p->lines.v[1].vaddr, 0x24);
	profile_fini(p);
}

static void test_columns_of_other_versions(void **state)
{
	static const uint8_t now[] = { 0, 2, 3, 2, 1, 1, 2, 0x20, 4, 2, 3, 0 },
			     newer[] = { 0, 2, 5, 2, 1, 1, 2, 0x20, 4, 2, 3, 0,
					 3, 9, 9, 9, 0 },
			     older[] = { 0, 2, 2, 2, 1, 1, 2, 0x20, 4 };
	struct profile p;

	(void)state;
	assert_true(get_lines(&p, now, sizeof(now)));
	assert_int_equal(p.lines.v[1].frame, PROF_NONE);
	check_lines(&p, 1);
	assert_true(get_lines(&p, newer, sizeof(newer)));
	check_lines(&p, 1);
	assert_true(get_lines(&p, older, sizeof(older)));
	check_lines(&p, 0);
}

/* A column that is longer or shorter than its rows, or than the section; no
 * columns; more rows than there are bytes. */
static void test_wrong_columns(void **state)
{
	static const struct { uint8_t n, bytes[12]; } wrong[] = {
		{ 12, { 0, 2, 3, 2, 1, 1, 2, 0x20, 4, 1, 3, 0 } },
		{ 12, { 0, 2, 3, 2, 1, 1, 3, 0x20, 4, 1, 1, 0 } },
		{ 12, { 0, 2, 3, 2, 1, 1, 2, 0x20, 4, 3, 3, 0 } },
		{ 11, { 0, 2, 3, 2, 1, 1, 2, 0x20, 4, 2, 3 } },
		{ 3, { 0, 2, 0 } },
		{ 12, { 0, 9, 3, 2, 1, 1, 2, 0x20, 4, 2, 3, 0 } },
	};
	struct profile p;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_false(get_lines(&p, wrong[i].bytes, wrong[i].n));
		for (size_t k = 0; k < p.lines.n; k++)
			assert_int_equal(p.lines.v[k].vaddr, 0);
		profile_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_columns_of_other_versions),
		cmocka_unit_test(test_wrong_columns),
	};

	return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}
