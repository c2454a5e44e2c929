// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Aligns the instructions of a function in several builds.  The result lists the
 * instructions of the new code.  Those of other builds are aligned to it by their
 * text, as in the side-by-side view of `tally diff`.  Instructions that the new code
 * lacks keep their own place.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "check/check_internal.h"
#include "profile/symbol_order.h"
#include "symbolize/demangle/clones.h"
#include "compare/insn_tokens.h"

/* A function's code in one build. */
struct variant {
	uint32_t name;		/* str */
	uint64_t size, build;
	double now;		/* samples of the new side */
	bool asked, known;
	struct insn_tokens tokens;
};

struct aligner {
	struct check *c;
	double *runs;
	size_t nruns;
	uint32_t *order;	/* parts that are instructions, by row */
	size_t n;
	VEC(struct variant) variants;	/* of the current row */
	struct strtab tokens;
	struct u64map place;	/* maps the hash of a part to its index */
};

static const struct check_part *part_at(const struct aligner *a, size_t i)
{
	return &a->c->parts.v[a->order[i]];
}

static bool is_variant(const struct variant *v, const struct check_part *p)
{
	return v->name == p->name && v->size == p->size && v->build == p->build;
}

static struct variant *find_variant(struct aligner *a,
				    const struct check_part *p)
{
	size_t i = 0;

	while (i < a->variants.n && !is_variant(&a->variants.v[i], p))
		i++;
	return i < a->variants.n ? &a->variants.v[i] : NULL;
}

static int find_variants(struct aligner *a, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct check_part *p = part_at(a, i);
		struct variant *v = find_variant(a, p), new = {
			.name = p->name, .size = p->size, .build = p->build };
		const double *y = a->runs + a->order[i] * a->nruns;

		if (!v) {
			if (vec_push(&a->variants, new) < 0)
				return -ERR_NOMEM;
			v = &a->variants.v[a->variants.n - 1];
		}
		for (size_t r = a->c->runs.nbase; r < a->nruns; r++)
			v->now += y[r];
	}
	return 0;
}

/* Reads the variant's code from the first recording that contains it. */
static int load_tokens(struct aligner *a, struct variant *v)
{
	const struct check_runs *runs = &a->c->runs;
	const char *name = check_str(runs, v->name);

	for (size_t i = 0; !v->asked && i < runs->files.n; i++) {
		const struct profile *p = runs->files.v[i].p;
		struct prof_symbol *x;
		int rc = 1;

		if (symbols_copy(p, &x) < 0)
			return -ERR_NOMEM;
		for (size_t k = 0; rc == 1 && k < p->symbols.n; k++)
			if (x[k].size == v->size &&
			    compare_build_of(&p->images.v[x[k].image]) ==
				    v->build &&
			    !strcmp(profile_cstr(p, x[k].name), name))
				rc = insn_tokens(p, &x[k], x, &a->tokens,
						 &v->tokens);
		free(x);
		if (rc < 0)
			return rc;
		v->known = !rc;
		if (v->known)
			break;
	}
	v->asked = true;
	return 0;
}

/* Returns the new side's variant with which another one is compared. */
static struct variant *target_of(struct aligner *a, const struct variant *v)
{
	const char *name = check_str(&a->c->runs, v->name);
	size_t n = clone_base(name);
	struct variant *same = NULL, *copy = NULL, *renamed = NULL;

	for (size_t i = 0; i < a->variants.n; i++) {
		struct variant *t = &a->variants.v[i];
		const char *other = check_str(&a->c->runs, t->name);

		if (!(t->now > 0))
			continue;
		if (t->name == v->name && (!same || t->now > same->now))
			same = t;
		if (clone_base(other) == n && !strncmp(other, name, n) &&
		    (!copy || t->now > copy->now))
			copy = t;
		if (!renamed || t->now > renamed->now)
			renamed = t;
	}
	return same ? same : copy ? copy : renamed;
}

