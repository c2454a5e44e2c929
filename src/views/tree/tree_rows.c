// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the places in stacks where the trees of the shown rows start, in one
 * walk per lane, and has the trees built.
 *
 *	callers, by self:	where the row's function is innermost
 *	callers, by total:	its outermost place in each stack
 *	callees:		where the stack, or the filter's match, begins
 *
 * tree_find does this for one function, for trees that are built on demand
 * (tree_level.h).
 */
#include "base/search.h"
#include "views/tree/tree.h"

#include <stdlib.h>

struct finder {
	struct tree_builder b;
	const struct frame_keys *k;	/* keys of the rows */
	struct tree_items found;
	VEC(uint32_t) row;		/* by item of `found` */
	uint32_t *fk_row;		/* by fk: shown row of this lane */
	uint32_t *active;		/* by fk: number of occurrences on the path */
	size_t on_path;
	struct cell own[REPORT_COLUMNS_MAX];
};

static void add_found(struct finder *x, uint32_t fk, uint32_t node,
		      uint32_t step, const struct cell *cells)
{
	if (x->fk_row[fk] == PROF_NONE)
		return;
	tree_items_add(&x->b, &x->found, (struct tree_item){ node, step },
		       cells);
	x->b.failed |= vec_push(&x->row, x->fk_row[fk]) < 0;
}

static uint32_t node_loc(const struct finder *x, uint32_t node)
{
	return x->b.p->nodes.v[node].loc;
}

static void enter_leaf(void *ctx, uint32_t node)
{
	struct finder *x = ctx;
	uint32_t loc = node_loc(x, node), head;

	if (prof_is_mark(loc) || !fold_has_own(x->b.f, node))
		return;
	head = x->k->head[loc];
	if (x->k->steps[head].fk == PROF_NONE)
		return;
	for (size_t c = 0; c < x->b.ncols; c++)
		x->own[c] = fold_own(x->b.f, node, c);
	add_found(x, x->k->steps[head].fk, node, head, x->own);
}

static void leave_nothing(void *ctx, uint32_t node)
{
	(void)ctx;
	(void)node;
}

/* Enters a node.  Steps are visited from the innermost outwards, so of equal
 * keys within a location the last one seen is the outermost. */
static void enter_outermost(void *ctx, uint32_t node)
{
	struct finder *x = ctx;
	uint32_t loc = node_loc(x, node), s, fk;

	if (prof_is_mark(loc))
		return;
	for (s = x->k->head[loc]; s != PROF_NONE; s = x->k->steps[s].outer) {
		uint32_t o = x->k->steps[s].outer;

		fk = x->k->steps[s].fk;
		if (fk == PROF_NONE)
			continue;
		while (o != PROF_NONE && x->k->steps[o].fk != fk)
			o = x->k->steps[o].outer;
		if (o == PROF_NONE && !x->active[fk])
			add_found(x, fk, node, s, fold_sub(x->b.f, node));
	}
	for (s = x->k->head[loc]; s != PROF_NONE; s = x->k->steps[s].outer)
		if (x->k->steps[s].fk != PROF_NONE)
			x->active[x->k->steps[s].fk]++;
}

static void leave_outermost(void *ctx, uint32_t node)
{
	struct finder *x = ctx;
	uint32_t loc = node_loc(x, node), s;

	if (prof_is_mark(loc))
		return;
	for (s = x->k->head[loc]; s != PROF_NONE; s = x->k->steps[s].outer)
		if (x->k->steps[s].fk != PROF_NONE)
			x->active[x->k->steps[s].fk]--;
}

static void enter_root(void *ctx, uint32_t node)
{
	struct finder *x = ctx;
	uint32_t loc = node_loc(x, node), s;

	if (prof_is_mark(loc))
		return;
	s = frame_keys_outermost(x->k, loc);
	if (s != PROF_NONE && !x->on_path++)
		add_found(x, x->k->steps[s].fk, node, s,
			  fold_sub(x->b.f, node));
}

static void leave_root(void *ctx, uint32_t node)
{
	struct finder *x = ctx;
	uint32_t loc = node_loc(x, node);

	if (!prof_is_mark(loc) && frame_keys_outermost(x->k, loc) != PROF_NONE)
		x->on_path--;
}

static enum tree_start start_of(const struct report_spec *spec)
{
	if (spec->tree == TREE_CALLEES)
		return TREE_ROOTS;
	return spec->by_total ? TREE_OUTERMOST : TREE_LEAVES;
}

static void find_items(struct finder *x, enum tree_start start)
{
	tree_items_cut(&x->found, 0, x->b.ncols);
	x->row.n = 0;
	if (start == TREE_ROOTS)
		fold_walk(x->b.f, enter_root, leave_root, x);
	else if (start == TREE_OUTERMOST)
		fold_walk(x->b.f, enter_outermost, leave_outermost, x);
	else
		fold_walk(x->b.f, enter_leaf, leave_nothing, x);
}

/* Builds the trees of rows.  The items of each row are chained in the order
 * found. */
