// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of a unit, and the callers of its inlined copies. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/annotate/annotate.h"

struct lines {
	struct annotation *a;
	struct annot_unit *u;
	/* maps to the line and copy of the unit */
	struct u64map line_tab, copy_tab;
};

/* Returns the index of a frame's line, relative to the unit's first line. */
static uint32_t line_of(struct lines *l, uint32_t frame)
{
	const struct prof_frame *f = &l->a->p->frames.v[frame];
	uint64_t key = (uint64_t)f->file << 32 | f->line;
	struct annot_line row = { f->file, f->line,
				  l->a->p->funcs.v[f->func].image, 0 };
	uint32_t *slot = u64map_slot(&l->line_tab, key);

	if (!slot || *slot != U64MAP_NONE)
		return slot ? *slot : PROF_NONE;
	*slot = (uint32_t)(l->a->lines.n - l->u->line);
	row.cost = annotate_cost_row(l->a);
	if (row.cost == SIZE_MAX || vec_push(&l->a->lines, row) < 0)
		return PROF_NONE;
	return *slot;
}

static uint32_t copy_of(struct lines *l, uint32_t frame)
{
	const struct profile *p = l->a->p;
	uint32_t outer = p->frames.v[frame].outer;
	struct annot_copy row = { outer == PROF_NONE
				  ? PROF_NONE : p->frames.v[outer].func, 0 };
	uint32_t *slot = u64map_slot(&l->copy_tab, row.caller);

	if (!slot || *slot != U64MAP_NONE)
		return slot ? *slot : PROF_NONE;
	*slot = (uint32_t)(l->a->copies.n - l->u->copy);
	row.cost = annotate_cost_row(l->a);
	if (row.cost == SIZE_MAX || vec_push(&l->a->copies, row) < 0)
		return PROF_NONE;
	return *slot;
}

static int add_location(struct lines *l, const struct annot_hit *h)
{
	struct annotation *a = l->a;
	uint32_t loc = a->locs.v[h->loc].loc, frame = h->frame;
	uint32_t inner = profile_loc_frame(a->p, loc), line, copy;

	line = line_of(l, frame);
	copy = line == PROF_NONE ? PROF_NONE : copy_of(l, frame);
	if (copy == PROF_NONE)
		return -ERR_NOMEM;
	annotate_add(a, a->lines.v[l->u->line + line].cost, loc, frame != inner);
	annotate_add(a, a->copies.v[l->u->copy + copy].cost, loc, frame != inner);
	annotate_add(a, l->u->total, loc, frame != inner);
	return 0;
}

static int own_line(struct lines *l, uint32_t frame)
{
	uint32_t line = line_of(l, frame);

	if (line == PROF_NONE)
		return -ERR_NOMEM;
	annotate_own(l->a, l->u, frame, l->a->lines.v[l->u->line + line].cost);
	return 0;
}

static int by_line(const void *x, const void *y, void *ctx)
{
	const struct annot_line *a = x, *b = y;
	const struct profile *p = ctx;

	return strcmp(profile_cstr(p, a->file), profile_cstr(p, b->file)) ?:
	       ascending(a->line, b->line);
}

static uint64_t weight_of(const struct annotation *a, size_t row)
{
	struct cell c = a->ncols ? annot_sum(annot_costs(a, row))
				 : (struct cell){ 0, 0 };

	return c.weight ? c.weight : c.count;
}

static int by_cost(const void *x, const void *y, void *ctx)
{
	const struct annot_copy *a = x, *b = y;

	return descending(weight_of(ctx, a->cost), weight_of(ctx, b->cost)) ?:
	       ascending(a->cost, b->cost);
}

/* Adds the lines and copies of a function or file, including lines that have
 * code but no samples. */
static int add_lines(struct lines *l, size_t unit)
{
	struct annotation *a = l->a;
	const struct annot_index *in = &a->in_unit, *of = &a->of_unit;
	int rc = 0;

	for (size_t i = in->first[unit]; !rc && i < in->first[unit + 1]; i++)
		rc = add_location(l, &in->v[i]);
	for (size_t i = of->first[unit]; !rc && i < of->first[unit + 1]; i++)
		rc = own_line(l, of->v[i].frame);
	return rc;
}

int annotate_lines(struct annotation *a, struct annot_unit *u)
{
	size_t unit = (size_t)(u - a->units.v);
	struct lines l = { .a = a, .u = u };
	const struct annot_index *in = &a->in_unit;
	int rc = 0;

	u->line = a->lines.n;
	u->copy = a->copies.n;
	u->total = annotate_cost_row(a);
	if (u->total == SIZE_MAX)
		return -ERR_NOMEM;
	if (u->kind != UNIT_CODE)
		rc = add_lines(&l, unit);
	else
		for (size_t i = in->first[unit]; i < in->first[unit + 1]; i++)
			annotate_add(a, u->total, a->locs.v[in->v[i].loc].loc,
				     false);
	u->nlines = a->lines.n - u->line;
	u->ncopies = a->copies.n - u->copy;
	u64map_fini(&l.line_tab);
	u64map_fini(&l.copy_tab);
	if (u->nlines)
		qsort_r(&a->lines.v[u->line], u->nlines, sizeof(*a->lines.v),
			by_line, a->p);
	if (u->ncopies)
		qsort_r(&a->copies.v[u->copy], u->ncopies,
			sizeof(*a->copies.v), by_cost, a);
	return rc;
}
