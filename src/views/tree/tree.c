// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds caller and callee trees of the shown rows.
 *
 * A branch is a set of items (stack node, step): places in stacks that lead to
 * it by the same functions.  Expanding a branch moves each item one function
 * outwards (callers) or inwards (callees) and groups them again.  Branches
 * below the limit are dropped before they are expanded, so the time is
 * proportional to what is shown.  A branch's samples are those of its items,
 * each counted once.
 *
 * A recursive function is one branch, at any depth.  Going outwards, its frames
 * are skipped.  Going inwards, the frames that it calls recursively are items
 * of its branch, too, but have only the samples that end there.
 */
#include "views/tree/tree.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

void tree_items_fini(struct tree_items *x)
{
	vec_fini(&x->at);
	vec_fini(&x->cells);
}

static void tree_items_cut(struct tree_items *x, size_t n, size_t ncols)
{
	x->at.n = n;
	x->cells.n = n * ncols;
}

static void tree_items_add(struct tree_builder *b, struct tree_items *x,
			   struct tree_item it, const struct cell *cells)
{
	if (vec_push(&x->at, it) < 0 ||
	    vec_reserve(&x->cells, x->cells.n + b->ncols) < 0) {
		b->failed = true;
		return;
	}
	memcpy(&x->cells.v[x->cells.n], cells, b->ncols * sizeof(*cells));
	x->cells.n += b->ncols;
}

int tree_builder_init(struct tree_builder *b, struct report *rep,
		      struct error *err)
{
	*b = (struct tree_builder){ .rep = rep, .p = rep->p, .f = &rep->fold,
				    .k = rep->tree_keys,
				    .mode = rep->spec.tree,
				    .ncols = rep->agg.ncols };
	b->group_of = calloc(b->k->keys.n + 1, sizeof(*b->group_of));
	b->merge_at = calloc(b->p->nodes.n + 1, sizeof(*b->merge_at));
	b->recursion_top = calloc(b->p->nodes.n + 1,
				  sizeof(*b->recursion_top));
	if (b->group_of && b->merge_at && b->recursion_top)
		return 0;
	tree_builder_fini(b);
	return error_nomem(err);
}

void tree_builder_fini(struct tree_builder *b)
{
	tree_items_fini(&b->now);
	tree_items_fini(&b->next);
	for (size_t i = 0; i < b->open.n; i++)
		tree_level_fini(&b->open.v[i].level);
	vec_fini(&b->open);
	vec_fini(&b->groups);
	vec_fini(&b->group_vals);
	vec_fini(&b->group_order);
	free(b->group_of);
	free(b->merge_at);
	free(b->recursion_top);
	b->group_of = b->merge_at = b->recursion_top = NULL;
}

static uint32_t outermost(const struct tree_builder *b, uint32_t loc)
{
	uint32_t s = b->k->head[loc];

	while (b->k->steps[s].outer != PROF_NONE)
		s = b->k->steps[s].outer;
	return s;
}

/* Returns the step that `step` calls within its own location. */
static uint32_t inner_of(const struct tree_builder *b, uint32_t loc,
			 uint32_t step)
{
	uint32_t s = b->k->head[loc];

	while (s != PROF_NONE && b->k->steps[s].outer != step)
		s = b->k->steps[s].outer;
	return s;
}

/* Adds to `next`.  Several items of a branch that meet at one caller are
 * merged. */
static void add_caller(struct tree_builder *b, struct tree_item it,
		       const struct cell *cells)
{
	size_t i = b->merge_at[it.node];

	if (i < b->next.at.n && b->next.at.v[i].node == it.node &&
	    b->next.at.v[i].step == it.step) {
		for (size_t c = 0; c < b->ncols; c++)
			cell_add(&b->next.cells.v[i * b->ncols + c], cells[c]);
		return;
	}
	b->merge_at[it.node] = (uint32_t)b->next.at.n;
	tree_items_add(b, &b->next, it, cells);
}

static uint32_t fk_of(const struct tree_builder *b, struct tree_item it)
{
	return b->k->steps[it.step].fk;
}

/* Moves an item to its caller.  Returns false if the stack ends. */
static bool go_out(const struct tree_builder *b, struct tree_item *it)
{
	uint32_t outer = b->k->steps[it->step].outer;
	uint32_t up = b->p->nodes.v[it->node].parent;

	if (outer != PROF_NONE) {
		it->step = outer;
		return true;
	}
	if (!up || prof_is_mark(b->p->nodes.v[up].loc))
		return false;
	it->node = up;
	it->step = b->k->head[b->p->nodes.v[up].loc];
	return true;
}

