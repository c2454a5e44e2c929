// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF function symbols by address: see symtab.h.
 *
 * A symbol never reaches past its size.  One without a size (assembly) reaches
 * to the next symbol or the end of its section, and counts only where no sized
 * one does.
 */
#include "symbolize/symtab.h"

#include <elf.h>
#include <string.h>

#include "base/error.h"

struct reading {
	struct symtab *t;
	const struct image *names;
	uint64_t code_lo, code_hi;
	bool nomem;
};

/* Global before weak before local, functions before labels, few leading
 * underscores, short names: what a person would call it. */
static uint64_t symbol_rank(const struct image_symbol *s)
{
	uint64_t bind = s->bind == STB_GLOBAL || s->bind == STB_GNU_UNIQUE ? 2
			: s->bind == STB_WEAK ? 1 : 0;
	uint64_t func = s->type != STT_NOTYPE;
	size_t bars = strspn(s->name, "_");
	size_t len = strnlen(s->name, 65535);

	return bind << 48 | func << 40 | (255 - (bars > 255 ? 255 : bars)) << 32 |
	       (uint64_t)(65535 - len);
}

static bool add_symbol(void *ctx, const struct image_symbol *s)
{
	struct reading *r = ctx;
	struct symtab *t = r->t;
	struct symtab_entry e = { s->name, symbol_rank(s) };
	uint64_t end = s->vaddr + s->size;

	/* The code behind _init is the PLT, not _init. */
	if (!s->size && !image_code_end(r->names, s->vaddr, &end))
		end = r->code_hi;
	if (s->vaddr < r->code_lo || s->vaddr >= r->code_hi || end < s->vaddr)
		return true;
	if (vec_push(&t->entries, e) < 0 ||
	    range_index_add(s->size ? &t->sized : &t->unsized, s->vaddr,
			    end, t->entries.n - 1) < 0)
		r->nomem = true;
	return !r->nomem;
}

/* Ends each unsized symbol where the next symbol begins. */
static void bound_unsized(struct symtab *t)
{
	size_t i, k = 0, next = 0;

	for (i = 0; i < t->unsized.n; i++) {
		struct range *r = &t->unsized.v[i];

		while (k < t->sized.n && t->sized.v[k].lo <= r->lo)
			k++;
		while (next < t->unsized.n && t->unsized.v[next].lo <= r->lo)
			next++;
		if (k < t->sized.n && t->sized.v[k].lo < r->hi)
			r->hi = t->sized.v[k].lo;
		if (next < t->unsized.n && t->unsized.v[next].lo < r->hi)
			r->hi = t->unsized.v[next].lo;
	}
}

int symtab_open(struct symtab *t, struct image *names)
{
	struct reading r = { .t = t, .names = names };

	if (!image_code_range(names, &r.code_lo, &r.code_hi))
		r.code_hi = UINT64_MAX;
	image_each_symbol(names, add_symbol, &r);
	if (r.nomem || range_index_sort(&t->sized) < 0 ||
	    range_index_sort(&t->unsized) < 0)
		return -ERR_NOMEM;
	bound_unsized(t);
	return range_index_sort(&t->unsized);
}

void symtab_fini(struct symtab *t)
{
	vec_fini(&t->entries);
	range_index_fini(&t->sized);
	range_index_fini(&t->unsized);
}

static bool better(const struct symtab_entry *a, const struct symtab_entry *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return strcmp(a->name, b->name) < 0;
}

/* The best of the covering symbols that start at the innermost start. */
static const struct range *find_in(const struct symtab *t,
				   const struct range_index *x, uint64_t addr)
{
	ptrdiff_t i = range_index_find(x, addr);
	const struct range *best = NULL;
	uint64_t lo;

	if (i == RANGE_NONE)
		return NULL;
	for (lo = x->v[i].lo; i >= 0 && x->v[i].lo == lo; i--) {
		const struct range *r = &x->v[i];

		if (r->hi > addr && (!best ||
		    better(&t->entries.v[r->id], &t->entries.v[best->id])))
			best = r;
	}
	return best;
}

const char *symtab_find(const struct symtab *t, uint64_t addr, uint64_t *start,
			uint64_t *size)
{
	const struct range *r = find_in(t, &t->sized, addr);

	if (!r)
		r = find_in(t, &t->unsized, addr);
	*start = r ? r->lo : 0;
	*size = r ? r->hi - r->lo : 0;
	return r ? t->entries.v[r->id].name : "";
}