static size_t insn_at(const struct insn_tokens *w, uint64_t offset)
{
	size_t at;

	lower_bound(at, 0, w->offset.n, w->offset.v[at] < offset);
	return at < w->offset.n && w->offset.v[at] == offset ? at : SIZE_MAX;
}

static uint64_t part_hash(const struct check_part *p)
{
	return hash_mix(hash_mix((uint64_t)p->row << 32 | p->name, p->offset),
			hash_mix(p->size, p->build));
}

static bool same_place(const struct check_part *a, const struct check_part *b)
{
	return a->row == b->row && a->name == b->name &&
	       a->offset == b->offset && a->size == b->size &&
	       a->build == b->build;
}

/* Returns the slot of a part's place.  It is empty or holds the part at that
 * place. */
static uint32_t *place_of(struct aligner *a, const struct check_part *p)
{
	for (uint64_t h = part_hash(p);; h++) {
		uint32_t *slot = u64map_slot(&a->place, h);

		if (!slot || *slot == U64MAP_NONE ||
		    same_place(&a->c->parts.v[*slot], p))
			return slot;
	}
}

/* Moves a part to `offset` in t.  If a part is already there, that one receives
 * the samples. */
static int move_part(struct aligner *a, uint32_t id, const struct variant *t,
		     uint64_t offset)
{
	struct check_part *p = &a->c->parts.v[id], to = *p;
	double *y = a->runs + id * a->nruns, *z;
	uint32_t *slot;

	to.name = t->name;
	to.size = t->size;
	to.build = t->build;
	to.offset = offset;
	slot = place_of(a, &to);
	if (!slot)
		return -ERR_NOMEM;
	if (*slot == U64MAP_NONE) {
		*slot = id;
		*p = to;
		return 0;
	}
	z = a->runs + *slot * a->nruns;
	for (size_t r = 0; r < a->nruns; r++)
		z[r] += y[r];
	p->row = PROF_NONE;
	return 0;
}

/* Moves the parts of v to their places in t; `to` is indexed by instruction of v. */
static int move_parts(struct aligner *a, size_t first, size_t end,
		      const struct variant *v, const struct variant *t,
		      const uint32_t *to)
{
	int rc = 0;

	for (size_t i = first; !rc && i < end; i++) {
		const struct check_part *p = part_at(a, i);
		size_t at;

		if (p->row == PROF_NONE || !is_variant(v, p))
			continue;
		/* without code, code of equal size is assumed to be equal */
		if (!to) {
			rc = move_part(a, a->order[i], t, p->offset);
			continue;
		}
		at = insn_at(&v->tokens, p->offset);
		if (at != SIZE_MAX && to[at] != UINT32_MAX)
			rc = move_part(a, a->order[i], t,
				       t->tokens.offset.v[to[at]]);
	}
	return rc;
}

static int align_variant(struct aligner *a, size_t first, size_t end,
			 struct variant *v)
{
	struct variant *t = target_of(a, v);
	struct align_rows rows = { 0 };
	struct align_side side[2];
	uint32_t *to;
	int rc;

	if (!t || t == v)
		return 0;
	rc = load_tokens(a, v);
	if (!rc)
		rc = load_tokens(a, t);
	if (rc || !v->known || !t->known)
		return rc || v->size != t->size
			? rc : move_parts(a, first, end, v, t, NULL);
	side[0] = insn_side(&v->tokens);
	side[1] = insn_side(&t->tokens);
	to = malloc((side[0].n + 1) * sizeof(*to));
	if (!to)
		return -ERR_NOMEM;
	memset(to, 0xff, (side[0].n + 1) * sizeof(*to));
	rc = align(side, a->tokens.str.n, &rows);
	for (size_t i = 0; !rc && i < rows.n; i++)
		if (rows.v[i].at[0] != UINT32_MAX)
			to[rows.v[i].at[0]] = rows.v[i].at[1];
	if (!rc)
		rc = move_parts(a, first, end, v, t, to);
	free(to);
	vec_fini(&rows);
	return rc;
}