/* Returns the only step of a node's location, or PROF_NONE. */
static uint32_t only_step(const struct tree_builder *b, uint32_t node)
{
	uint32_t loc = b->p->nodes.v[node].loc, step;

	if (!node || prof_is_mark(loc))
		return PROF_NONE;
	step = b->k->head[loc];
	return b->k->steps[step].outer == PROF_NONE ? step : PROF_NONE;
}

/* Returns the caller of a node if both have no step but one of the same function,
 * otherwise the node. */
static uint32_t recursion_up(const struct tree_builder *b, uint32_t node)
{
	uint32_t up = b->p->nodes.v[node].parent;
	uint32_t in = only_step(b, node), out = only_step(b, up);

	return in != PROF_NONE && out != PROF_NONE &&
	       b->k->steps[in].fk == b->k->steps[out].fk ? up : node;
}

/* Returns the outermost node of direct recursion.  Paths are halved as in
 * union-find: many items in one deep recursion take no quadratic time. */
static uint32_t recursion_top(struct tree_builder *b, uint32_t node)
{
	uint32_t *top = b->recursion_top;

	for (;; node = top[node]) {
		if (!top[node])
			top[node] = recursion_up(b, node);
		if (top[node] == node)
			return node;
		if (!top[top[node]])
			top[top[node]] = recursion_up(b, top[node]);
		top[node] = top[top[node]];
	}
}

static void step_out(struct tree_builder *b, struct tree_item it,
		     const struct cell *cells)
{
	uint32_t fk = fk_of(b, it);

	while (go_out(b, &it)) {
		if (fk_of(b, it) != fk) {
			add_caller(b, it, cells);
			return;
		}
		b->recursive = true;
		if (only_step(b, it.node) == it.step) {
			it.node = recursion_top(b, it.node);
			it.step = b->k->head[b->p->nodes.v[it.node].loc];
		}
	}
}

typedef void called_cb(struct tree_builder *b, struct tree_item it, bool same,
		       const struct cell *cells);

/* Visits all places called from one; `same`: only those of the same
 * function. */
static void each_called(struct tree_builder *b, struct tree_item it,
			const struct cell *cells, called_cb *cb)
{
	uint32_t loc = b->p->nodes.v[it.node].loc, fk = fk_of(b, it);
	struct tree_item in = it;

	if (it.step != b->k->head[loc]) {
		in.step = inner_of(b, loc, it.step);
		cb(b, in, fk_of(b, in) == fk, cells);
		return;
	}
	for (uint32_t n = b->f->first[it.node]; n; n = b->f->next[n]) {
		if (prof_is_mark(b->p->nodes.v[n].loc))
			continue;
		in.node = n;
		in.step = outermost(b, b->p->nodes.v[n].loc);
		cb(b, in, fk_of(b, in) == fk, fold_sub(b->f, n));
	}
}

static void add_same(struct tree_builder *b, struct tree_item it, bool same,
		     const struct cell *cells)
{
	static const struct cell none[REPORT_COLUMNS_MAX];

	(void)cells;
	if (same)
		tree_items_add(b, b->into, it, none);
}

/* Adds an item, and all places of direct and indirect recursion. */
static void add_called(struct tree_builder *b, struct tree_items *into,
		       struct tree_item it, const struct cell *cells)
{
	size_t i = into->at.n;

	b->into = into;
	tree_items_add(b, into, it, cells);
	for (; i < into->at.n && !b->failed; i++)
		each_called(b, into->at.v[i], NULL, add_same);
}

static void add_other(struct tree_builder *b, struct tree_item it, bool same,
		      const struct cell *cells)
{
	struct cell own[REPORT_COLUMNS_MAX];

	if (same) {
		b->recursive = true;
		return;
	}
	/* `cells` may move when items are added */
	memcpy(own, cells, b->ncols * sizeof(*own));
	add_called(b, &b->next, it, own);
}

static void step_in(struct tree_builder *b, struct tree_item it,
		    const struct cell *cells)
{
	each_called(b, it, cells, add_other);
}

/* Adds to the self cost of a branch in a callee tree: stacks that end here. */
static void add_item_values(struct tree_builder *b, struct values *v, size_t i)
{
	struct tree_item it = b->next.at.v[i];
	bool ends = b->mode == TREE_CALLEES &&
		    it.step == b->k->head[b->p->nodes.v[it.node].loc];

	for (size_t c = 0; c < b->ncols; c++) {
		cell_add(&v[c].total, b->next.cells.v[i * b->ncols + c]);
		if (ends)
			cell_add(&v[c].self, fold_own(b->f, it.node, c));
	}
}

