// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which slower rows are code that moved (views/moves.h).  Functions are related
 * that are declared in the same file, share a caller, or call each other; where
 * debug information does not say, those of which one's code is in the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"
#include "check/symbols.h"
#include "views/code_like.h"
#include "views/moves.h"

enum { CHANCE_ONE_IN = 20 };

/* A row's code on the side that it is looked at. */
struct row_code {
	struct code_runs runs;
	bool asked, known;
};

struct mover {
	struct check *c;
	struct row_code *code[2];	/* by enum check_side and row */
	struct symbol_index *symbols;	/* by file */
	bool failed;
};

static double gain(const struct check *c, const struct check_row *r)
{
	return check_now(c, r) - r->j.base;
}

static bool fell(const struct check *c, const struct check_row *r)
{
	if (r->unit.func == PROF_NONE || gain(c, r) >= 0)
		return false;
	return r->status == CHECK_FASTER || r->status == CHECK_GONE ||
	       (r->status == CHECK_SAME && r->j.df > 0 &&
		r->j.p_faster * CHANCE_ONE_IN <= 1);
}

static bool has_caller(const struct check *c, const struct check_row *r,
		       uint32_t func)
{
	const struct check_parts *p = &r->parts[PART_CALLER];

	for (size_t i = 0; i < p->n; i++)
		if (c->parts.v[p->first + i].func == func)
			return true;
	return false;
}

static bool share_caller(const struct check *c, const struct check_row *a,
			 const struct check_row *b)
{
	const struct check_parts *p = &a->parts[PART_CALLER];

	for (size_t i = 0; i < p->n; i++)
		if (has_caller(c, b, c->parts.v[p->first + i].func))
			return true;
	return false;
}

/* The code of a row in the first recording of a side that holds it; NULL: none
 * does. */
static const struct code_runs *code_of(struct mover *m, uint32_t row,
				       enum check_side side)
{
	struct row_code *x = &m->code[side][row];
	const struct check *c = m->c;
	const char *name = check_str(&c->runs, c->runs.funcs.v[
					c->rows.v[row].unit.func].name);

	for (size_t i = 0; !x->asked && i < c->runs.files.n; i++) {
		const struct check_file *f = &c->runs.files.v[i];
		int rc;

		if (f->side != side)
			continue;
		if (!m->symbols[i].v &&
		    symbol_index_init(&m->symbols[i], f->p) < 0) {
			m->failed = true;
			break;
		}
		rc = code_runs_of(f->p, name, m->symbols[i].v, &x->runs);
		m->failed |= rc < 0;
		x->known = !rc;
		if (rc <= 0)
			break;
	}
	x->asked = true;
	return x->known ? &x->runs : NULL;
}

/* Without debug information: by their code.  Where that is not known, a new name
 * may come from all of its image. */
static bool related_code(struct mover *m, uint32_t a, uint32_t b)
{
	const struct check_row *r = &m->c->rows.v[a], *s = &m->c->rows.v[b];
	const struct code_runs *x, *y;

	if (m->c->runs.funcs.v[r->unit.func].image !=
	    m->c->runs.funcs.v[s->unit.func].image)
		return false;
	x = code_of(m, a, CHECK_NEW);
	y = code_of(m, b, CHECK_BASE);
	return x && y ? code_like(x, y) : r->status == CHECK_ADDED;
}

static bool related(void *ctx, size_t rose, size_t lost)
{
	struct mover *m = ctx;
	const struct check *c = m->c;
	const struct check_row *a = &c->rows.v[rose], *b = &c->rows.v[lost];
	const struct check_func *f = &c->runs.funcs.v[a->unit.func];
	const struct check_func *g = &c->runs.funcs.v[b->unit.func];
	const char *x = path_base(check_str(&c->runs, f->file));
	const char *y = path_base(check_str(&c->runs, g->file));

	if (a->unit.func == b->unit.func || (*x && !strcmp(x, y)) ||
	    has_caller(c, a, b->unit.func) || has_caller(c, b, a->unit.func) ||
	    share_caller(c, a, b))
		return true;
	return !*x && related_code(m, (uint32_t)rose, (uint32_t)lost);
}

static bool renamed(void *ctx, size_t rose, size_t lost)
{
	struct mover *m = ctx;
	const struct code_runs *x, *y;

	if (m->c->rows.v[lost].status != CHECK_GONE)
		return false;
	x = code_of(m, (uint32_t)rose, CHECK_NEW);
	y = code_of(m, (uint32_t)lost, CHECK_BASE);
	return x && y && code_same(x, y);
}

static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	const struct check *c = ((struct mover *)ctx)->c;

	return !(judge_together(&c->judge, rows, n).ratio <=
		 1 + c->o.judge.threshold);
}

static struct move_item item_of(const struct check *c,
				const struct check_row *r)
{
	struct move_item x = { MOVE_NONE, 0 };

	if (r->unit.func == PROF_NONE)
		return x;
	x.gain = gain(c, r);
	if (fell(c, r))
		x.kind = MOVE_FELL;
	else if (r->status == CHECK_ADDED)
		x.kind = MOVE_NEW;
	else if (r->status == CHECK_SLOWER || r->status == CHECK_SUSPECT)
		x.kind = MOVE_ROSE;
	return x;
}

static void set_moved(struct check *c, const size_t *from)
{
	for (size_t i = 0; i < c->rows.n; i++) {
		struct check_row *r = &c->rows.v[i];

		r->partner = PROF_NONE;
		if (from[i] == MOVE_FROM_NONE)
			continue;
		r->partner = (uint32_t)from[i];
		r->status = CHECK_MOVED;
		r->fails = false;
	}
}

static void mover_fini(struct mover *m)
{
	for (int s = 0; s < 2; s++) {
		for (size_t i = 0; m->code[s] && i < m->c->rows.n; i++)
			code_runs_fini(&m->code[s][i].runs);
		free(m->code[s]);
	}
	for (size_t i = 0; m->symbols && i < m->c->runs.files.n; i++)
		symbol_index_fini(&m->symbols[i]);
	free(m->symbols);
}

int check_moved(struct check *c, struct error *err)
{
	size_t n = c->rows.n;
	struct mover m = { .c = c };
	struct move_item *v = calloc(n + 1, sizeof(*v));
	size_t *from = calloc(n + 1, sizeof(*from));
	struct moves moves = { v, n, &m, related, renamed, costs_more };
	int rc = -ERR_NOMEM;

	for (int s = 0; s < 2; s++)
		m.code[s] = calloc(n + 1, sizeof(*m.code[s]));
	m.symbols = calloc(c->runs.files.n + 1, sizeof(*m.symbols));
	if (v && from && m.code[0] && m.code[1] && m.symbols) {
		for (size_t i = 0; i < n; i++)
			v[i] = item_of(c, &c->rows.v[i]);
		rc = moves_find(&moves, from);
	}
	if (!rc && !m.failed)
		set_moved(c, from);
	rc = rc || m.failed ? check_nomem(err) : 0;
	mover_fini(&m);
	free(v);
	free(from);
	return rc;
}
