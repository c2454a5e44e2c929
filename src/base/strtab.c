// SPDX-License-Identifier: GPL-2.0-or-later
/* Interns strings: see strtab.h. */
#include "base/strtab.h"

#include <string.h>

#include "base/error.h"

enum { BLOCK_SIZE = 64 * 1024 };

struct key {
	const char *s;
	size_t n;
};

static bool str_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct strtab *t = ctx;
	const struct key *k = key;
	const char *s = t->str.v[id];

	return !strncmp(s, k->s, k->n) && !s[k->n];
}

int strtab_init_in(struct strtab *t, struct strpool *pool)
{
	*t = (struct strtab){ 0 };
	if (pool && !pool->used) {
		t->pool = pool;
		pool->used = true;
		pool->next = (struct guess){ 0 };
	}
	return strtab_add(t, "") == 0 ? 0 : -ERR_NOMEM;
}

int strtab_init(struct strtab *t)
{
	return strtab_init_in(t, NULL);
}

/* Makes the pool forget the strings of its table from id n on. */
static void forget_users(struct strtab *t, size_t n)
{
	for (size_t i = n; i < t->str.n; i++)
		t->pool->of.v[t->pool_id.v[i]].user = UINT32_MAX;
}

void strpool_fini(struct strpool *s)
{
	vec_fini(&s->of);
}

int strtab_reserve(struct strtab *t, size_t n)
{
	return t->pool ? vec_reserve(&t->str, n) : idtab_reserve(&t->tab, n);
}

void strtab_fini(struct strtab *t)
{
	if (t->pool) {
		forget_users(t, 0);
		t->pool->used = false;
	}
	vec_fini(&t->pool_id);
	for (size_t i = 0; i < t->blocks.n; i++)
		free(t->blocks.v[i]);
	vec_fini(&t->blocks);
	vec_fini(&t->str);
	idtab_fini(&t->tab);
}

static char *new_block(struct strtab *t, size_t size)
{
	char *p = malloc(size);

	if (p && vec_push(&t->blocks, p) < 0) {
		free(p);
		return NULL;
	}
	return p;
}

/* Returns room for a string.  Long strings get their own block, so that the
 * current block can be filled further. */
static char *room_for(struct strtab *t, size_t size)
{
	char *p;

	if (size > t->block_left) {
		if (size > BLOCK_SIZE / 4)
			return new_block(t, size);
		p = new_block(t, BLOCK_SIZE);
		if (!p)
			return NULL;
		t->block_p = p;
		t->block_left = BLOCK_SIZE;
	}
	p = t->block_p;
	t->block_p += size;
	t->block_left -= size;
	return p;
}

static char *store(struct strtab *t, const char *s, size_t n)
{
	char *p = room_for(t, n + 1);

	if (p) {
		memcpy(p, s, n);
		p[n] = 0;
	}
	return p;
}

static uint32_t add(struct strtab *t, const struct key *k)
{
	uint64_t h = hash_bytes(k->s, k->n);
	uint32_t id = idtab_find(&t->tab, h, str_eq, t, k);
	char *copy;

	if (id != IDTAB_NONE)
		return id;
	if (t->str.n >= UINT32_MAX - 1)
		return UINT32_MAX;
	id = (uint32_t)t->str.n;
	copy = store(t, k->s, k->n);
	if (!copy || vec_push(&t->str, copy) < 0)
		return UINT32_MAX;
	if (idtab_add(&t->tab, h, id) < 0) {
		t->str.n--;
		return UINT32_MAX;
	}
	return id;
}

/* Makes the pool know all strings of its table.  Returns 0 or -ERR_NOMEM. */
static int know_strings(struct strpool *s)
{
	if (vec_reserve(&s->of, s->str->str.n) < 0)
		return -ERR_NOMEM;
	for (size_t i = s->of.n; i < s->str->str.n; i++)
		s->of.v[i] = (struct pool_string){
			UINT32_MAX, (uint32_t)strlen(s->str->str.v[i]) };
	s->of.n = s->str->str.n;
	return 0;
}

static uint32_t add_from_pool(struct strtab *t, const struct key *k)
{
	struct strpool *s = t->pool;
	uint32_t id = guess_next(&s->next);

	if (id >= s->of.n || s->of.v[id].length != k->n ||
	    memcmp(s->str->str.v[id], k->s, k->n))
		id = add(s->str, k);
	if (id == UINT32_MAX ||
	    (s->of.n < s->str->str.n && know_strings(s) < 0))
		return UINT32_MAX;
	guess_found(&s->next, id);
	if (s->of.v[id].user != UINT32_MAX)
		return s->of.v[id].user;
	if (vec_reserve(&t->pool_id, t->str.n + 1) < 0 ||
	    vec_push(&t->str, s->str->str.v[id]) < 0)
		return UINT32_MAX;
	t->pool_id.n = t->str.n;
	t->pool_id.v[t->str.n - 1] = id;
	return s->of.v[id].user = (uint32_t)t->str.n - 1;
}

uint32_t strtab_add_n(struct strtab *t, const char *s, size_t n)
{
	struct key k = n ? (struct key){ s, strnlen(s, n) }
			 : (struct key){ "", 0 };

	return t->pool ? add_from_pool(t, &k) : add(t, &k);
}

uint32_t strtab_add(struct strtab *t, const char *s)
{
	return strtab_add_n(t, s, strlen(s));
}

uint32_t strtab_find(const struct strtab *t, const char *s)
{
	const struct strpool *pool = t->pool;
	const struct strtab *in = pool ? pool->str : t;
	struct key k = { s, strlen(s) };
	uint32_t id = idtab_find(&in->tab, hash_bytes(s, k.n), str_eq, in, &k);

	return !pool ? id : id < pool->of.n ? pool->of.v[id].user : UINT32_MAX;
}

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->str.n ? t->str.v[id] : "";
}

int strtab_truncate(struct strtab *t, size_t n)
{
	struct idtab fresh = { 0 };

	if (n >= t->str.n)
		return 0;
	if (t->pool) {
		forget_users(t, n);
		t->str.n = t->pool_id.n = n;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		const char *s = t->str.v[i];

		if (idtab_add(&fresh, hash_bytes(s, strlen(s)), (uint32_t)i) <
		    0) {
			idtab_fini(&fresh);
			return -ERR_NOMEM;
		}
	}
	idtab_fini(&t->tab);
	t->tab = fresh;
	t->str.n = n;
	return 0;
}