/* Groups `next` by function. */
static void group_next(struct tree_builder *b)
{
	b->groups.n = b->group_vals.n = 0;
	for (size_t i = 0; i < b->next.at.n && !b->failed; i++) {
		uint32_t step = b->next.at.v[i].step;
		uint32_t fk = b->k->steps[step].fk, g = b->group_of[fk];
		struct tree_branch new = { fk, true, 0 };
		struct values zero = { { 0, 0 }, { 0, 0 } };

		if (!g) {
			b->failed |= vec_push(&b->groups, new) < 0;
			for (size_t c = 0; c < b->ncols; c++)
				b->failed |= vec_push(&b->group_vals, zero) < 0;
			if (b->failed)
				break;
			g = b->group_of[fk] = (uint32_t)b->groups.n;
		}
		b->groups.v[g - 1].n++;
		b->groups.v[g - 1].inlined &= frame_step_inlined(b->k, step);
		add_item_values(b, &b->group_vals.v[(g - 1) * b->ncols], i);
	}
}

static int compare_groups(const void *x, const void *y, void *ctx)
{
	const struct tree_builder *b = ctx;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const struct values *u = &b->group_vals.v[i * b->ncols];
	const struct values *v = &b->group_vals.v[j * b->ncols];

	int order = 0;

	for (size_t c = 0; !order && c < b->ncols; c++)
		order = descending(u[c].total.weight, v[c].total.weight) ?:
			descending(u[c].total.count, v[c].total.count);
	return order ?: frame_key_compare(b->p,
					  &b->k->keys.v[b->groups.v[i].fk],
					  &b->k->keys.v[b->groups.v[j].fk]);
}

/* Selects the groups to show and sorts them. */
static void order_groups(struct tree_builder *b)
{
	b->group_order.n = 0;
	if (b->failed)		/* groups without values */
		return;
	for (uint32_t g = 0; g < b->groups.n; g++) {
		b->group_of[b->groups.v[g].fk] = 0;
		if (!report_shows(b->rep, b->lane,
				  &b->group_vals.v[g * b->ncols], true))
			continue;
		if (vec_push(&b->group_order, g) < 0) {
			b->failed = true;
			return;
		}
	}
	vec_sort_r(&b->group_order, compare_groups, b);
}

void tree_level_fini(struct tree_level *l)
{
	vec_fini(&l->children);
	vec_fini(&l->vals);
	tree_items_fini(&l->places);
}

/* Takes the groups of b->next in order, and makes room for their places. */
static int take_groups(struct tree_builder *b, struct tree_level *l)
{
	size_t at = 0;

	for (size_t i = 0; i < b->group_order.n; i++) {
		uint32_t g = b->group_order.v[i];
		const struct tree_branch *br = &b->groups.v[g];
		struct tree_child c = { br->fk, br->inlined, at, 0 };

		at += br->n;
		b->group_of[br->fk] = (uint32_t)i + 1;
		if (vec_push(&l->children, c) < 0)
			return -ERR_NOMEM;
		for (size_t k = 0; k < b->ncols; k++)
			if (vec_push(&l->vals,
				     b->group_vals.v[g * b->ncols + k]) < 0)
				return -ERR_NOMEM;
	}
	if (vec_reserve(&l->places.at, at) < 0 ||
	    vec_reserve(&l->places.cells, at * b->ncols) < 0)
		return -ERR_NOMEM;
	tree_items_cut(&l->places, at, b->ncols);
	return 0;
}

static void move_places(struct tree_builder *b, struct tree_level *l)
{
	for (size_t i = 0; i < b->next.at.n; i++) {
		uint32_t fk = b->k->steps[b->next.at.v[i].step].fk;
		struct tree_child *c;
		size_t to;

		if (!b->group_of[fk])
			continue;
		c = &l->children.v[b->group_of[fk] - 1];
		to = c->start + c->n++;
		l->places.at.v[to] = b->next.at.v[i];
		memcpy(&l->places.cells.v[to * b->ncols],
		       &b->next.cells.v[i * b->ncols],
		       b->ncols * sizeof(struct cell));
	}
}

int tree_take_level(struct tree_builder *b, struct tree_level *l)
{
	int rc;

	l->recursive = b->recursive;
	l->ncols = b->ncols;
	l->children.n = l->vals.n = 0;
	rc = b->failed ? -ERR_NOMEM : take_groups(b, l);
	if (!rc && b->group_order.n)
		move_places(b, l);
	for (size_t i = 0; i < b->group_order.n; i++)
		b->group_of[b->groups.v[b->group_order.v[i]].fk] = 0;
	return rc;
}

void tree_enter(struct tree_builder *b, const struct tree_level *l, size_t child)
{
	const struct tree_child *c = &l->children.v[child];

	tree_items_cut(&b->now, 0, b->ncols);
	for (size_t i = c->start; i < c->start + c->n; i++)
		tree_items_add(b, &b->now, l->places.at.v[i],
			       &l->places.cells.v[i * b->ncols]);
}

