// SPDX-License-Identifier: GPL-2.0-or-later
/* arrays, u64map, idtab, strtab, search and sort. */
#include "test.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/hash.h"
#include "base/pages.h"
#include "base/radix.h"
#include "base/search.h"
#include "base/strtab.h"

enum { KEYS = 100000 };

/* Keys as they come: small numbers, page-aligned addresses, top bits only. */
static uint64_t key_of(int pattern, uint32_t i)
{
	switch (pattern) {
	case 0:
		return i;
	case 1:
		return 0x7f0000000000ull + ((uint64_t)i << 12);
	case 2:
		return (uint64_t)i << 44;
	default:
		return UINT64_MAX - i;
	}
}

static void u64map_keeps_100000_keys(void **state)
{
	(void)state;
	for (int pattern = 0; pattern < 4; pattern++) {
		struct u64map m = { 0 };

		assert_true(u64map_get(&m, 0) == U64MAP_NONE);
		for (uint32_t i = 0; i < KEYS; i++) {
			uint32_t *v = u64map_slot(&m, key_of(pattern, i));

			assert_non_null(v);
			assert_true(*v == U64MAP_NONE);
			*v = i;
		}
		assert_int_equal(m.n, KEYS);
		for (uint32_t i = 0; i < KEYS; i++) {
			uint64_t key = key_of(pattern, i);

			assert_int_equal(u64map_get(&m, key), i);
			assert_int_equal(*u64map_slot(&m, key), i);
		}
		assert_true(u64map_get(&m, 1ull << 63 | 12345) == U64MAP_NONE);
		assert_int_equal(m.n, KEYS);
		u64map_clear(&m);
		assert_true(u64map_get(&m, key_of(pattern, 7)) == U64MAP_NONE);
		assert_int_equal(m.n, 0);
		u64map_fini(&m);
	}
}

/* Each pair has a key of its own: small numbers with the start of a process, and process
 * numbers with addresses of objects. */
static void mixed_numbers_are_keys_of_their_own(void **state)
{
	enum { NUMBERS = 300, TIMES = 512, PIDS = 8, OBJECTS = 20000 };
	struct u64map m = { 0 };

	(void)state;
	for (uint64_t time = 0; time < TIMES; time++) {
		u64map_clear(&m);
		for (uint64_t number = 0; number < NUMBERS; number++)
			*u64map_slot(&m, hash_mix(number, 0x187c5be33f4a2000 + time)) = 1;
		assert_int_equal(m.n, NUMBERS);
	}
	u64map_clear(&m);
	for (uint64_t pid = 12345; pid < 12345 + PIDS; pid++)
		for (uint64_t i = 0; i < OBJECTS; i++)
			*u64map_slot(&m, hash_mix(pid, 0x7f0123456780 + 16 * i)) = 1;
	assert_int_equal(m.n, PIDS * OBJECTS);
	u64map_fini(&m);
}

/* Slots before the end of a full stretch wrap around to the table's start. */
static void u64map_survives_collisions(void **state)
{
	struct u64map m = { 0 };
	uint32_t found = 0;

	(void)state;
	*u64map_slot(&m, 0) = 0;
	/* Keys whose hash falls on the last slot of the first, 64-slot table. */
	for (uint64_t k = 1; found < 20; k++) {
		if ((hash_u64(k) & 63) != 63)
			continue;
		*u64map_slot(&m, k) = (uint32_t)k;
		found++;
	}
	assert_int_equal(m.cap, 64);
	assert_int_equal(u64map_get(&m, 0), 0);
	for (uint64_t k = 1; found; k++) {
		if ((hash_u64(k) & 63) != 63)
			continue;
		assert_int_equal(u64map_get(&m, k), k);
		found--;
	}
	u64map_fini(&m);
}