static void grow_rows(struct finder *x, const uint32_t *rows, size_t n,
		      uint32_t *head, uint32_t *next)
{
	struct row_table *t = &x->b.rep->table;

	for (size_t i = x->row.n; i--;) {
		next[i] = head[x->row.v[i]];
		head[x->row.v[i]] = (uint32_t)i;
	}
	for (size_t r = 0; r < n && !x->b.failed; r++) {
		tree_items_cut(&x->b.now, 0, x->b.ncols);
		for (uint32_t i = head[rows[r]]; i != PROF_NONE; i = next[i])
			tree_items_add(&x->b, &x->b.now, x->found.at.v[i],
				       &x->found.cells.v[i * x->b.ncols]);
		tree_grow(&x->b, &t->rows.v[rows[r]]);
	}
}

/* Builds the trees of one lane, whose shown rows are `rows`. */
static int build_lane(struct finder *x, const uint32_t *rows, size_t n,
		      uint32_t *head, struct error *err)
{
	struct row_table *t = &x->b.rep->table;
	uint32_t *next;
	int rc;

	x->b.lane = t->rows.v[rows[0]].lane;
	rc = fold_lane(&x->b.rep->fold, x->b.lane, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		x->fk_row[t->rows.v[rows[i]].fk] = rows[i];
	find_items(x, start_of(&x->b.rep->spec));
	next = malloc((x->row.n + 1) * sizeof(*next));
	if (next && !x->b.failed)
		grow_rows(x, rows, n, head, next);
	for (size_t i = 0; i < n; i++)
		x->fk_row[t->rows.v[rows[i]].fk] = PROF_NONE;
	rc = next && !x->b.failed ? 0 : -ERR_NOMEM;
	free(next);
	if (x->b.too_many)
		return error_set(err, ERR_NOMEM,
				 "the trees have more than %zu branches: hide "
				 "small ones with --percent-limit",
				 x->b.rep->tree.n - 1);
	return rc ? error_nomem(err) : 0;
}

static int by_row(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ascending(x, y);
}

/* Builds the trees of all lanes.  Rows are numbered lane by lane, so sorting by
 * number makes the rows of a lane adjacent. */
static int build_lanes(struct finder *x, uint32_t *rows, size_t n,
		       uint32_t *head, struct error *err)
{
	const struct row *all = x->b.rep->table.rows.v;
	int rc = 0;

	qsort(rows, n, sizeof(*rows), by_row);
	for (size_t i = 0; !rc && i < n;) {
		size_t end = i;

		while (end < n && all[rows[end]].lane == all[rows[i]].lane)
			end++;
		rc = build_lane(x, rows + i, end - i, head, err);
		i = end;
	}
	return rc;
}

static void fill_none(uint32_t *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		v[i] = PROF_NONE;
}

int report_trees(struct report *rep, struct error *err)
{
	size_t n = rep->order.n, keys = rep->keys.keys.n;
	struct finder x = { .k = &rep->keys };
	uint32_t *rows = malloc((n + 1) * sizeof(*rows));
	uint32_t *head = malloc((rep->table.rows.n + 1) * sizeof(*head));
	int rc = tree_builder_init(&x.b, rep, err);

	x.fk_row = malloc((keys + 1) * sizeof(*x.fk_row));
	x.active = calloc(keys + 1, sizeof(*x.active));
	fill_none(x.fk_row, keys);
	fill_none(head, rep->table.rows.n);
	for (size_t i = 0; rows && i < n; i++)
		rows[i] = rep->order.v[i];
	if (!rc && (!rows || !head || !x.fk_row || !x.active))
		rc = error_nomem(err);
	if (!rc && n)
		rc = build_lanes(&x, rows, n, head, err);
	if (x.b.group_of)
		tree_builder_fini(&x.b);
	tree_items_fini(&x.found);
	vec_fini(&x.row);
	free(x.fk_row);
	free(x.active);
	free(rows);
	free(head);
	return rc;
}

int tree_find(struct report *rep, const struct frame_keys *k, uint32_t lane,
	      uint32_t fk, enum tree_start start, struct tree_items *out,
	      struct error *err)
{
	struct finder x = { .k = k };
	size_t n = k->keys.n;
	int rc = fold_lane(&rep->fold, lane, err);

	x.b = (struct tree_builder){ .rep = rep, .p = rep->p, .f = &rep->fold,
				     .k = k, .ncols = rep->agg.ncols };
	x.fk_row = malloc((n + 1) * sizeof(*x.fk_row));
	x.active = calloc(n + 1, sizeof(*x.active));
	if (!rc && (!x.fk_row || !x.active))
		rc = error_nomem(err);
	for (size_t i = 0; !rc && i < n; i++)
		x.fk_row[i] = fk == PROF_NONE || fk == i ? 0 : PROF_NONE;
	if (!rc)
		find_items(&x, start);
	if (!rc && x.b.failed)
		rc = error_nomem(err);
	*out = x.found;
	vec_fini(&x.row);
	free(x.fk_row);
	free(x.active);
	return rc;
}
