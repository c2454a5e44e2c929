// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores each distinct rule and expression of an image once. */
#include "unwind/unwind_internal.h"

enum {
	EXPRS_MAX = 4096,
	/* including its share of tables that grow by doubling */
	RULE_BYTES = 2 * (sizeof(struct rule) + 4) + 32,
};

/* Hashes two halves in parallel, because each multiplication depends on the
 * previous one. */
static uint64_t rule_hash(const struct rule *r)
{
	enum { WORDS = sizeof(*r) / 8, HALF = WORDS / 2 };
	uint64_t w[WORDS + 1] = { 0 }, a = 0x9e3779b97f4a7c15ull, b = ~a;

	_Static_assert(WORDS % 2 == 1, "the last words are hashed alone");
	memcpy(w, r, sizeof(*r));
	for (size_t i = 0; i < HALF; i++) {
		a = (a ^ w[i]) * 0xd6e8feb86659fd93ull;
		b = (b ^ w[HALF + i]) * 0xa0761d6478bd642full;
		a ^= a >> 29;
		b ^= b >> 31;
	}
	a = (a ^ w[WORDS - 1]) * 0xd6e8feb86659fd93ull;
	b = (b ^ w[WORDS]) * 0xa0761d6478bd642full;
	a ^= b >> 32 ^ b << 32;
	return a ^ a >> 32;
}

static bool rule_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct unwind_table *t = ctx;

	return !memcmp(&t->rules.v[id], key, sizeof(struct rule));
}

/* Converts an offset to words.  Returns false unless it is a multiple of a word
 * and within range. */
static bool in_words(int32_t v, int32_t word, int32_t lo, int32_t hi,
		     int32_t *out)
{
	*out = v / word;
	return v % word == 0 && *out >= lo && *out <= hi;
}

uint32_t rule_fast(const struct rule *r, bool is32)
{
	int32_t word = is32 ? 4 : 8, cfa, rbp = 0;
	uint32_t kind;

	if (r->how[UNWIND_RIP] == HOW_UNDEFINED)
		return FAST_END;
	if (r->signal || r->cfa != CFA_REG ||
	    r->how[UNWIND_RIP] != HOW_CFA || r->val[UNWIND_RIP] != -word ||
	    r->how[UNWIND_RSP] != HOW_SAME)
		return FAST_NONE;
	if (r->cfa_reg == UNWIND_RSP)
		kind = FAST_RSP;
	else if (r->cfa_reg == UNWIND_RBP)
		kind = FAST_RBP;
	else
		return FAST_NONE;
	if (!in_words(r->cfa_val, word, 0, 0x3fff, &cfa))
		return FAST_NONE;
	if (r->how[UNWIND_RBP] == HOW_CFA) {
		if (!in_words(r->val[UNWIND_RBP], word, -0x4000, 0x3fff,
			      &rbp) || !rbp)
			return FAST_NONE;
	} else if (r->how[UNWIND_RBP] != HOW_SAME) {
		return FAST_NONE;
	}
	return kind | (uint32_t)cfa << 3 | (uint32_t)rbp << 17;
}

int rule_intern(struct unwind_table *t, const struct rule *r)
{
	uint64_t hash = rule_hash(r);
	uint32_t id = idtab_find(&t->by_rule, hash, rule_eq, t, r);

	if (id != IDTAB_NONE)
		return (int)id;
	if (t->rules.n > RULE_MAX || t->room < RULE_BYTES)
		return RULE_ASK;
	if (vec_push(&t->rules, *r) < 0)
		return -ERR_NOMEM;
	if (vec_push(&t->fast, rule_fast(r, t->is32)) < 0) {
		t->rules.n--;
		return -ERR_NOMEM;
	}
	id = (uint32_t)t->rules.n - 1;
	if (idtab_add(&t->by_rule, hash, id) < 0) {
		t->rules.n--;
		t->fast.n--;
		return -ERR_NOMEM;
	}
	t->room -= RULE_BYTES;
	return (int)id;
}

static bool expr_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct unwind_table *t = ctx;
	const struct span *e = key, *have = &t->exprs.v[id];

	return have->n == e->n && (have->p == e->p ||
				   !memcmp(have->p, e->p, e->n));
}

/* The bytes remain the image's.  Returns -ERR_UNSUPPORTED if there are too
 * many. */
int expr_intern(struct unwind_table *t, struct span e)
{
	enum { LONGEST = 1024 };
	uint64_t hash;
	uint32_t id;

	if (e.n > LONGEST)
		return -ERR_UNSUPPORTED;
	hash = hash_bytes(e.p, e.n);
	id = idtab_find(&t->by_expr, hash, expr_eq, t, &e);
	if (id != IDTAB_NONE)
		return (int)id;
	if (t->exprs.n >= EXPRS_MAX)
		return -ERR_UNSUPPORTED;
	if (vec_push(&t->exprs, e) < 0)
		return -ERR_NOMEM;
	id = (uint32_t)t->exprs.n - 1;
	if (idtab_add(&t->by_expr, hash, id) < 0) {
		t->exprs.n--;
		return -ERR_NOMEM;
	}
	return (int)id;
}