/* Room that was made is used, and changes nothing. */
static void u64map_has_room(void **state)
{
	enum { MANY = 500 };
	struct u64map m = { 0 };
	size_t cap = 0;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		if (i == 10)
			assert_int_equal(u64map_reserve(&m, MANY), 0);
		if (i == 10)
			cap = m.cap;
		assert_int_equal(u64map_put(&m, key_of(2, i), i), 0);
	}
	assert_int_equal(m.cap, cap);
	assert_int_equal(u64map_reserve(&m, 1), 0);
	assert_int_equal(m.cap, cap);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(u64map_get(&m, key_of(2, i)), i);
	u64map_fini(&m);
}

static bool key_eq(const void *ctx, uint32_t id, const void *key)
{
	const uint64_t *keys = ctx;
	const uint64_t *k = key;

	return keys[id] == *k;
}

/* With every hash equal the table must still be right. */
static void idtab_survives_equal_hashes(void **state)
{
	uint64_t keys[500];
	struct idtab t = { 0 };
	uint64_t other = 1000;

	(void)state;
	for (uint32_t i = 0; i < COUNT(keys); i++) {
		keys[i] = i;
		assert_true(idtab_find(&t, 42, key_eq, keys, &keys[i]) ==
			    IDTAB_NONE);
		assert_int_equal(idtab_add(&t, 42, i), 0);
	}
	for (uint32_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(idtab_find(&t, 42, key_eq, keys, &keys[i]), i);
	assert_true(idtab_find(&t, 42, key_eq, keys, &other) == IDTAB_NONE);
	idtab_fini(&t);
}

/* Room that was made is used, and changes nothing. */
static void idtab_has_room(void **state)
{
	uint64_t keys[500];
	struct idtab t = { 0 };
	size_t cap = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(keys); i++) {
		keys[i] = key_of(2, i);
		if (i == 10)
			assert_int_equal(idtab_reserve(&t, COUNT(keys)), 0);
		if (i == 10)
			cap = t.cap;
		assert_int_equal(idtab_add(&t, hash_u64(keys[i]), i), 0);
	}
	assert_int_equal(t.cap, cap);
	assert_int_equal(idtab_reserve(&t, 1), 0);
	assert_int_equal(t.cap, cap);
	for (uint32_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(idtab_find(&t, hash_u64(keys[i]), key_eq, keys,
					    &keys[i]), i);
	idtab_fini(&t);
}

struct keyed {
	uint64_t key, row;
};

struct keyed_rows {
	VEC(struct keyed) v;
};

static bool keyed_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct keyed_rows *r = ctx;

	return r->v.v[id].key == ((const struct keyed *)key)->key;
}

/* Equal rows get one number, and others the next one. */
static void idtab_row_numbers_rows(void **state)
{
	struct keyed_rows r = { .v = { 0 } };
	struct idtab t = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		struct keyed k = { i % 1000, i };

		assert_int_equal(idtab_row(&t, &r.v, hash_u64(k.key), keyed_eq, &r, &k),
				 i % 1000);
	}
	assert_int_equal(r.v.n, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(r.v.v[i].row, i);	/* the first one is kept */
	vec_fini(&r.v);
	idtab_fini(&t);
}

static void idtab_keeps_100000_ids(void **state)
{
	static uint64_t keys[KEYS];
	struct idtab t = { 0 };

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		keys[i] = key_of(1, i);
		assert_int_equal(idtab_add(&t, hash_u64(keys[i]), i), 0);
	}
	assert_int_equal(t.n, KEYS);
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(idtab_find(&t, hash_u64(keys[i]), key_eq, keys,
					    &keys[i]), i);
	idtab_fini(&t);
}

/* Every length around the 8-byte step, and bytes that a C string cannot hold. */
static void hash_bytes_sees_every_byte(void **state)
{
	uint8_t b[40] = { 0 };

	(void)state;
	for (size_t n = 0; n < sizeof(b); n++) {
		uint64_t h = hash_bytes(b, n);

		assert_true(h != hash_bytes(b, n + 1));
		for (size_t i = 0; i < n; i++) {
			b[i] ^= 1;
			assert_true(hash_bytes(b, n) != h);
			b[i] ^= 1;
		}
		assert_true(hash_bytes(b, n) == h);
	}
}