/* Fills in the disassembly of the instructions. */
static int set_texts(struct aligner *a, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct check_part *p = &a->c->parts.v[a->order[i]];
		struct variant *v;
		const char *text;
		size_t at, n;

		if (p->row == PROF_NONE)
			continue;
		v = find_variant(a, p);
		if (!v)
			continue;
		if (load_tokens(a, v) < 0)
			return -ERR_NOMEM;
		at = v->known ? insn_at(&v->tokens, p->offset) : SIZE_MAX;
		if (at == SIZE_MAX)
			continue;
		text = strtab_get(&a->tokens, v->tokens.full.v[at]);
		n = strlen(text);
		if (n > 2 && !strcmp(text + n - 2, " @"))	/* local jumps */
			n -= 2;
		p->text = strtab_add_n(&a->c->runs.str, text, n);
		if (p->text == UINT32_MAX)
			return -ERR_NOMEM;
	}
	return 0;
}

static int align_row(struct aligner *a, size_t first, size_t end)
{
	int rc = find_variants(a, first, end);

	for (size_t i = first; !rc && i < end; i++) {
		uint32_t *slot = place_of(a, part_at(a, i));

		if (slot)
			*slot = a->order[i];
		else
			rc = -ERR_NOMEM;
	}
	for (size_t i = 0; !rc && i < a->variants.n; i++)
		rc = align_variant(a, first, end, &a->variants.v[i]);
	if (!rc)
		rc = set_texts(a, first, end);
	for (size_t i = 0; i < a->variants.n; i++)
		insn_tokens_fini(&a->variants.v[i].tokens);
	a->variants.n = 0;
	return rc;
}

static int by_row(const void *x, const void *y, void *ctx)
{
	const struct check_part *v = ctx;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;

	return ascending(v[i].row, v[k].row) ?: ascending(i, k);
}

/* Returns whether the row's evidence is shown. */
static bool is_shown(const struct check_row *r)
{
	return r->fails || r->status == CHECK_SUSPECT ||
	       r->status == CHECK_SLOWER;
}

static int pick_parts(struct aligner *a)
{
	struct check *c = a->c;

	a->order = malloc((c->parts.n + 1) * sizeof(*a->order));
	if (!a->order)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < c->parts.n; i++)
		if (c->parts.v[i].kind == PART_INSN &&
		    is_shown(&c->rows.v[c->parts.v[i].row]))
			a->order[a->n++] = i;
	if (a->n)
		qsort_r(a->order, a->n, sizeof(*a->order), by_row,
			c->parts.v);
	return 0;
}

/* Removes parts whose samples were moved to others. */
static void drop_moved(struct aligner *a)
{
	struct check *c = a->c;
	size_t k = 0;

	for (size_t i = 0; i < c->parts.n; i++) {
		if (c->parts.v[i].row == PROF_NONE)
			continue;
		c->parts.v[k] = c->parts.v[i];
		memmove(a->runs + k * a->nruns, a->runs + i * a->nruns,
			a->nruns * sizeof(*a->runs));
		k++;
	}
	c->parts.n = k;
}

int check_align_code(struct check *c, double *runs, size_t nruns)
{
	struct aligner a = { .c = c, .runs = runs, .nruns = nruns };
	int rc = strtab_init(&a.tokens);
	size_t end;

	if (!rc)
		rc = pick_parts(&a);
	for (size_t i = 0; !rc && i < a.n; i = end) {
		for (end = i; end < a.n &&
		     part_at(&a, end)->row == part_at(&a, i)->row; end++)
			;
		rc = align_row(&a, i, end);
	}
	if (!rc)
		drop_moved(&a);
	free(a.order);
	vec_fini(&a.variants);
	u64map_fini(&a.place);
	strtab_fini(&a.tokens);
	return rc;
}
