// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which slower rows are code that moved (views/moves.h).  New functions are related
 * to those that are declared in the same file, share a caller, or call each other;
 * where debug information does not say, to those of which one's code is in the other.
 * A function that there was before is dearer for code that moved only if it has got
 * code that was in the other.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"
#include "check/codes.h"
#include "views/moves.h"

enum { CHANCE_ONE_IN = 20 };

struct mover {
	struct check *c;
	struct check_codes codes;
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

/* Without debug information: by their code.  Where that is not known, a new name
 * may come from all of its image. */
static bool related_code(struct mover *m, uint32_t a, uint32_t b)
{
	const struct check_row *r = &m->c->rows.v[a], *s = &m->c->rows.v[b];
	const struct code_runs *x, *y;

	if (m->c->runs.funcs.v[r->unit.func].image !=
	    m->c->runs.funcs.v[s->unit.func].image)
		return false;
	x = check_code_of(&m->codes, r->unit.func, CHECK_NEW);
	y = check_code_of(&m->codes, s->unit.func, CHECK_BASE);
	return x && y ? code_like(x, y) : r->status == CHECK_ADDED;
}

/* Into a function that there was before. */
static bool code_came(struct mover *m, uint32_t into, uint32_t from)
{
	const struct code_runs *now, *before, *other;

	now = check_code_of(&m->codes, into, CHECK_NEW);
	before = check_code_of(&m->codes, into, CHECK_BASE);
	other = check_code_of(&m->codes, from, CHECK_BASE);
	return now && before && other && code_came_from(now, before, other);
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

	if (a->status != CHECK_ADDED && a->unit.func != b->unit.func)
		return code_came(m, a->unit.func, b->unit.func);
	if (a->unit.func == b->unit.func || (*x && !strcmp(x, y)) ||
	    has_caller(c, a, b->unit.func) || has_caller(c, b, a->unit.func) ||
	    share_caller(c, a, b))
		return true;
	return !*x && related_code(m, (uint32_t)rose, (uint32_t)lost);
}

/* By as much, and as surely, as a function must that got slower. */
static bool costs_more(void *ctx, const size_t *rows, size_t n)
{
	struct mover *m = ctx;
	const struct judge_options *o = &m->c->o.judge;
	struct judge_sum s;

	if (judge_together(&m->c->judge, rows, n, &s) < 0) {
		m->codes.failed = true;
		return true;
	}
	return !(s.ratio <= 1 + o->threshold || s.p > o->alpha);
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
		if (r->status == CHECK_SAME && check_row_renamed(c, r))
			r->status = CHECK_MOVED;
		if (from[i] == MOVE_FROM_NONE)
			continue;
		r->partner = (uint32_t)from[i];
		r->status = CHECK_MOVED;
		r->fails = false;
	}
}

int check_moved(struct check *c, struct error *err)
{
	size_t n = c->rows.n;
	struct mover m = { .c = c };
	struct move_item *v = calloc(n + 1, sizeof(*v));
	size_t *from = calloc(n + 1, sizeof(*from));
	struct moves moves = { v, n, &m, related, costs_more };
	int rc = check_codes_init(&m.codes, &c->runs);

	if (!v || !from)
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		v[i] = item_of(c, &c->rows.v[i]);
	if (!rc)
		rc = moves_find(&moves, from);
	if (m.codes.failed)
		rc = -ERR_NOMEM;
	if (!rc)
		set_moved(c, from);
	check_codes_fini(&m.codes);
	free(v);
	free(from);
	return rc ? check_nomem(err) : 0;
}