/* Each row may have a tree of the whole stacks above it. */
static bool tree_full(const struct report *rep)
{
	uint64_t one = sizeof(*rep->tree.v) +
		       rep->table.ncols * sizeof(*rep->tree_vals.v);

	return rep->tree.n >= TREE_NODES_MAX ||
	       rep->tree.n >= rep->max_memory / one;
}

static void show_child(struct tree_builder *b, const struct tree_level *l,
		       size_t child, uint32_t depth)
{
	const struct tree_child *c = &l->children.v[child];
	struct report *rep = b->rep;
	struct tree_node t = { c->fk, depth, c->inlined, false };

	b->too_many = tree_full(rep);
	b->failed |= b->too_many;
	b->failed |= vec_push(&rep->tree, t) < 0;
	for (size_t i = 0; i < b->ncols; i++)
		b->failed |= vec_push(&rep->tree_vals,
				      l->vals.v[child * b->ncols + i]) < 0;
}

/* Collects the row's own places.  For a row with callees, these include its
 * recursive calls. */
static void start_items(struct tree_builder *b)
{
	struct tree_items own = b->now;

	if (b->mode == TREE_CALLERS)
		return;
	memset(&b->now, 0, sizeof(b->now));
	for (size_t i = 0; i < own.at.n && !b->failed; i++)
		add_called(b, &b->now, own.at.v[i],
			   &own.cells.v[i * b->ncols]);
	tree_items_fini(&own);
}

void tree_step(struct tree_builder *b, enum tree_step step)
{
	tree_items_cut(&b->next, 0, b->ncols);
	b->recursive = false;
	if (step != TREE_STEP)
		start_items(b);
	for (size_t i = 0; i < b->now.at.n && !b->failed; i++) {
		const struct cell *cells = &b->now.cells.v[i * b->ncols];

		if (step == TREE_STEP_GROUP)
			tree_items_add(b, &b->next, b->now.at.v[i], cells);
		else if (b->mode == TREE_CALLERS)
			step_out(b, b->now.at.v[i], cells);
		else
			step_in(b, b->now.at.v[i], cells);
	}
	group_next(b);
	order_groups(b);
}

/* Opens the level of the places in b->now below `depth` open ones. */
static void open_level(struct tree_builder *b, enum tree_step step, size_t depth)
{
	if (b->open.n == depth)
		b->failed |= vec_push(&b->open, (struct tree_open){ .next = 0 }) < 0;
	tree_step(b, step);
	if (b->failed)
		return;
	b->open.v[depth].next = 0;
	b->failed |= tree_take_level(b, &b->open.v[depth].level) < 0;
}

/* Appends the tree of a row in b->lane to report.tree.  Its items are in b->now. */
static void tree_grow(struct tree_builder *b, struct row *row)
{
	bool first = !key_list_has(&b->rep->spec.keys, KEY_SYMBOL);
	size_t depth = 1;	/* open levels */

	row->tree = (uint32_t)b->rep->tree.n;
	/* if the row is not a function, its functions are the first level */
	open_level(b, first ? TREE_STEP_GROUP : TREE_STEP_FIRST, 0);
	while (depth && !b->failed) {
		struct tree_open *o = &b->open.v[depth - 1];

		if (o->next == o->level.children.n) {
			depth--;
			continue;
		}
		show_child(b, &o->level, o->next, (uint32_t)depth - 1);
		if (b->failed || depth == TREE_DEPTH_MAX) {
			o->next++;
			continue;
		}
		tree_enter(b, &o->level, o->next++);
		open_level(b, TREE_STEP, depth++);
		b->rep->tree.v[b->rep->tree.n - 1].recursive = b->recursive;
	}
	row->tree_n = (uint32_t)(b->rep->tree.n - row->tree);
}

/*
 * --- where the trees of the shown rows start: found in one walk per lane
 *
 *	callers, by self:	where the row's function is innermost
 *	callers, by total:	its outermost place in each stack
 *	callees:		where the stack, or the filter's match, begins
 *
 * tree_find does this for one function, for trees that are built on demand
 * (tree_level.h).
 */

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

	sort_rows(rows, n, by_row);
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

/* Fills rep->tree for the rows in rep->order. */
static int build_trees(struct report *rep, struct error *err)
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

int report_with_trees(struct reader *r, const struct report_spec *spec,
		      struct report **out, struct error *err)
{
	int rc = report_build(r, spec, out, err);

	if (rc < 0 || spec->tree == TREE_NONE)
		return rc;
	rc = build_trees(*out, err);
	if (rc < 0) {
		report_free(*out);
		*out = NULL;
	}
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