static void strtab_gives_equal_ids(void **state)
{
	struct strtab t;
	char name[32];

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	assert_int_equal(strtab_add(&t, ""), 0);
	for (uint32_t i = 1; i <= KEYS; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		assert_int_equal(strtab_add(&t, name), i);
	}
	for (uint32_t i = 1; i <= KEYS; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		assert_int_equal(strtab_add(&t, name), i);
		assert_int_equal(strtab_find(&t, name), i);
		assert_string_equal(strtab_get(&t, i), name);
	}
	assert_true(strtab_find(&t, "nam") == UINT32_MAX);
	assert_true(strtab_find(&t, "name1x") == UINT32_MAX);
	assert_string_equal(strtab_get(&t, KEYS + 1), "");
	assert_string_equal(strtab_get(&t, UINT32_MAX), "");
	strtab_fini(&t);
}

static void strtab_cuts_at_nul_and_length(void **state)
{
	struct strtab t;
	uint32_t ab;

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	ab = strtab_add(&t, "ab");
	assert_int_equal(strtab_add_n(&t, "ab\0cd", 5), ab);
	assert_int_equal(strtab_add_n(&t, "abcd", 2), ab);
	assert_int_not_equal(strtab_add_n(&t, "abcd", 3), ab);
	assert_int_equal(strtab_add_n(&t, "x", 0), 0);
	assert_int_equal(strtab_add_n(&t, NULL, 0), 0);
	strtab_fini(&t);
}

/* Names of every size around the blocks that hold them; none may move. */
static void strtab_keeps_long_names(void **state)
{
	enum { LONGEST = 200000, STEP = 1021 };
	static char big[LONGEST + 1];
	const char *where[LONGEST / STEP + 1];
	struct strtab t;
	size_t n = 0;

	(void)state;
	memset(big, 'z', LONGEST);
	assert_int_equal(strtab_init(&t), 0);
	for (size_t len = STEP; len <= LONGEST; len += STEP, n++) {
		uint32_t id = strtab_add_n(&t, big, len);

		assert_int_equal(id, n + 1);
		where[n] = strtab_get(&t, id);
	}
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(strtab_get(&t, (uint32_t)i + 1), where[i]);
		assert_int_equal(strlen(where[i]), (i + 1) * STEP);
	}
	strtab_fini(&t);
}

static void strtab_truncate_forgets(void **state)
{
	struct strtab t;

	(void)state;
	assert_int_equal(strtab_init(&t), 0);
	assert_int_equal(strtab_add(&t, "a"), 1);
	assert_int_equal(strtab_add(&t, "b"), 2);
	assert_int_equal(strtab_truncate(&t, 2), 0);
	assert_true(strtab_find(&t, "b") == UINT32_MAX);
	assert_int_equal(strtab_find(&t, "a"), 1);
	assert_string_equal(strtab_get(&t, 2), "");
	assert_int_equal(strtab_add(&t, "c"), 2);
	assert_int_equal(strtab_truncate(&t, 9), 0);
	assert_int_equal(strtab_find(&t, "c"), 2);
	strtab_fini(&t);
}

/* A table that uses a pool behaves as one that does not, and leaves nothing in the pool
 * but its strings. */
