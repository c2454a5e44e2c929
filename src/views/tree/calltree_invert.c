// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inverts a call tree, so that callers are below each function.
 *
 * A branch is a set of places in the tree (items), each with the cost of its
 * samples.  It grows by one step to each place's parent.  Items of waiting
 * branches are in one stack, with the branch that grows next on top.  So memory
 * use follows the tree's nodes, not their depth.
 */
#include <stdlib.h>

#include "base/search.h"
#include "views/tree/calltree.h"

struct item {
	uint32_t node;
	struct cell c;
};

struct branch {
	uint32_t parent, func, inlined;
	size_t start, n;	/* range of its items in the stack */
	struct cell sum;
};

struct inverter {
	const struct calltree *t;
	struct calltree *out;
	struct cell least;	/* branches below this are summed */
	VEC(struct item) items, now;
	VEC(struct branch) wait, groups;
	VEC(struct cell) totals;
	bool failed;
};

static int by_function(const void *x, const void *y, void *ctx)
{
	const struct calltree *t = ctx;
	const struct item *a = x, *b = y;
	const struct calltree_node *m = &t->nodes.v[a->node];
	const struct calltree_node *n = &t->nodes.v[b->node];

	return ascending(m->func, n->func) ?:
	       ascending(m->inlined, n->inlined) ?:
	       ascending(a->node, b->node);
}

/* Sorts the largest last, because it is taken first. */
static int by_sum(const void *x, const void *y)
{
	const struct branch *a = x, *b = y;

	if ((a->func == CALLTREE_OTHER) != (b->func == CALLTREE_OTHER))
		return a->func == CALLTREE_OTHER ? -1 : 1;
	return ascending(a->sum.weight, b->sum.weight) ?:
	       ascending(a->sum.count, b->sum.count) ?:
	       descending(a->func, b->func) ?:
	       (int)b->inlined - (int)a->inlined;
}

/* Groups x->now by function and merges items of equal places. */
static void group_items(struct inverter *x, uint32_t parent)
{
	const struct calltree_node *v = x->t->nodes.v;
	size_t k = 0;

	x->groups.n = 0;
	if (x->now.n)
		qsort_r(x->now.v, x->now.n, sizeof(*x->now.v), by_function,
			(void *)x->t);
	for (size_t i = 0; i < x->now.n && !x->failed; i++) {
		struct item it = x->now.v[i];
		const struct calltree_node *n = &v[it.node];
		struct branch *g = x->groups.n
					   ? &x->groups.v[x->groups.n - 1]
					   : NULL;

		if (!g || g->func != n->func || g->inlined != n->inlined) {
			struct branch b = { parent, n->func, n->inlined, k, 0,
					    { 0, 0 } };

			x->failed |= vec_push(&x->groups, b) < 0;
			if (x->failed)
				return;
			g = &x->groups.v[x->groups.n - 1];
		}
		cell_add(&g->sum, it.c);
		if (g->n && x->now.v[k - 1].node == it.node) {
			cell_add(&x->now.v[k - 1].c, it.c);
			continue;
		}
		x->now.v[k++] = it;
		g->n++;
	}
}

static bool is_small(const struct inverter *x, const struct branch *b)
{
	if (x->least.weight)
		return b->sum.weight < x->least.weight;
	return b->sum.count < x->least.count;
}

/* Merges small groups into one without items, and queues the others with
 * theirs. */
