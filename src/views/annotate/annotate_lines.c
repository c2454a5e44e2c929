// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of a unit, and the callers of its inlined copies. */
#include <stdlib.h>
#include <string.h>

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
				  l->a->p->funcs.v[f->func].image };
	uint32_t *slot = u64map_slot(&l->line_tab, key);
	size_t cost;

	if (!slot || *slot != U64MAP_NONE)
		return slot ? *slot : PROF_NONE;
	*slot = (uint32_t)(l->a->lines.n - l->u->line);
	cost = annotate_cost_row(l->a);
	if (cost == SIZE_MAX || vec_push(&l->a->lines, row) < 0 ||
	    vec_push(&l->a->line_cost, cost) < 0)
		return PROF_NONE;
	return *slot;
}

static uint32_t copy_of(struct lines *l, uint32_t frame)
{
	const struct profile *p = l->a->p;
	uint32_t outer = p->frames.v[frame].outer;
	struct annot_copy row = { outer == PROF_NONE
				  ? PROF_NONE : p->frames.v[outer].func };
	uint32_t *slot = u64map_slot(&l->copy_tab, row.caller);
	size_t cost;

	if (!slot || *slot != U64MAP_NONE)
		return slot ? *slot : PROF_NONE;
	*slot = (uint32_t)(l->a->copies.n - l->u->copy);
	cost = annotate_cost_row(l->a);
	if (cost == SIZE_MAX || vec_push(&l->a->copies, row) < 0 ||
	    vec_push(&l->a->copy_cost, cost) < 0)
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
	annotate_add(a, a->line_cost.v[l->u->line + line], loc, frame != inner);
	annotate_add(a, a->copy_cost.v[l->u->copy + copy], loc, frame != inner);
	annotate_add(a, l->u->total, loc, frame != inner);
	return 0;
}

static int own_line(struct lines *l, uint32_t frame)
{
	uint32_t line = line_of(l, frame);

	if (line == PROF_NONE)
		return -ERR_NOMEM;
	annotate_own(l->a, l->u, frame, l->a->line_cost.v[l->u->line + line]);
	return 0;
}

struct sort_row {
	const struct annotation *a;
	uint32_t at;		/* index before sorting */
	uint32_t file, line;
	uint64_t weight;
};

static int by_line(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;

	if (a->file != b->file)
		return strcmp(profile_cstr(a->a->p, a->file),
			      profile_cstr(a->a->p, b->file));
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_cost(const void *x, const void *y)
{
	const struct sort_row *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static uint64_t weight_of(const struct annotation *a, size_t row)
{
	struct cell c = a->ncols ? annot_sum(annot_costs(a, row))
				 : (struct cell){ 0, 0 };

	return c.weight ? c.weight : c.count;
}

static int sort_lines(struct annotation *a, struct annot_unit *u)
{
	struct sort_row *v = calloc(u->nlines + 1, sizeof(*v));
	struct annot_line *lines = malloc((u->nlines + 1) * sizeof(*lines));
	size_t *costs = malloc((u->nlines + 1) * sizeof(*costs));
	int rc = v && lines && costs ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < u->nlines; i++) {
		lines[i] = a->lines.v[u->line + i];
		costs[i] = a->line_cost.v[u->line + i];
		v[i] = (struct sort_row){ a, (uint32_t)i, lines[i].file,
					  lines[i].line, 0 };
	}
	if (!rc && u->nlines)
		qsort(v, u->nlines, sizeof(*v), by_line);
	for (size_t i = 0; !rc && i < u->nlines; i++) {
		a->lines.v[u->line + i] = lines[v[i].at];
		a->line_cost.v[u->line + i] = costs[v[i].at];
	}
	free(v);
	free(lines);
	free(costs);
	return rc;
}

static int sort_copies(struct annotation *a, struct annot_unit *u)
{
	struct sort_row *v = calloc(u->ncopies + 1, sizeof(*v));
	struct annot_copy *copies = malloc((u->ncopies + 1) * sizeof(*copies));
	size_t *costs = malloc((u->ncopies + 1) * sizeof(*costs));
	int rc = v && copies && costs ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < u->ncopies; i++) {
		copies[i] = a->copies.v[u->copy + i];
		costs[i] = a->copy_cost.v[u->copy + i];
		v[i] = (struct sort_row){ a, (uint32_t)i, 0, 0,
					  weight_of(a, costs[i]) };
	}
	if (!rc && u->ncopies)
		qsort(v, u->ncopies, sizeof(*v), by_cost);
	for (size_t i = 0; !rc && i < u->ncopies; i++) {
		a->copies.v[u->copy + i] = copies[v[i].at];
		a->copy_cost.v[u->copy + i] = costs[v[i].at];
	}
	free(v);
	free(copies);
	free(costs);
	return rc;
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
	if (!rc)
		rc = sort_lines(a, u);
	return rc ? rc : sort_copies(a, u);
}
