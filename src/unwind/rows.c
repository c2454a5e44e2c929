// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts rows of tables to the kernel module's format. */
#include "unwind/rows.h"

#include "unwind/unwind_internal.h"

enum {
	ROWS_MAX = 1 << TALLY_PAGE_BITS, BEGIN_AT_RETURN = 1 << 3,
	PARTS = 1 << (TALLY_PAGE_BITS - PAGE_BITS), /* of a page of the module: bits of
						     * its `parts` */
};

_Static_assert((int)TALLY_ROW_RSP == (int)FAST_RSP &&
	       (int)TALLY_ROW_RBP == (int)FAST_RBP &&
	       (int)TALLY_ROW_END == (int)FAST_END, "words are the same");

bool unwind_rows_table(const struct unwind_table *t, struct tally_table *out)
{
	if (t->is32 || !t->npages)
		return false;
	*out = (struct tally_table){ .size = sizeof(*out), .base = t->base,
				     .pages = (uint32_t)(t->npages / PARTS) };
	if (image_section(t->img, ".go.buildinfo").n)
		out->flags = TALLY_TABLE_GO;
	return true;
}

/* Recognizes the expression that linkers write for .plt (psABI x86-64, "lazy
 * binding"): rsp + 8, plus 8 after the stub's push, at rip & 15 >= n.  Sets *n,
 * or returns false. */
static bool is_plt(struct span e, uint32_t *n)
{
	static const uint8_t before[] = { 0x77, 8, 0x80, 0, 0x3f, 0x1a },
			     after[] = { 0x2a, 0x33, 0x24, 0x22 };
	enum { LIT0 = 0x30, LIT15 = 0x3f, AT = sizeof(before),
	       SIZE = sizeof(before) + 1 + sizeof(after) };

	if (e.n != SIZE || memcmp(e.p, before, sizeof(before)) ||
	    memcmp(e.p + AT + 1, after, sizeof(after)) || e.p[AT] < LIT0 ||
	    e.p[AT] > LIT15)
		return false;
	*n = e.p[AT] - LIT0;
	return true;
}

static uint32_t plt_word(const struct unwind_table *t, const struct rule *r)
{
	uint32_t n;

	if (r->signal || r->cfa != CFA_EXPR ||
	    r->how[UNWIND_RIP] != HOW_CFA || r->val[UNWIND_RIP] != -8 ||
	    r->how[UNWIND_RSP] != HOW_SAME || r->how[UNWIND_RBP] != HOW_SAME ||
	    !is_plt(t->exprs.v[r->cfa_val], &n))
		return TALLY_ROW_NONE;
	return TALLY_ROW_PLT | n << 3;
}

/* Converts a register's rule.  Returns false if the module has no such rule. */
static bool take_how(const struct rule *r, int reg, uint8_t *how, int32_t *val)
{
	static const uint8_t same[] = {
		[HOW_SAME] = TALLY_HOW_SAME, [HOW_UNDEFINED] = TALLY_HOW_LOST,
		[HOW_CFA] = TALLY_HOW_CFA, [HOW_VAL] = TALLY_HOW_VAL,
		[HOW_REG] = TALLY_HOW_REG,
	};
	unsigned h = r->how[reg];

	*val = r->val[reg];
	if (h == HOW_EXPR || h == HOW_VAL_EXPR)
		return false;
	*how = h >= HOW_MEM ? (uint8_t)(h - HOW_MEM + TALLY_HOW_MEM) : same[h];
	if (*how == TALLY_HOW_SAME || *how == TALLY_HOW_LOST)
		*val = 0;
	return true;
}

static bool take_rule(const struct rule *r, struct tally_rule *out)
{
	*out = (struct tally_rule){ .cfa_reg = r->cfa_reg,
				    .cfa_val = r->cfa_val,
				    .cfa_memory = r->cfa == CFA_MEM,
				    .signal = r->signal };
	return (r->cfa == CFA_REG || r->cfa == CFA_MEM) &&
	       take_how(r, UNWIND_RIP, &out->ip, &out->ip_val) &&
	       take_how(r, UNWIND_RSP, &out->sp, &out->sp_val) &&
	       take_how(r, UNWIND_RBP, &out->bp, &out->bp_val);
}

/* Computes the word of a rule.  Returns 0, or a negative value like
 * unwind_rows_make. */
static int word_of(const struct unwind_table *t, unsigned id,
		   struct unwind_rows *out, uint32_t *word)
{
	const struct rule *r = &t->rules.v[id];
	struct tally_rule rule;

