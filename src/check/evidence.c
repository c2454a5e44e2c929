// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the lines, instructions and callers of a changed function whose cost
 * increased. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/stats.h"
#include "check/check_internal.h"
#include "compare/insn_tokens.h"
#include "profile/symbol_order.h"
#include "symbolize/demangle/clones.h"

struct gather {
	struct check *c;
	struct u64map *map;	/* maps (row, detail) to a part */
	VEC(double) runs;	/* samples, [part * runs + run] */
	size_t nruns;
	struct prof_symbol *symbols;	/* symbols of the current file, by address */
	bool failed;
};

struct bases {
	VEC(uint32_t) v;
};

static bool wanted(const struct check_row *r)
{
	return r->unit.func != PROF_NONE && r->status != CHECK_SMALL &&
	       r->status != CHECK_SAME;
}

static bool same_part(const struct check_part *a, const struct check_part *b)
{
	return a->row == b->row && a->kind == b->kind && a->func == b->func &&
	       a->name == b->name && a->line == b->line &&
	       a->offset == b->offset && a->size == b->size &&
	       a->build == b->build;
}

static void add(struct gather *g, const struct check_part *key, size_t run,
		double cost)
{
	uint64_t hash = hash_mix((uint64_t)key->row << 2 | key->kind,
				 (uint64_t)key->name << 32 | key->line);
	struct check *c = g->c;

	hash = hash_mix(hash_mix(hash, key->func), key->offset + key->size);
	hash = hash_mix(hash, key->build);
	if (key->name == UINT32_MAX)
		g->failed = true;
	/* from then on, the map may contain parts that do not exist */
	if (g->failed)
		return;

	for (;; hash++) {
		uint32_t *id = u64map_slot(g->map, hash);
		const struct check_part *p;

		if (!id) {
			g->failed = true;
			return;
		}
		if (*id == U64MAP_NONE) {
			*id = (uint32_t)c->parts.n;
			if (vec_push(&c->parts, *key) < 0 ||
			    vec_reserve(&g->runs, g->runs.n + g->nruns) < 0) {
				g->failed = true;
				return;
			}
			memset(g->runs.v + g->runs.n, 0,
			       g->nruns * sizeof(double));
			g->runs.n += g->nruns;
		}
		p = &c->parts.v[*id];
		if (same_part(p, key)) {
			g->runs.v[*id * g->nruns + run] += cost;
			return;
		}
	}
}

static void add_instruction(struct gather *g, const struct check_file *f,
			    const struct compare_cell *cell, uint32_t row,
			    double cost)
{
	uint32_t loc = cell->stack ? f->p->nodes.v[cell->stack].loc : PROF_NONE;
	struct check_part part = { .row = row, .kind = PART_INSN };
	const struct prof_symbol *s;
	const struct prof_loc *l;

	if (loc == PROF_NONE || prof_is_mark(loc))
		return;
	l = &f->p->locs.v[loc];
	s = symbols_find(g->symbols, f->p->symbols.n, l->image, l->vaddr);
	if (!s || s->name == PROF_STR_EMPTY)
		return;
	part.name = strtab_add(&g->c->runs.str, profile_cstr(f->p, s->name));
	part.offset = l->vaddr - s->vaddr;
	part.size = s->size;
	part.build = compare_build_of(&f->p->images.v[l->image]);
	add(g, &part, cell->run, cost);
}

static void add_cell(struct gather *g, const struct check_file *f,
		     const struct compare_cell *cell)
{
	struct check *c = g->c;
	uint32_t fk = check_leaf(f, cell->stack);
	double cost = (double)cell->weight / c->per_sample;
	const struct frame_key *k;
	struct check_part part = { .kind = PART_LINE };

	if (fk == PROF_NONE || !wanted(&c->rows.v[f->unit[fk]]))
		return;
	part.row = f->unit[fk];
	k = &f->keys.keys.v[fk];
	if (k->line && !c->o.runs.by_line) {
		part.name = strtab_add(&c->runs.str, path_base(
					profile_cstr(f->p, k->file)));
		part.line = check_line(f, k->file, k->line);
		add(g, &part, cell->run, cost);
	}
	add_instruction(g, f, cell, part.row, cost);
	part = (struct check_part){ .row = part.row, .kind = PART_CALLER };
	part.func = check_caller(f, cell->stack);
	if (part.func != PROF_NONE)
		add(g, &part, cell->run, cost);
}

static void finish_part(const struct gather *g, size_t i)
{
	struct check *c = g->c;
	struct check_part *p = &c->parts.v[i];
	double *y = g->runs.v + i * g->nruns, vb, vn, se, df;
	size_t nb = c->runs.nbase, nn = c->runs.nnew;

	for (size_t r = nb; r < g->nruns && !c->rows.v[p->row].j.absolute; r++)
		y[r] *= c->scale;
	p->base = stats_mean(y, nb);
	p->now = stats_mean(y + nb, nn);
	vb = stats_variance(y, nb) / (double)nb;
	vn = stats_variance(y + nb, nn) / (double)nn;
	/* at least the sampling variance */
	vb = fmax(vb, p->base / (double)nb);
	vn = fmax(vn, p->now / (double)nn);
	se = sqrt(vb + vn);
	df = (double)(g->nruns - 2 > 0 ? g->nruns - 2 : 1);
	p->p = se > 0 ? stats_t_above((p->now - p->base) / se, df) : 1;
}

