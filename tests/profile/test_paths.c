// SPDX-License-Identifier: GPL-2.0-or-later
/* Nodes and symbols as coded bits: they come back as they were, section after
 * section; what is lost or damaged costs a group and nothing else. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/paths.h"

enum { PARTS = 40, STACKS = 60, GROUP = 16 };

struct part {
	size_t loc, node;	/* the profile's rows when it began */
	size_t from;		/* in the bytes */
};

/* Stacks of a made-up program: each function calls the same few. */
static void add_stacks(struct profile *p, int part)
{
	for (int i = 0; i < STACKS; i++) {
		uint64_t h = hash_u64((uint64_t)(part * STACKS + i) + 1);
		uint32_t node = h % 31 ? 0 : profile_end(p, PROF_MARK_BROKEN,
						(uint32_t)(h % 5), 1);

		for (uint64_t depth = h >> 8 & 15; depth-- > 0; h = hash_u64(h)) {
			uint64_t function = h % 23 * h % 9;

			node = profile_node(p, node, profile_loc(
				p, function % 3,
				0x400000 + function * 0x10007 + h % 37));
		}
		profile_node(p, node, profile_loc(
			p, h % 7 ? 0 : 5, h % 7 ? 0x10000 + h % 5000 : -h));
	}
}

/* So many parts of a recording, each in a section of its own. */
static void write_parts(struct profile *p, struct buf *b, struct part *v)
{
	struct paths *s = paths_new();

	assert_non_null(s);
	profile_init(p);
	for (int i = 0; i < PARTS; i++) {
		v[i] = (struct part){ p->locs.n, p->nodes.n, b->n };
		add_stacks(p, i);
		assert_true(paths_put(s, b, p, v[i].loc, v[i].node));
	}
	v[PARTS] = (struct part){ p->locs.n, p->nodes.n, b->n };
	paths_free(s);
}

static bool read_part(struct paths *s, struct profile *q, const struct buf *b,
		      const struct part *v, size_t cut)
{
	struct cursor c = cursor_of(b->p + v[0].from, v[1].from - v[0].from);
	uint64_t n;

	assert_int_equal(cursor_uleb(&c), SECTION_PATHS);
	n = cursor_uleb(&c);
	assert_int_equal(n, cursor_left(&c));
	c.end -= cut;
	return paths_get(s, q, &c, 1 << 20);
}

static void same_rows(const struct profile *p, const struct profile *q,
		      const struct part *v)
{
	for (size_t i = v[0].loc; i < v[1].loc; i++) {
		assert_int_equal(q->locs.v[i].image, p->locs.v[i].image);
		assert_int_equal(q->locs.v[i].vaddr, p->locs.v[i].vaddr);
	}
	for (size_t i = v[0].node; i < v[1].node; i++) {
		assert_int_equal(q->nodes.v[i].parent, p->nodes.v[i].parent);
		assert_int_equal(q->nodes.v[i].loc, p->nodes.v[i].loc);
	}
}

static void test_round_trip(void **state)
{
	struct part v[PARTS + 1];
	struct paths *s = paths_new();
	struct profile p, q;
	struct buf b = { 0 };

	(void)state;
	write_parts(&p, &b, v);
	profile_init(&q);
	for (int i = 0; i < PARTS; i++)
		assert_true(read_part(s, &q, &b, &v[i], 0));
	assert_int_equal(q.locs.n, p.locs.n);
	assert_int_equal(q.nodes.n, p.nodes.n);
	same_rows(&p, &q, (struct part[]){ { 0, 1, 0 }, v[PARTS] });
	/* four bytes a node and its location, where tables take nine */
	assert_true(b.n < 4 * p.nodes.n);
	profile_fini(&p);
	profile_fini(&q);
	paths_free(s);
	buf_fini(&b);
}

/* Without one section the rest of its group is not read wrongly, but not at all;
 * the next group is. */
static void test_lost(void **state)
{
	struct part v[PARTS + 1];
	struct profile p;
	struct buf b = { 0 };

	(void)state;
	write_parts(&p, &b, v);
	for (int lost = 0; lost < GROUP; lost++) {
		struct paths *s = paths_new();
		struct profile q;

		profile_init(&q);
		for (int i = 0; i < PARTS; i++) {
			bool good = i < lost || i >= GROUP;

			/* missing, or shorter */
			if (i == lost && lost % 2)
				continue;
			assert_int_equal(read_part(s, &q, &b, &v[i],
						   i == lost ? 6 : 0), good);
			if (good)
				same_rows(&p, &q, &v[i]);
		}
		assert_int_equal(q.nodes.v[v[lost].node].loc,
				 PROF_MARK_DAMAGED);
		assert_int_equal(q.nodes.n, p.nodes.n);
		profile_fini(&q);
		paths_free(s);
	}
	profile_fini(&p);
	buf_fini(&b);
}

