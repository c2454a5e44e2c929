// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the lines, instructions and callers of a changed function whose cost
 * increased. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/stats.h"
#include "check/check_internal.h"
#include "profile/symbol_order.h"

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
	if (!g.failed && check_align_code(c, g.runs.v, g.nruns) < 0)
		g.failed = true;
	for (size_t i = 0; !g.failed && i < c->parts.n; i++)
		finish_part(&g, i);
	if (c->parts.n)
		qsort_r(c->parts.v, c->parts.n, sizeof(*c->parts.v), by_gain,
			c);
	for (size_t i = 0; i < c->parts.n; i++)
		c->parts.v[i].line = check_line_number(c->parts.v[i].line);
	index_parts(c);
	if (!g.failed && adjust_lines(c) < 0)
		g.failed = true;
	u64map_fini(&map);
	vec_fini(&g.runs);
	return g.failed ? error_nomem(err) : 0;
}