static int compare_places(const struct check *c, const struct check_part *x,
			  const struct check_part *y)
{
	if (x->kind == PART_CALLER)
		return check_compare_funcs(&c->runs, x->func, y->func);
	return check_compare_str(&c->runs, x->name, y->name) ?:
	       ascending(x->line, y->line) ?:
	       ascending(x->offset, y->offset) ?:
	       ascending(x->size, y->size) ?:
	       ascending(x->build, y->build);
}

/* By row and kind, largest increase first. */
static int by_gain(const void *a, const void *b, void *ctx)
{
	const struct check_part *x = a, *y = b;
	double gx = x->now - x->base, gy = y->now - y->base;

	return ascending(x->row, y->row) ?:
	       ascending(x->kind, y->kind) ?:
	       descending(gx, gy) ?:
	       compare_places(ctx, x, y);
}

static void index_parts(struct check *c)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct check_part *p = &c->parts.v[i];
		struct check_parts *to = &c->rows.v[p->row].parts[p->kind];

		if (!to->n++)
			to->first = i;
	}
}

/* Tests the lines of a row together (Benjamini and Hochberg). */
static int adjust_lines(struct check *c)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		const struct check_parts l = c->rows.v[i].parts[PART_LINE];
		double *p = malloc((l.n + 1) * sizeof(*p));
		int rc = p ? 0 : -ERR_NOMEM;

		for (size_t k = 0; !rc && k < l.n; k++)
			p[k] = c->parts.v[l.first + k].p;
		if (!rc)
			rc = stats_adjust(p, l.n, p);
		for (size_t k = 0; !rc && k < l.n; k++)
			c->parts.v[l.first + k].p = p[k];
		free(p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Collects the source files that contain code of slower rows: str of their base
 * names. */
static int slower_files(struct check *c, struct bases *out)
{
	for (size_t i = 0; i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];

		for (size_t fk = 0; fk < f->keys.keys.n; fk++) {
			const struct frame_key *k = &f->keys.keys.v[fk];
			const struct check_row *r = &c->rows.v[f->unit[fk]];
			uint32_t base;

			if (!k->line || (r->status != CHECK_SLOWER &&
					 r->status != CHECK_SUSPECT))
				continue;
			base = strtab_add(&c->runs.str, path_base(
					profile_cstr(f->p, k->file)));
			if (base == UINT32_MAX || vec_push(&out->v, base) < 0)
				return -ERR_NOMEM;
		}
	}
	return 0;
}

/* Matches lines, so that inserting lines above others does not count as an
 * increase. */
static int match_lines(struct check *c)
{
	struct bases bases = { { 0 } };
	uint8_t *wanted = NULL;
	int rc = c->o.runs.by_line ? 0 : slower_files(c, &bases);
	size_t n = c->runs.str.str.n;

	if (!rc && bases.v.n) {
		wanted = calloc(n + 1, 1);
		for (size_t i = 0; wanted && i < bases.v.n; i++)
			wanted[bases.v.v[i]] = 1;
		rc = wanted ? check_runs_match_lines(&c->runs,
						     &c->o.runs.where, wanted,
						     n) : -ERR_NOMEM;
	}
	free(wanted);
	vec_fini(&bases.v);
	return rc;
}

/*
 * --- instructions of a function in several builds
 *
 * The result lists the instructions of the new code.  Those of other builds are
 * aligned to it by their text, as in the side-by-side view of `tally diff`.
 * Instructions that the new code lacks keep their own place.
 */

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
	rc = load_tokens(a, v) ?: load_tokens(a, t);
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
	sort_rows_r(a->order, a->n, by_row, c->parts.v);
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

/* Aligns instructions of the shown rows with the new code; runs: [part * nruns + run].
 * Returns 0 or -ERR_NOMEM. */
static int align_code(struct check *c, double *runs, size_t nruns)
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

int check_evidence(struct check *c, struct error *err)
{
	struct u64map map = { 0 };
	struct gather g = { .c = c, .map = &map, .nruns = c->runs.runs.n };

	g.failed = match_lines(c) < 0;
	for (size_t i = 0; !g.failed && i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];

		g.failed = symbols_copy(f->p, &g.symbols) < 0;
		for (size_t k = 0; !g.failed && k < f->cells.n; k++)
			add_cell(&g, f, &f->cells.v[k]);
		free(g.symbols);
		g.symbols = NULL;
	}
	if (!g.failed && align_code(c, g.runs.v, g.nruns) < 0)
		g.failed = true;
	for (size_t i = 0; !g.failed && i < c->parts.n; i++)
		finish_part(&g, i);
	vec_sort_r(&c->parts, by_gain, c);
	for (size_t i = 0; i < c->parts.n; i++)
		c->parts.v[i].line = check_line_number(c->parts.v[i].line);
	index_parts(c);
	if (!g.failed && adjust_lines(c) < 0)
		g.failed = true;
	u64map_fini(&map);
	vec_fini(&g.runs);
	return g.failed ? error_nomem(err) : 0;
}