	*word = TALLY_ROW_NONE;
	if (id < RULE_FIRST)
		return 0;
	*word = t->fast.v[id];
	if (*word == FAST_END && r->signal)
		*word = TALLY_ROW_NONE;
	if (*word != FAST_NONE)
		return 0;
	*word = plt_word(t, r);
	if (*word != TALLY_ROW_NONE || !take_rule(r, &rule))
		return 0;
	*word = TALLY_ROW_RULE | (uint32_t)out->rules.n << 3;
	return vec_push(&out->rules, rule) < 0 ? -ERR_NOMEM : 0;
}

/* Returns the index of a word among those of the page, or a negative value as
 * above. */
static int word_number(struct unwind_rows *out, uint32_t word)
{
	for (size_t i = 0; i < out->words.n; i++)
		if (out->words.v[i] == word)
			return (int)i;
	if (out->words.n > UINT16_MAX)
		return -ERR_UNSUPPORTED;
	if (vec_push(&out->words, word) < 0)
		return -ERR_NOMEM;
	return (int)out->words.n - 1;
}

static int add_row(struct unwind_rows *out, uint16_t start, int number)
{
	if (number < 0)
		return number;
	if (vec_push(&out->starts, start) < 0 ||
	    vec_push(&out->word, (uint16_t)number) < 0)
		return -ERR_NOMEM;
	return 0;
}

/* Adds a row unless the one before it has the same word. */
static int add_change(struct unwind_rows *out, uint16_t start, int number)
{
	if (out->word.n && out->word.v[out->word.n - 1] == number)
		return 0;
	return add_row(out, start, number);
}

/* Adds the rows of a part that is at `start`. */
static int add_part(struct unwind_table *t, const struct page *p,
		    uint32_t start, int32_t *numbers, struct unwind_rows *out)
{
	const uint16_t *ids = p->lo + p->n;
	int rc = 0;

	for (uint32_t i = 0; i < p->n && rc >= 0; i++) {
		int32_t *number = &numbers[ids[i]];
		uint32_t word;

		if (!*number) {
			rc = word_of(t, ids[i], out, &word);
			if (rc >= 0)
				rc = word_number(out, word);
			*number = rc + 1;
		}
		if (rc >= 0)
			rc = add_change(out, (uint16_t)(start + p->lo[i]),
					*number - 1);
	}
	return rc < 0 ? rc : 0;
}

/* Adds the rows of the parts in `parts`, and a row without a word for others. */
static int add_parts(struct unwind_table *t, const struct page *p, unsigned parts,
		     int32_t *numbers, struct unwind_rows *out)
{
	int rc = 0;

	for (uint32_t i = 0; i < PARTS && !rc; i++) {
		uint32_t start = i << PAGE_BITS;

		if (parts >> i & 1)
			rc = add_part(t, &p[i], start, numbers, out);
		else
			rc = add_change(out, (uint16_t)start,
					word_number(out, TALLY_ROW_NONE));
	}
	return rc;
}

unsigned unwind_rows_part(uint16_t low)
{
	return 1u << (low >> PAGE_BITS);
}

int unwind_rows_make(struct unwind_table *t, uint32_t page, uint8_t *parts,
		     struct unwind_rows *out)
{
	size_t first = (size_t)page * PARTS;
	VEC(int32_t) numbers = { 0 };	/* index of each rule's word, + 1 */
	int rc = 0;

	out->starts.n = out->word.n = out->words.n = out->rules.n = 0;
	if (first >= t->npages)
		return -ERR_UNSUPPORTED;
	for (size_t i = 0; i < PARTS && !rc; i++) {
		if (*parts >> i & 1)
			rc = table_page(t, first + i);
		else if (t->pages[first + i].n)
			*parts |= (uint8_t)(1u << i);
	}
	if (!rc)
		rc = vec_reserve(&numbers, t->rules.n) < 0 ? -ERR_NOMEM : 0;
	if (!rc) {
		memset(numbers.v, 0, t->rules.n * sizeof(*numbers.v));
		rc = add_parts(t, &t->pages[first], *parts, numbers.v, out);
	}
	vec_fini(&numbers);
	return rc;
}