/* Any bytes give rows that exist, or none. */
static void test_flips(void **state)
{
	struct part v[PARTS + 1];
	struct profile p;
	struct buf b = { 0 };

	(void)state;
	write_parts(&p, &b, v);
	for (size_t at = 4; at < v[2].from; at++) {
		struct paths *s = paths_new();
		struct profile q;

		profile_init(&q);
		b.p[at] ^= (uint8_t)(1 << at % 8);
		for (int i = 0; i < 2; i++) {
			struct cursor c = cursor_of(b.p + v[i].from,
						    v[i + 1].from - v[i].from);
			uint64_t kind = cursor_uleb(&c), n = cursor_uleb(&c);

			if (kind == SECTION_PATHS && n <= cursor_left(&c))
				(void)paths_get(s, &q, &c, 0);
		}
		for (size_t i = 1; i < q.nodes.n; i++) {
			assert_true(q.nodes.v[i].parent < i);
			assert_true(q.nodes.v[i].loc < q.locs.n ||
				    prof_is_mark(q.nodes.v[i].loc));
		}
		b.p[at] ^= (uint8_t)(1 << at % 8);
		profile_fini(&q);
		paths_free(s);
	}
	profile_fini(&p);
	buf_fini(&b);
}

/* Rows that paths cannot tell, or would tell in more space, stay tables; what
 * comes after them begins anew. */
static void test_not_told(void **state)
{
	struct paths *s = paths_new();
	struct profile p, q;
	struct buf b = { 0 };
	struct part v[2];

	(void)state;
	profile_init(&p);
	profile_node(&p, 0, profile_loc(&p, 0, 1));
	assert_false(paths_put(s, &b, &p, 0, 1));	/* few */
	profile_loc(&p, 0, 2);
	profile_node(&p, 0, profile_loc(&p, 0, 3));	/* out of order */
	for (uint32_t i = 0; i < 100; i++)
		profile_loc(&p, 0, 100 + i);
	assert_false(paths_put(s, &b, &p, 1, 2));
	assert_int_equal(b.n, 0);
	v[0] = (struct part){ p.locs.n, p.nodes.n, 0 };
	add_stacks(&p, 0);
	assert_true(paths_put(s, &b, &p, v[0].loc, v[0].node));
	v[1] = (struct part){ p.locs.n, p.nodes.n, b.n };
	profile_init(&q);
	assert_true(read_part(s, &q, &b, v, 0));
	same_rows(&p, &q, v);
	profile_fini(&p);
	profile_fini(&q);
	paths_free(s);
	buf_fini(&b);
}

/* More rows than the bytes can hold are refused before there is room for them. */
static void test_bomb(void **state)
{
	struct paths *s = paths_new();
	struct profile p;
	struct buf b = { 0 };
	struct cursor c;

	(void)state;
	profile_init(&p);
	buf_u8(&b, 0);
	buf_uleb(&b, 0);
	buf_uleb(&b, 0);
	buf_uleb(&b, 1);
	buf_uleb(&b, 1 << 28);
	for (int i = 0; i < 64; i++)
		buf_u8(&b, 0xff);
	c = cursor_of(b.p, b.n);
	assert_false(paths_get(s, &p, &c, 0));
	assert_int_equal(p.nodes.n, 1);
	profile_fini(&p);
	paths_free(s);
	buf_fini(&b);
}

static void test_symbols(void **state)
{
	struct profile p, q;
	struct buf b = { 0 };
	struct cursor c;
	uint64_t at = 0x1000, n;

	(void)state;
	profile_init(&p);
	profile_init(&q);
	for (uint32_t i = 0; i < 500; i++) {
		uint64_t h = hash_u64(i + 1);
		struct prof_symbol y = {
			.image = i / 100, .vaddr = h % 9 ? at : at + 3,
			.name = h % 3 ? i + 2 : h % 5 ? 0 : (uint32_t)h % 90,
			.size = h % 7 ? h % 3000 : 0,
		};

		/* not in order, overlapping, at the end of all addresses */
		if (i % 50 == 7)
			y.vaddr = h;
		if (i % 50 == 9)
			y.vaddr = y.size = UINT64_MAX;
		vec_push(&p.symbols, y);
		at = (at + y.size + 15) & ~15ull;
	}
	assert_true(section_put_symbols(&b, &p));
	c = cursor_of(b.p, b.n);
	assert_int_equal(cursor_uleb(&c), SECTION_PACKED_SYMBOLS);
	n = cursor_uleb(&c);
	assert_int_equal(n, cursor_left(&c));
	assert_true(section_get(&q, SECTION_PACKED_SYMBOLS, &c, 0));
	assert_int_equal(q.symbols.n, p.symbols.n);
	for (size_t i = 0; i < p.symbols.n; i++) {
		assert_int_equal(q.symbols.v[i].image, p.symbols.v[i].image);
		assert_int_equal(q.symbols.v[i].name, p.symbols.v[i].name);
		assert_int_equal(q.symbols.v[i].vaddr, p.symbols.v[i].vaddr);
		assert_int_equal(q.symbols.v[i].size, p.symbols.v[i].size);
	}
	profile_fini(&q);
	for (n = 5; n < 12; n++) {
		profile_init(&q);
		c = cursor_of(b.p + 3, b.n - 3 - n);
		assert_false(section_get(&q, SECTION_PACKED_SYMBOLS, &c, 0));
		assert_int_equal(q.symbols.n, 0);
		profile_fini(&q);
	}
	profile_fini(&p);
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_flips),
		cmocka_unit_test(test_not_told),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
