// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the cost of calls made at a line.
 *
 * These are samples whose instruction is in no frame of the unit, but which
 * have a frame of the unit further out.  Each counts once for a unit, at the
 * innermost such frame.  So recursion is not counted twice, and a unit's self,
 * inlined and called cost add up to all samples whose stacks contain it.
 */
#include <stdlib.h>

#include "views/annotate/annotate.h"
#include "views/query/outward.h"

/* Returns the owner of a frame.  A frame has at most two owners: a function and
 * a file. */
static struct frame_owner_of *owner_of(const struct annotation *a, uint32_t frame,
				       int file)
{
	return &a->owners[(size_t)frame * ANNOT_OWNERS + (size_t)file];
}

void annotate_own(struct annotation *a, const struct annot_unit *u,
		  uint32_t frame, size_t line_cost)
{
	struct frame_owner_of *o = owner_of(a, frame, u->kind == UNIT_FILE);

	o->unit = (uint32_t)(u - a->units.v) + 1;
	o->line_cost = line_cost;
}

struct walk {
	struct annotation *a;
	uint32_t *seen;		/* by unit: last leaf that contained it; or by node */
	uint8_t *callers;
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

/* Marks the callers of a stack.  If a node was visited, its callers were
 * visited, too. */
static void mark_callers(void *ctx, uint32_t node, const struct slot *slot,
			 struct cell c)
{
	struct walk *w = ctx;
	const struct profile *p = w->a->p;

	if (w->a->agg.col_of[slot->event] == PROF_NONE || !c.count || !node)
		return;
	for (node = p->nodes.v[node].parent; node && !w->seen[node];
	     node = p->nodes.v[node].parent) {
		uint32_t f = profile_loc_frame(p, p->nodes.v[node].loc);

		w->seen[node] = 1;
		for (; f != PROF_NONE; f = p->frames.v[f].outer)
			if (p->frames.v[f].func < p->funcs.n)
				w->callers[w->a->same_func[
					p->frames.v[f].func]] = 1;
	}
}

int annotate_callers(struct annotation *a, uint8_t *callers)
{
	struct walk w = { .a = a, .callers = callers };

	w.seen = calloc(a->p->nodes.n + 1, sizeof(*w.seen));
	if (!w.seen)
		return -ERR_NOMEM;
	aggregate_each(&a->agg, mark_callers, &w);
	free(w.seen);
	return 0;
}