static void strpool_serves_one_after_another(void **state)
{
	struct strtab all, t, other;
	struct strpool pool = { .str = &all };

	(void)state;
	assert_int_equal(strtab_init(&all), 0);
	assert_int_equal(strtab_add(&all, "known"), 1);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(strtab_init_in(&t, &pool), 0);
		assert_true(strtab_find(&t, "known") == UINT32_MAX);
		assert_int_equal(strtab_add(&t, round ? "b" : "a"), 1);
		assert_int_equal(strtab_add(&t, "known"), 2);
		assert_int_equal(strtab_add_n(&t, "knownly", 5), 2);
		assert_int_equal(strtab_add_n(&t, "kno\0wn", 6), 3);
		assert_int_equal(strtab_add(&t, round ? "b" : "a"), 1);
		assert_int_equal(strtab_add(&t, ""), 0);
		assert_true(strtab_find(&t, round ? "a" : "b") == UINT32_MAX);
		assert_string_equal(strtab_get(&t, 3), "kno");
		assert_string_equal(strtab_get(&all, t.pool_id.v[2]), "known");
		/* a second table does without the pool */
		assert_int_equal(strtab_init_in(&other, &pool), 0);
		assert_int_equal(strtab_add(&other, "kno"), 1);
		strtab_fini(&other);
		assert_int_equal(strtab_truncate(&t, 2), 0);
		assert_true(strtab_find(&t, "known") == UINT32_MAX);
		assert_int_equal(strtab_add(&t, "kno"), 2);
		strtab_fini(&t);
	}
	assert_int_equal(all.str.n, 5);	/* "", known, a, kno, b */
	strpool_fini(&pool);
	strtab_fini(&all);
}

/* Arrays of every size around those that get pages of their own. */
static void pages_are_zero(void **state)
{
	(void)state;
	assert_null(pages_calloc(SIZE_MAX / 4, 8));
	for (size_t n = 0; n < 5u << 20; n = n * 2 + 1)
		for (size_t more = 0; more < 2; more++) {
			uint32_t *p = pages_calloc(n + more, sizeof(*p));

			assert_non_null(p);
			for (size_t i = 0; i < n + more; i++)
				assert_int_equal(p[i], 0);
			memset(p, 1, (n + more) * sizeof(*p));
			pages_free(p, n + more, sizeof(*p));
		}
	pages_free(NULL, 1u << 20, 8);
}

static void guesses_stop_and_go_on(void **state)
{
	struct guess g = { 0 };

	(void)state;
	assert_int_equal(guess_next(&g), 0);
	for (uint32_t i = 0; i < GUESS_WRONG; i++) {
		assert_int_equal(guess_next(&g), i ? 10 * i + 1 : 0);
		guess_found(&g, 10 * (i + 1));
	}
	assert_true(guess_next(&g) == UINT32_MAX);
	guess_found(&g, 7);
	assert_true(guess_next(&g) == UINT32_MAX);
	guess_found(&g, 8);
	assert_int_equal(guess_next(&g), 9);
}

/* Of each sorted array of up to 40 numbers with repeats: what a walk finds. */
static void test_search(void **state)
{
	uint32_t v[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		v[i] = (uint32_t)(i * 2 / 3 * 2);
	for (size_t n = 0; n <= 40; n++)
		for (uint32_t x = 0; x < 60; x++) {
			size_t first = 0, last = 0, at;

			while (first < n && v[first] < x)
				first++;
			lower_bound(at, 0, n, v[at] < x);
			assert_int_equal(at, first);
			while (last + 1 < n && v[last + 1] <= x)
				last++;
			last_where(at, n, v[at] <= x);
			assert_int_equal(at, last);
		}
}

struct radix_row {
	uint64_t key;
	uint32_t group, id;
};

static int compare_radix_rows(const void *x, const void *y)
{
	const struct radix_row *a = x, *b = y;

	return ascending(a->group, b->group) ?: ascending(a->key, b->key)
	       ?: ascending(a->id, b->id);
}

/* By group, then by key; rows that are equal in both keep their order. */
static void radix_sorts_as_qsort(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 100, 5000 };
	static const uint64_t masks[] = { 0, 7, 0xffffff, UINT64_MAX,
					  0xffull << 56, 1ull << 63 | 3 };
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 6 * 6; i++) {
		size_t n = sizes[i / 6];
		struct radix_row *v = calloc(n + 1, sizeof(*v));
		struct radix_row *spare = calloc(n + 1, sizeof(*v));
		struct radix_row *w = calloc(n + 1, sizeof(*v));
		uint32_t *count = calloc(1 << RADIX_BITS, sizeof(*count));
		struct radix r = { v, spare, n, sizeof(*v), RADIX_BITS, count };

		assert_true(v && spare && w && count);
		for (uint32_t k = 0; k < n; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			v[k] = (struct radix_row){ (seed ^ seed >> 29) & masks[i % 6],
						   (uint32_t)(seed >> 40) % 3 << 30,
						   k };
		}
		memcpy(w, v, n * sizeof(*v));
		qsort(w, n, sizeof(*w), compare_radix_rows);
		radix_sort(&r, offsetof(struct radix_row, key), sizeof(v->key));
		radix_sort(&r, offsetof(struct radix_row, group),
			   sizeof(v->group));
		assert_memory_equal(v, w, n * sizeof(*v));
		free(v);
		free(spare);
		free(w);
		free(count);
	}
}

