// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Aligns the instructions of a function on both sides.
 *
 * Two instructions are equal if their texts are, with addresses replaced by
 * meaning.  All jumps within the function are alike; calls and data are
 * compared by name.  Other instructions are paired by mnemonic.
 */
#include <stdlib.h>
#include <string.h>

#include "symbolize/demangle/clones.h"
#include "views/diff/diff_annotate.h"
#include "compare/insn_tokens.h"

static const struct prof_symbol *symbol_of(const struct annotation *a,
					   size_t code)
{
	return &a->p->symbols.v[a->codes.v[code].symbol];
}

static bool is_inside(const struct annotation *a, size_t code,
		      const struct annot_insn *in)
{
	const struct prof_symbol *s = symbol_of(a, code);

	return in->target - s->vaddr < s->size;
}

static const char *raw_text(const struct annotation *a,
			    const struct annot_insn *in)
{
	return (const char *)a->text.p + in->text;
}

/* Appends the text of an instruction with its address replaced by meaning. */
static void put_meaning(const struct annotation *a, size_t code,
			const struct annot_insn *in, struct buf *out)
{
	const char *text = raw_text(a, in);
	struct buf name = { 0 };

	if (!in->has_target && !in->has_data) {
		buf_str(out, text);
		return;
	}
	if (!is_inside(a, code, in))
		annot_address_name(a, symbol_of(a, code)->image, in->target,
				   &name);
	insn_normalize(text, in->target, buf_cstr(&name), out);
	out->failed |= name.failed;
	buf_fini(&name);
}

struct coder {
	struct diff_annotation *x;
	struct strtab words;
	VEC(uint32_t) token[DIFF_SIDES], weak[DIFF_SIDES];
};

static int collect(struct coder *k, int side, size_t code)
{
	const struct annotation *a = k->x->a[side];
	const struct annot_code *c = &a->codes.v[code];
	struct buf b = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < c->ninsns; i++) {
		const struct annot_insn *in = &a->insns.v[c->insn + i];
		uint32_t full, word;

		buf_reset(&b);
		put_meaning(a, code, in, &b);
		full = strtab_add(&k->words, buf_cstr(&b));
		word = strtab_add_n(&k->words, buf_cstr(&b),
				    strcspn(buf_cstr(&b), " "));
		if (b.failed || full == UINT32_MAX || word == UINT32_MAX ||
		    vec_push(&k->token[side], full) < 0 ||
		    vec_push(&k->weak[side], word) < 0)
			rc = -ERR_NOMEM;
	}
	buf_fini(&b);
	return rc;
}

static int put_parts(struct coder *k, const struct diff_code *c,
		     const struct align_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct diff_part part = { .how = rows->v[i].how };

		for (int s = 0; s < DIFF_SIDES; s++) {
			const struct annotation *a = k->x->a[s];
			uint32_t at = rows->v[i].at[s];

			part.at[s] = at == UINT32_MAX ? PROF_NONE : at;
			part.cost[s] = at == UINT32_MAX ? SIZE_MAX
				: a->insn_cost.v[a->codes.v[c->code[s]].insn +
						 at];
		}
		if (vec_push(&k->x->parts, part) < 0)
			return -ERR_NOMEM;
	}
	return 0;
}

static int add_code(struct diff_annotation *x, struct diff_unit *u, size_t old,
		    size_t now)
{
	struct diff_code c = { .code = { old, now }, .part = x->parts.n };
	struct align_rows rows = { 0 };
	struct coder k = { .x = x };
	int rc = strtab_init(&k.words);

	for (int s = 0; !rc && s < DIFF_SIDES; s++)
		if (c.code[s] != SIZE_MAX)
			rc = collect(&k, s, c.code[s]);
	if (!rc) {
		const struct align_side side[2] = {
			{ k.token[0].v, k.weak[0].v, k.token[0].n },
			{ k.token[1].v, k.weak[1].v, k.token[1].n },
		};

		rc = align(side, k.words.str.n, &rows);
	}
	if (!rc)
		rc = put_parts(&k, &c, &rows);
	c.nparts = x->parts.n - c.part;
	if (!rc)
		rc = vec_push(&x->codes, c);
	u->ncodes++;
	for (int s = 0; s < DIFF_SIDES; s++) {
		vec_fini(&k.token[s]);
		vec_fini(&k.weak[s]);
	}
	vec_fini(&rows);
	strtab_fini(&k.words);
	return rc ? -ERR_NOMEM : 0;
}

static bool same_name(const struct diff_annotation *x, size_t old, size_t now)
{
	const char *a = profile_cstr(x->a[0]->p, symbol_of(x->a[0], old)->name);
	const char *b = profile_cstr(x->a[1]->p, symbol_of(x->a[1], now)->name);
	size_t n = clone_base(a);

	return *a && n == clone_base(b) && !strncmp(a, b, n);
}

/* Returns the old side's code of the same name that is not paired yet. */
static size_t counterpart(const struct diff_annotation *x,
			  const struct diff_unit *u, const uint8_t *taken,
			  size_t now)
{
	const struct annot_unit *old =
		u->unit[0] != SIZE_MAX ? &x->a[0]->units.v[u->unit[0]] : NULL;

	for (size_t i = 0; old && i < old->ncodes; i++)
		if (!taken[i] && same_name(x, old->code + i, now))
			return old->code + i;
	return SIZE_MAX;
}

enum { CODES_MAX = 200 };	/* codes of one function */

int diff_codes(struct diff_annotation *x, struct diff_unit *u)
{
	size_t n[DIFF_SIDES] = { 0, 0 }, at[DIFF_SIDES] = { 0, 0 };
	uint8_t *taken;
	int rc = 0;

	u->code = x->codes.n;
	for (int s = 0; s < DIFF_SIDES; s++) {
		if (u->unit[s] == SIZE_MAX)
			continue;
		n[s] = x->a[s]->units.v[u->unit[s]].ncodes;
		at[s] = x->a[s]->units.v[u->unit[s]].code;
	}
	taken = calloc(n[0] + 1, 1);
	if (!taken)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < n[1] && i < CODES_MAX; i++) {
		size_t old = counterpart(x, u, taken, at[1] + i);

		if (old == SIZE_MAX && n[0] == 1 && n[1] == 1)
			old = at[0];
		if (old != SIZE_MAX)
			taken[old - at[0]] = 1;
		rc = add_code(x, u, old, at[1] + i);
	}
	for (size_t i = 0; !rc && i < n[0] && i < CODES_MAX; i++)
		if (!taken[i])
			rc = add_code(x, u, at[0] + i, SIZE_MAX);
	free(taken);
	return rc;
}

void diff_insn_text(const struct diff_annotation *x, const struct diff_code *c,
		    int side, uint32_t insn, struct buf *out)
{
	const struct annotation *a = x->a[side];
	const struct annot_code *code = &a->codes.v[c->code[side]];
	const struct annot_insn *in = &a->insns.v[code->insn + insn];
	struct buf name = { 0 };

	buf_str(out, raw_text(a, in));
	if (in->has_target || in->has_data) {
		if (is_inside(a, c->code[side], in))
			buf_printf(&name, "+0x%llx", (unsigned long long)(
				in->target - symbol_of(a, c->code[side])
						     ->vaddr));
		else
			annot_address_name(a, symbol_of(a, c->code[side])
						      ->image,
					   in->target, &name);
	}
	if (name.n)
		buf_printf(out, " <%s>", buf_cstr(&name));
	out->failed |= name.failed;
	buf_fini(&name);
}