uint32_t unwind_rows_word(struct unwind_table *t, uint64_t vaddr)
{
	struct unwind_rows out = { 0 };
	uint32_t word = TALLY_ROW_END, fast;
	const struct rule *rule;
	struct rule own;
	int id = table_find(t, vaddr, &fast, &own, &rule);

	if (id >= 0 && word_of(t, (unsigned)id, &out, &word) < 0)
		word = TALLY_ROW_END;
	unwind_rows_free(&out);
	return word;
}

static size_t row_at(const struct unwind_rows *r, uint16_t addr)
{
	size_t at = 0, n = r->starts.n;

	while (n > 1) {
		size_t half = n / 2;

		at += r->starts.v[at + half] <= addr ? half : 0;
		n -= half;
	}
	return at;
}

uint32_t unwind_rows_get(const struct unwind_rows *r, uint16_t addr)
{
	return r->words.v[r->word.v[row_at(r, addr)]];
}

/* Starts a row at addr, with the word that the address already has. */
static int split(struct unwind_rows *r, uint16_t addr)
{
	size_t at = row_at(r, addr), rest = r->starts.n - at - 1;

	if (r->starts.v[at] == addr)
		return 0;
	if (r->starts.n == ROWS_MAX)
		return -ERR_UNSUPPORTED;
	if (add_row(r, addr, r->word.v[at]) < 0)
		return -ERR_NOMEM;
	memmove(r->starts.v + at + 2, r->starts.v + at + 1,
		rest * sizeof(*r->starts.v));
	memmove(r->word.v + at + 2, r->word.v + at + 1,
		rest * sizeof(*r->word.v));
	r->starts.v[at + 1] = addr;
	r->word.v[at + 1] = r->word.v[at];
	return 0;
}

/* Limits a learned rule to frames that were called.  What is known about a
 * return address does not apply to the same address in an interrupted
 * function. */
static int called_rule(struct unwind_rows *r, uint32_t *word)
{
	int32_t bp = (int32_t)fast_rbp_words(*word) * 8;
	struct tally_rule rule = {
		.cfa_reg = (*word & 7) == FAST_RSP ? UNWIND_RSP : UNWIND_RBP,
		.cfa_val = (int32_t)fast_cfa_words(*word) * 8,
		.ip = TALLY_HOW_CFA, .ip_val = -8,
		.bp = bp ? TALLY_HOW_CFA : TALLY_HOW_SAME, .bp_val = bp,
		.called = 1,
	};

	if ((*word & 7) != FAST_RSP && (*word & 7) != FAST_RBP)
		return 0;
	*word = TALLY_ROW_RULE | (uint32_t)r->rules.n << 3;
	return vec_push(&r->rules, rule) < 0 ? -ERR_NOMEM : 0;
}

int unwind_rows_set(struct unwind_rows *r, uint16_t addr, uint32_t word)
{
	int number = called_rule(r, &word), rc;

	if (!number)
		number = word_number(r, word);
	if (number < 0)
		return number;
	rc = split(r, addr);
	if (!rc && addr < UINT16_MAX)
		rc = split(r, (uint16_t)(addr + 1));
	if (!rc)
		r->word.v[row_at(r, addr)] = (uint16_t)number;
	return rc;
}

void unwind_rows_free(struct unwind_rows *r)
{
	vec_fini(&r->starts);
	vec_fini(&r->word);
	vec_fini(&r->words);
	vec_fini(&r->rules);
}

uint32_t unwind_rows_learned(const struct unwind_cache *c, uint32_t generation,
			     const struct unwind_stack *s, size_t at,
			     uint64_t *addr)
{
	uint32_t fast = cache_get(c, s->pc[at], generation);
	uint8_t marks = s->marks[at];

	*addr = s->pc[at];
	if (s->end != UNWIND_COMPLETE || s->guessed)
		marks &= (uint8_t)~UNWIND_BEGIN;
	if (marks & UNWIND_BEGIN && at && marks & UNWIND_EXACT) {
		*addr = s->pc[at] - 1;
		return TALLY_ROW_BEGIN | BEGIN_AT_RETURN;
	}
	if (marks & UNWIND_EXACT)
		return TALLY_ROW_NONE;
	if (marks & UNWIND_BEGIN)
		return TALLY_ROW_BEGIN;
	/* A stack start that is known from the cache has no mark. */
	if ((fast & 7) == FAST_END && at + 1 == s->n &&
	    s->end == UNWIND_COMPLETE && !s->guessed)
		return TALLY_ROW_BEGIN;
	return (fast & 7) == FAST_RSP || (fast & 7) == FAST_RBP ? fast
								 : TALLY_ROW_NONE;
}