static void u64map_row_adds_new_keys(void **state)
{
	static const uint64_t keys[] = { 7, UINT64_MAX, 7, 0, UINT64_MAX, 9 };
	static const uint32_t want[] = { 0, 1, 0, 2, 1, 3 };
	VEC(uint64_t) rows = { 0 };
	struct u64map m = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(u64map_row(&m, &rows, keys[i], &keys[i]), want[i]);
	assert_int_equal(rows.n, 4);
	assert_true(rows.v[0] == 7 && rows.v[1] == UINT64_MAX && !rows.v[2]);
	u64map_fini(&m);
	vec_fini(&rows);
}

static void arrays_are_zero_until_one_fails(void **state)
{
	struct arrays a = { 0 };
	uint64_t *x = arrays_new(&a, 1000, sizeof(*x));
	char *none = arrays_new(&a, 0, 1), *y = arrays_new(&a, 3, 1);

	(void)state;
	assert_non_null(x);
	assert_non_null(none);
	assert_non_null(y);
	assert_int_equal((uintptr_t)x % _Alignof(max_align_t), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(x[i] == 0);
	memset(y, 1, 3);
	assert_false(a.failed);
	assert_null(arrays_new(&a, SIZE_MAX / 4, 8));
	assert_true(a.failed);
	assert_non_null(arrays_new(&a, 1, 1));
	assert_true(a.failed);
	arrays_fini(&a);
	assert_null(a.last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64map_keeps_100000_keys),
		cmocka_unit_test(mixed_numbers_are_keys_of_their_own),
		cmocka_unit_test(u64map_survives_collisions),
		cmocka_unit_test(u64map_has_room),
		cmocka_unit_test(u64map_row_adds_new_keys),
		cmocka_unit_test(arrays_are_zero_until_one_fails),
		cmocka_unit_test(idtab_survives_equal_hashes),
		cmocka_unit_test(idtab_has_room),
		cmocka_unit_test(idtab_row_numbers_rows),
		cmocka_unit_test(idtab_keeps_100000_ids),
		cmocka_unit_test(hash_bytes_sees_every_byte),
		cmocka_unit_test(strtab_gives_equal_ids),
		cmocka_unit_test(strtab_cuts_at_nul_and_length),
		cmocka_unit_test(strtab_keeps_long_names),
		cmocka_unit_test(strtab_truncate_forgets),
		cmocka_unit_test(strpool_serves_one_after_another),
		cmocka_unit_test(pages_are_zero),
		cmocka_unit_test(guesses_stop_and_go_on),
		cmocka_unit_test(test_search),
		cmocka_unit_test(radix_sorts_as_qsort),
	};

	return cmocka_run_group_tests_name("base tables", tests, NULL, NULL);
}