static void push_groups(struct inverter *x, uint32_t parent)
{
	struct branch small = { .parent = parent, .func = CALLTREE_OTHER };
	size_t k = 0;

	for (size_t i = 0; i < x->groups.n; i++) {
		if (!is_small(x, &x->groups.v[i]) &&
		    x->groups.v[i].func != CALLTREE_OTHER) {
			x->groups.v[k++] = x->groups.v[i];
			continue;
		}
		cell_add(&small.sum, x->groups.v[i].sum);
		x->out->pruned++;
	}
	x->groups.n = k;
	if (small.sum.count)
		x->failed |= vec_push(&x->groups, small) < 0;
	if (x->groups.n)
		qsort(x->groups.v, x->groups.n, sizeof(*x->groups.v), by_sum);
	for (size_t i = 0; i < x->groups.n && !x->failed; i++) {
		struct branch b = x->groups.v[i];
		size_t from = b.start;

		b.start = x->items.n;
		for (size_t m = 0; m < b.n; m++)
			x->failed |= vec_push(&x->items,
					      x->now.v[from + m]) < 0;
		x->failed |= vec_push(&x->wait, b) < 0;
	}
}

/* Makes a node of the branch and grows it by its callers. */
static void grow(struct inverter *x, struct branch b)
{
	struct calltree_node n = { b.parent, 0, b.func, (uint8_t)b.inlined };
	uint32_t id = (uint32_t)x->out->nodes.n;

	x->failed |= vec_push(&x->out->nodes, n) < 0 ||
		     vec_push(&x->totals, b.sum) < 0;
	x->now.n = 0;
	for (size_t i = 0; i < b.n && !x->failed; i++) {
		struct item it = x->items.v[b.start + i];

		it.node = x->t->nodes.v[it.node].parent;
		if (it.node)
			x->failed |= vec_push(&x->now, it) < 0;
	}
	x->items.n = b.start;
	group_items(x, id);
	push_groups(x, id);
}

/* Starts with the cost that nodes have beyond their children. */
static int start(struct inverter *x)
{
	const struct calltree *t = x->t;
	struct cell *own = malloc((t->nodes.n + 1) * sizeof(*own));

	if (!own)
		return -ERR_NOMEM;
	for (size_t i = 0; i < t->nodes.n; i++)
		own[i] = t->total[i * t->ncols];
	for (size_t i = 1; i < t->nodes.n; i++) {
		own[t->nodes.v[i].parent].weight -=
			t->total[i * t->ncols].weight;
		own[t->nodes.v[i].parent].count -= t->total[i * t->ncols].count;
	}
	for (uint32_t i = 1; i < t->nodes.n; i++) {
		struct item it = { i, own[i] };

		if (own[i].count)
			x->failed |= vec_push(&x->now, it) < 0;
	}
	free(own);
	return x->failed ? -ERR_NOMEM : 0;
}

static void finish(struct calltree *out, struct inverter *x)
{
	out->total = x->totals.v;
	if (x->t->ncols)
		out->by_count[0] = x->t->by_count[0];
	calltree_close_ranges(out);
}

int calltree_invert(const struct calltree *t, double share, struct calltree *out,
		    struct error *err)
{
	struct inverter x = { .t = t, .out = out };
	struct cell all = t->ncols ? t->total[0] : (struct cell){ 0, 0 };
	struct calltree_node root = { 0, 0, CALLTREE_ROOT, 0 };

	x.least.weight = (uint64_t)(share * (double)all.weight);
	x.least.count = (uint64_t)(share * (double)all.count);
	x.failed = calltree_begin(out, 1, 1, t->ncols ? t->scale : NULL) < 0 ||
		   vec_push(&out->nodes, root) < 0 ||
		   vec_push(&x.totals, all) < 0;
	if (!x.failed && t->ncols && start(&x) == 0) {
		group_items(&x, 0);
		push_groups(&x, 0);
	}
	while (x.wait.n && !x.failed)
		grow(&x, x.wait.v[--x.wait.n]);
	if (x.failed)
		vec_fini(&x.totals);
	else
		finish(out, &x);
	vec_fini(&x.items);
	vec_fini(&x.now);
	vec_fini(&x.wait);
	vec_fini(&x.groups);
	if (!x.failed)
		return 0;
	calltree_fini(out);
	return error_set(err, ERR_NOMEM, "out of memory for the call tree");
}
