// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements hash tables: see hash.h.  Linear probing, at most two thirds
 * full. */
#include "base/hash.h"

#include <string.h>

#include "base/error.h"
#include "base/pages.h"

uint64_t hash_bytes(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = 0x9e3779b97f4a7c15ull ^ n;
	uint64_t w;

	for (; n >= 8; n -= 8, b += 8) {
		memcpy(&w, b, 8);
		h = (h ^ w) * 0xd6e8feb86659fd93ull;
		h ^= h >> 32;
	}
	w = 0;
	if (n)
		memcpy(&w, b, n);
	return hash_u64(h ^ w);
}

/* Returns the capacity for n entries of a table that has `cap`. */
static size_t capacity_for(size_t cap, size_t n)
{
	cap = cap ? cap : 64;
	while (cap / 3 * 2 <= n && cap <= SIZE_MAX / 2)
		cap *= 2;
	return cap;
}

void u64map_fini(struct u64map *m)
{
	pages_free(m->entries, m->cap, sizeof(*m->entries));
	*m = (struct u64map){ 0 };
}

static void forget_all(struct u64map *m)
{
	memset(m->entries, 0xff, m->cap * sizeof(*m->entries));
}

void u64map_clear(struct u64map *m)
{
	if (m->cap)
		forget_all(m);
	m->n = 0;
}

static struct u64map_entry *u64map_probe(const struct u64map *m, uint64_t key)
{
	size_t i = hash_u64(key) & (m->cap - 1);
	uint32_t low = (uint32_t)key, high = (uint32_t)(key >> 32);

	while (m->entries[i].val != U64MAP_NONE &&
	       (m->entries[i].low != low || m->entries[i].high != high))
		i = (i + 1) & (m->cap - 1);
	return &m->entries[i];
}

uint32_t u64map_get(const struct u64map *m, uint64_t key)
{
	return m->cap ? u64map_probe(m, key)->val : U64MAP_NONE;
}

static int u64map_resize(struct u64map *m, size_t cap)
{
	struct u64map big = { .cap = cap };

	big.entries = pages_calloc(big.cap, sizeof(*big.entries));
	if (!big.entries)
		return -ERR_NOMEM;
	forget_all(&big);
	for (size_t i = 0; i < m->cap; i++) {
		const struct u64map_entry *e = &m->entries[i];

		if (e->val == U64MAP_NONE)
			continue;
		*u64map_probe(&big, (uint64_t)e->high << 32 | e->low) = *e;
		big.n++;
	}
	u64map_fini(m);
	*m = big;
	return 0;
}

uint32_t *u64map_slot(struct u64map *m, uint64_t key)
{
	struct u64map_entry *e;

	if (m->n * 3 >= m->cap * 2 &&
	    u64map_resize(m, m->cap ? m->cap * 2 : 64) < 0)
		return NULL;
	e = u64map_probe(m, key);
	if (e->val == U64MAP_NONE) {
		e->low = (uint32_t)key;
		e->high = (uint32_t)(key >> 32);
		m->n++;
	}
	return &e->val;
}

int u64map_reserve(struct u64map *m, size_t n)
{
	size_t cap = capacity_for(m->cap, n);

	return cap > m->cap ? u64map_resize(m, cap) : 0;
}

int u64map_put(struct u64map *m, uint64_t key, uint32_t val)
{
	uint32_t *slot = u64map_slot(m, key);

	if (!slot)
		return -ERR_NOMEM;
	*slot = val;
	return 0;
}

/* Appends a row, for which there is room.  Returns its index. */
static uint32_t put_row(void *vec_ptr, size_t *n, size_t size, const void *row)
{
	char *rows;

	memcpy(&rows, vec_ptr, sizeof(rows));
	memcpy(rows + *n * size, row, size);
	return (uint32_t)(*n)++;
}

uint32_t u64map_row_raw(struct u64map *m, void *vec_ptr, size_t *n, size_t *cap,
			size_t size, uint64_t key, const void *row)
{
	uint32_t *slot = *n < U64MAP_NONE &&
			 vec_reserve_raw(vec_ptr, cap, *n + 1, size) == 0
			 ? u64map_slot(m, key) : NULL;

	if (slot && *slot == U64MAP_NONE)
		*slot = put_row(vec_ptr, n, size, row);
	return slot ? *slot : U64MAP_NONE;
}

void idtab_fini(struct idtab *t)
{
	pages_free(t->slots, t->cap, sizeof(*t->slots));
	*t = (struct idtab){ 0 };
}

uint32_t idtab_find(const struct idtab *t, uint64_t hash, idtab_eq *eq,
		    const void *ctx, const void *key)
{
	uint32_t tag = (uint32_t)(hash >> 32);
	size_t i;

	if (!t->cap)
		return IDTAB_NONE;
	for (i = tag & (t->cap - 1); t->slots[i].id != IDTAB_NONE;
	     i = (i + 1) & (t->cap - 1))
		if (t->slots[i].tag == tag && eq(ctx, t->slots[i].id, key))
			return t->slots[i].id;
	return IDTAB_NONE;
}

/*
 * Growing would need the low hash bits, which are not stored.  So the tag (high
 * 32 bits) determines the position from the start, and moving ids needs no
 * callback.
 */
static void idtab_place(struct idtab *t, uint32_t tag, uint32_t id)
{
	size_t i = tag & (t->cap - 1);

	while (t->slots[i].id != IDTAB_NONE)
		i = (i + 1) & (t->cap - 1);
	t->slots[i] = (struct idtab_slot){ id, tag };
	t->n++;
}

static int idtab_resize(struct idtab *t, size_t cap)
{
	struct idtab big = { .cap = cap };

	big.slots = pages_calloc(cap, sizeof(*big.slots));
	if (!big.slots)
		return -ERR_NOMEM;
	memset(big.slots, 0xff, cap * sizeof(*big.slots));
	for (size_t i = 0; i < t->cap; i++)
		if (t->slots[i].id != IDTAB_NONE)
			idtab_place(&big, t->slots[i].tag, t->slots[i].id);
	idtab_fini(t);
	*t = big;
	return 0;
}

int idtab_add(struct idtab *t, uint64_t hash, uint32_t id)
{
	if (t->n * 3 >= t->cap * 2 &&
	    idtab_resize(t, t->cap ? t->cap * 2 : 64) < 0)
		return -ERR_NOMEM;
	idtab_place(t, (uint32_t)(hash >> 32), id);
	return 0;
}

uint32_t idtab_row_raw(struct idtab *t, void *vec_ptr, size_t *n, size_t *cap,
		       size_t size, uint64_t hash, idtab_eq *eq, const void *ctx,
		       const void *key)
{
	uint32_t id = idtab_find(t, hash, eq, ctx, key);

	if (id != IDTAB_NONE)
		return id;
	if (*n >= IDTAB_NONE || vec_reserve_raw(vec_ptr, cap, *n + 1, size) < 0 ||
	    idtab_add(t, hash, (uint32_t)*n) < 0)
		return IDTAB_NONE;
	return put_row(vec_ptr, n, size, key);
}

int idtab_reserve(struct idtab *t, size_t n)
{
	size_t cap = capacity_for(t->cap, n);

	return cap > t->cap ? idtab_resize(t, cap) : 0;
}
