// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines and copies of a unit, and their costs, also of the calls made at a line. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/annotate/annotate.h"
#include "views/query/outward.h"

size_t annotate_cost_row(struct annotation *a)
{
	struct annot_cost zero = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	size_t row = a->ncols ? a->costs.n / a->ncols : 0;

	for (size_t c = 0; c < a->ncols; c++)
		if (vec_push(&a->costs, zero) < 0)
			return SIZE_MAX;
	return row;
}

void annotate_add(struct annotation *a, size_t row, uint32_t loc, bool inlined)
{
	struct annot_cost *to = &a->costs.v[row * a->ncols];
	const struct cell *from = &a->loc_cells[(size_t)loc * a->ncols];

	for (size_t c = 0; c < a->ncols; c++)
		cell_add(inlined ? &to[c].inlined : &to[c].self, from[c]);
}

/*
 * The cost of calls made at a line.
 *
 * These are samples whose instruction is in no frame of the unit, but which
 * have a frame of the unit further out.  Each counts once for a unit, at the
 * innermost such frame.  So recursion is not counted twice, and a unit's self,
 * inlined and called cost add up to all samples whose stacks contain it.
 */

/* Returns the owner of a frame.  A frame has at most two owners: a function and
 * a file. */
static struct frame_owner_of *owner_of(const struct annotation *a, uint32_t frame,
				       int file)
{
	return &a->owners[(size_t)frame * ANNOT_OWNERS + (size_t)file];
}

/* Makes a line of a unit the owner of a frame. */
static void own_frame(struct annotation *a, const struct annot_unit *u,
		      uint32_t frame, size_t line_cost)
{
	struct frame_owner_of *o = owner_of(a, frame, u->kind == UNIT_FILE);

	o->unit = (uint32_t)(u - a->units.v) + 1;
	o->line_cost = line_cost;
}

struct walk {
	struct annotation *a;
	uint32_t *seen;		/* by unit: last leaf that contained it */
	uint32_t leaf;
	size_t col;
	struct cell cost;
	struct outward_index outward;
};

static void add_called(struct walk *w, const struct frame_owner_of *o, bool leaf)
{
	struct annotation *a = w->a;
	size_t total;

	if (!o->unit || w->seen[o->unit - 1] == w->leaf)
		return;
	w->seen[o->unit - 1] = w->leaf;
	if (leaf)	/* counted as self or inlined cost */
		return;
	total = a->units.v[o->unit - 1].total;
	cell_add(&a->costs.v[o->line_cost * a->ncols + w->col].called, w->cost);
	cell_add(&a->costs.v[total * a->ncols + w->col].called, w->cost);
	a->has_calls = true;
}

static void add_stack(void *ctx, uint32_t node, const struct slot *slot,
		      struct cell c)
{
	struct walk *w = ctx;
	const struct profile *p = w->a->p;
	struct outward o;
	uint32_t loc;
	bool leaf = true;

	if (w->a->agg.col_of[slot->event] == PROF_NONE || !c.count)
		return;
	w->col = w->a->agg.col_of[slot->event];
	w->cost = c;
	w->leaf++;
	for (o = outward_begin(&w->outward, node);
	     outward_next(&w->outward, &o, &loc);) {
		uint32_t f = profile_loc_frame(p, loc);

		for (; f != PROF_NONE; f = p->frames.v[f].outer) {
			add_called(w, owner_of(w->a, f, 0), leaf);
			add_called(w, owner_of(w->a, f, 1), leaf);
		}
		leaf = false;
	}
}

int annotate_calls(struct annotation *a)
{
	struct walk w = { .a = a };

	if (!a->lines.n)	/* no lines to show */
		return 0;
	w.seen = calloc(a->units.n + 1, sizeof(*w.seen));
	if (!w.seen || outward_init(&w.outward, a->p) < 0) {
		free(w.seen);
		return -ERR_NOMEM;
	}
	aggregate_each(&a->agg, add_stack, &w);
	outward_fini(&w.outward);
	free(w.seen);
	return 0;
}

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
	own_frame(l->a, l->u, frame, l->a->lines.v[l->u->line + line].cost);
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
	sort_rows_r(&a->lines.v[u->line], u->nlines, by_line, a->p);
	sort_rows_r(&a->copies.v[u->copy], u->ncopies, by_cost, a);
	return rc;
}
