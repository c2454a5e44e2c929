// SPDX-License-Identifier: GPL-2.0-or-later
/* Which lines and which callers of a changed function gained. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"
#include "check/stats.h"

struct gather {
	struct check *c;
	struct u64map *map;	/* (row, detail) -> part */
	VEC(double) runs;	/* [part * runs + run], samples */
	size_t nruns;
	bool failed;
};

static bool wanted(const struct check_row *r)
{
	if (r->unit.func == PROF_NONE || r->status == CHECK_SMALL)
		return false;
	/* what may have lost code to others is looked at too */
	return r->status != CHECK_SAME || (r->j.df > 0 && r->j.p_faster <= 0.1);
}

/* The function that called the innermost one of a stack. */
static uint32_t caller(const struct check *c, const struct check_file *f,
		       uint32_t stack)
{
	const struct profile *p = f->p;
	uint32_t loc = stack ? p->nodes.v[stack].loc : PROF_NONE;
	uint32_t self = check_leaf(f, stack), s, fk;

	if (loc == PROF_NONE || prof_is_mark(loc) || self == PROF_NONE)
		return PROF_NONE;
	s = f->keys.steps[f->keys.head[loc]].outer;
	for (;;) {
		for (; s != PROF_NONE; s = f->keys.steps[s].outer) {
			fk = f->keys.steps[s].fk;
			/* recursion says nothing of who called */
			if (fk != PROF_NONE &&
			    check_func_of(&c->runs, f, fk) !=
				    check_func_of(&c->runs, f, self))
				return check_func_of(&c->runs, f, fk);
		}
		stack = p->nodes.v[stack].parent;
		if (!stack || prof_is_mark(p->nodes.v[stack].loc))
			return PROF_NONE;
		s = f->keys.head[p->nodes.v[stack].loc];
	}
}

static void add(struct gather *g, const struct check_part *key, uint64_t hash,
		size_t run, double cost)
{
	struct check *c = g->c;

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
		if (p->row == key->row && p->func == key->func &&
		    p->file == key->file && p->line == key->line) {
			g->runs.v[*id * g->nruns + run] += cost;
			return;
		}
	}
}

static void add_cell(struct gather *g, const struct check_file *f,
		     const struct check_cell *cell, size_t run)
{
	struct check *c = g->c;
	uint32_t fk = check_leaf(f, cell->stack), by;
	double cost = (double)cell->weight / c->per_sample;
	const struct frame_key *k;
	struct check_part part = { .func = PROF_NONE };

	if (fk == PROF_NONE || !wanted(&c->rows.v[f->unit[fk]]))
		return;
	part.row = f->unit[fk];
	k = &f->keys.keys.v[fk];
	if (k->line && !c->o.runs.by_line) {
		part.file = strtab_add(&c->runs.str, path_base(
					profile_cstr(f->p, k->file)));
		part.line = k->line;
		if (part.file == UINT32_MAX)
			g->failed = true;
		add(g, &part, hash_mix(hash_mix(part.row, part.file),
				       part.line), run, cost);
	}
	by = caller(c, f, cell->stack);
	if (by == PROF_NONE)
		return;
	part = (struct check_part){ .row = part.row, .func = by };
	add(g, &part, hash_mix(hash_mix(part.row, 1ull << 40), by), run, cost);
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
	/* not below what counting samples varies by */
	vb = fmax(vb, p->base / (double)nb);
	vn = fmax(vn, p->now / (double)nn);
	se = sqrt(vb + vn);
	df = (double)(g->nruns - 2 > 0 ? g->nruns - 2 : 1);
	p->p = se > 0 ? stats_t_above((p->now - p->base) / se, df) : 1;
}

/* By row, lines before callers, most gained first. */
static int by_gain(const void *a, const void *b, void *ctx)
{
	const struct check_part *x = a, *y = b;
	const struct check *c = ctx;
	double gx = x->now - x->base, gy = y->now - y->base;
	bool cx = x->func != PROF_NONE, cy = y->func != PROF_NONE;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (cx != cy)
		return cx ? 1 : -1;
	if (gx != gy)
		return gx > gy ? -1 : 1;
	if (cx && x->func != y->func) {
		const struct check_func *f = &c->runs.funcs.v[x->func];
		const struct check_func *h = &c->runs.funcs.v[y->func];
		int d = strcmp(check_str(&c->runs, f->image),
			       check_str(&c->runs, h->image));

		return d ? d : strcmp(check_str(&c->runs, f->name),
				      check_str(&c->runs, h->name));
	}
	if (x->file != y->file)
		return strcmp(check_str(&c->runs, x->file),
			      check_str(&c->runs, y->file));
	return x->line < y->line ? -1 : x->line > y->line;
}

static void index_parts(struct check *c)
{
	for (size_t i = 0; i < c->parts.n; i++) {
		const struct check_part *p = &c->parts.v[i];
		struct check_row *r = &c->rows.v[p->row];

		if (p->func == PROF_NONE) {
			if (!r->nlines++)
				r->lines = i;
		} else if (!r->ncallers++) {
			r->callers = i;
		}
	}
}

/* Lines of a row are tested together (Benjamini and Hochberg). */
static int adjust_lines(struct check *c)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		struct check_row *r = &c->rows.v[i];
		double *p = malloc((r->nlines + 1) * sizeof(*p));
		int rc = p ? 0 : -ERR_NOMEM;

		for (size_t k = 0; !rc && k < r->nlines; k++)
			p[k] = c->parts.v[r->lines + k].p;
		if (!rc)
			rc = stats_adjust(p, r->nlines, p);
		for (size_t k = 0; !rc && k < r->nlines; k++)
			c->parts.v[r->lines + k].p = p[k];
		free(p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static size_t place_of(const struct check *c, uint32_t file, uint32_t run)
{
	size_t i = 0;

	while (c->runs.runs.v[i].file != file || c->runs.runs.v[i].run != run)
		i++;
	return i;
}

int check_evidence(struct check *c, struct error *err)
{
	struct u64map map = { 0 };
	struct gather g = { .c = c, .map = &map, .nruns = c->runs.runs.n };
	uint32_t last = PROF_NONE;
	size_t at = 0;

	for (uint32_t i = 0; !g.failed && i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];

		for (size_t k = 0; !g.failed && k < f->cells.n; k++) {
			if (!k || f->cells.v[k].run != last)
				at = place_of(c, i, f->cells.v[k].run);
			last = f->cells.v[k].run;
			add_cell(&g, f, &f->cells.v[k], at);
		}
	}
	for (size_t i = 0; !g.failed && i < c->parts.n; i++)
		finish_part(&g, i);
	if (c->parts.n)
		qsort_r(c->parts.v, c->parts.n, sizeof(*c->parts.v), by_gain,
			c);
	index_parts(c);
	if (!g.failed && adjust_lines(c) < 0)
		g.failed = true;
	u64map_fini(&map);
	vec_fini(&g.runs);
	return g.failed ? check_nomem(err) : 0;
}
