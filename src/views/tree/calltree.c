// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the call tree of recordings, prunes and inverts it.
 *
 * Each node of a profile (a location) becomes one frame for each function of
 * its inline chain.  Frames of equal functions below the same parent are
 * merged, for all sources together, into one draft.  The draft is sorted once
 * and numbered in pre-order.
 */
#include "views/tree/calltree.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "views/query/names.h"

enum {
	FOLD_PERIOD = 16,	/* maximum number of functions in a folded recursion */
	KEPT_MAX = 2 * CALLTREE_FOLD,
};

struct draft_node {
	uint32_t parent, func;
	uint32_t depth;
	uint8_t split;		/* inlined, if that makes a separate child */
	uint8_t inlined;
};

struct draft {
	struct calltree *t;
	const struct calltree_spec *spec;
	VEC(struct draft_node) nodes;	/* parents first */
	struct idtab tab;
	uint32_t **sample_of;	/* by source, by node of its profile */
	struct cell *total;	/* laid out as calltree.total */
	double *cost;		/* by node: cost in the first column */
};

static bool node_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct draft *d = ctx;
	const struct draft_node *a = &d->nodes.v[id], *b = key;

	return a->parent == b->parent && a->func == b->func &&
	       a->split == b->split;
}

/*
 * Returns the node that represents a frame deeper than CALLTREE_FOLD, where
 * pictures are unreadable.  A function equal to one of its nearest callers is
 * merged into that caller's frame.  A frame that is deeper still is merged into
 * its caller.
 */
static uint32_t folded(const struct draft *d, uint32_t parent,
		       const struct draft_node *key)
{
	uint32_t up = parent;

	for (int i = 0; i < FOLD_PERIOD; i++) {
		const struct draft_node *n = &d->nodes.v[up];

		if (n->func == key->func && n->split == key->split)
			return up;
		up = n->parent;
	}
	return key->depth > KEPT_MAX ? parent : PROF_NONE;
}

static uint32_t child(struct draft *d, uint32_t parent, uint32_t func,
		      uint8_t inlined)
{
	struct draft_node key = {
		parent, func, d->nodes.v[parent].depth + 1,
		d->spec->merge_inlined ? 0 : inlined, inlined
	};
	uint64_t h = hash_mix((uint64_t)parent << 32 | func, key.split);
	uint32_t id = idtab_find(&d->tab, h, node_eq, d, &key);

	if (id == IDTAB_NONE && key.depth > CALLTREE_FOLD) {
		id = folded(d, parent, &key);
		d->t->folded |= id != PROF_NONE;
		if (id != PROF_NONE)
			return id;
	}
	if (id != IDTAB_NONE) {
		d->nodes.v[id].inlined |= inlined;
		return id;
	}
	id = (uint32_t)d->nodes.n;
	if (vec_push(&d->nodes, key) < 0 || idtab_add(&d->tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

static uint32_t mark_func(uint32_t loc)
{
	if (loc == PROF_MARK_CUT)
		return CALLTREE_CUT;
	return loc == PROF_MARK_BROKEN ? CALLTREE_BROKEN : CALLTREE_DAMAGED;
}

static uint32_t func_of(const struct calltree_source *s, uint32_t fk)
{
	uint32_t func = s->func_of ? s->func_of[fk] : fk;

	return func == PROF_NONE ? CALLTREE_DAMAGED : func;
}

/* Adds the frames of one location, outermost first.  Returns the innermost
 * one's node. */
static uint32_t add_location(struct draft *d, const struct calltree_source *s,
			     uint32_t parent, uint32_t loc)
{
	const struct frame_keys *k = &s->rep->keys;
	uint32_t chain[INLINE_MAX + 1];
	size_t n = 0;

	/* These stacks are complete. */
	if (loc == PROF_MARK_READ_LATE || loc == PROF_MARK_HEURISTIC)
		return parent;
	if (prof_is_mark(loc))
		return child(d, parent, mark_func(loc), 0);
	for (uint32_t i = k->head[loc]; i != PROF_NONE && n <= INLINE_MAX;
	     i = k->steps[i].outer)
		chain[n++] = i;
	while (n-- && parent != PROF_NONE)
		parent = child(d, parent, func_of(s, k->steps[chain[n]].fk),
			       (uint8_t)(frame_step_inlined(k, chain[n])
					 << s->side));
	return parent;
}

static bool touched(const struct fold *f, size_t n)
{
	return f->bits[n / 64] >> (n % 64) & 1;
}

/* Returns the node of a stack's samples.  Samples without frames get a special
 * one. */
static uint32_t sample_node(struct draft *d, const struct calltree_source *s,
			    uint32_t stack, uint32_t node)
{
	const struct report *rep = s->rep;

	if ((!stack || prof_is_mark(rep->p->nodes.v[stack].loc)) &&
	    fold_has_own(&rep->fold, stack))
		return child(d, node, func_of(s, rep->keys.unknown), 0);
	return node;
}

static int add_stacks(struct draft *d, const struct calltree_source *s,
		      uint32_t *node_of, uint32_t *sample_of)
{
	const struct prof_node *nodes = s->rep->p->nodes.v;
	const struct fold *f = &s->rep->fold;

	for (uint32_t n = 0; n < f->n; n++) {
		if (!touched(f, n))
			continue;
		node_of[n] = n ? add_location(d, s, node_of[nodes[n].parent],
					      nodes[n].loc) : 0;
		if (node_of[n] == PROF_NONE)
			return -ERR_NOMEM;
		sample_of[n] = sample_node(d, s, n, node_of[n]);
		if (sample_of[n] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

static int add_source(struct draft *d, size_t source)
{
	const struct calltree_source *s = &d->spec->sources[source];
	size_t n = s->rep->p->nodes.n;
	uint32_t *node_of = malloc((n + 1) * sizeof(*node_of));
	uint32_t *sample_of = malloc((n + 1) * sizeof(*sample_of));
	int rc = -ERR_NOMEM;

	d->sample_of[source] = sample_of;
	if (node_of && sample_of) {
		memset(sample_of, 0xff, (n + 1) * sizeof(*sample_of));
		rc = add_stacks(d, s, node_of, sample_of);
	}
	free(node_of);
	return rc;
}

static void add_own(struct draft *d, size_t source)
{
	const struct calltree_source *s = &d->spec->sources[source];
	const struct fold *f = &s->rep->fold;
	const uint32_t *sample_of = d->sample_of[source];
	const struct calltree *t = d->t;

	for (uint32_t n = 0; n < f->n; n++) {
		struct cell *to;

		if (!touched(f, n))
			continue;
		to = &d->total[(sample_of[n] * t->nsides + s->side) * t->ncols];
		for (size_t c = 0; c < f->ncols; c++) {
			size_t col = s->col_of ? s->col_of[c] : c;

			if (col != PROF_NONE)
				cell_add(&to[col], fold_own(f, n, c));
		}
	}
}

/* Finds the unit of each column.  If samples of a side have no weights, samples
 * are counted on both sides. */
static void find_units(struct calltree *t, const struct cell *root)
{
	for (size_t i = 0; i < t->nsides * t->ncols; i++)
		t->by_count[i % t->ncols] |= root[i].count && !root[i].weight;
}

static double cost_of(const struct calltree *t, const struct cell *total,
		      size_t node, size_t col)
{
	double sum = 0;

	for (size_t s = 0; s < t->nsides; s++) {
		size_t at = s * t->ncols + col;
		struct cell c = total[node * t->nsides * t->ncols + at];

		sum += t->scale[at] *
		       (double)(t->by_count[col] ? c.count : c.weight);
	}
	return sum;
}

double calltree_cost(const struct calltree *t, size_t node, size_t col)
{
	return cost_of(t, t->total, node, col);
}

double calltree_share(const struct calltree *t, size_t node)
{
	double most = 0;

	for (size_t c = 0; c < t->ncols; c++) {
		double all = calltree_cost(t, 0, c);
		double share = all > 0 ? calltree_cost(t, node, c) / all : 0;

		if (share > most)
			most = share;
	}
	return most;
}

static int sum_draft(struct draft *d)
{
	struct calltree *t = d->t;
	size_t row = t->nsides * t->ncols;

	d->total = calloc(d->nodes.n * row + 1, sizeof(*d->total));
	d->cost = calloc(d->nodes.n, sizeof(*d->cost));
	if (!d->total || !d->cost)
		return -ERR_NOMEM;
	for (size_t i = 0; i < d->spec->nsources; i++)
		add_own(d, i);
	for (size_t i = d->nodes.n; --i;)
		for (size_t c = 0; c < row; c++)
			cell_add(&d->total[d->nodes.v[i].parent * row + c],
				 d->total[i * row + c]);
	find_units(t, d->total);
	for (size_t i = 0; t->ncols && i < d->nodes.n; i++)
		d->cost[i] = cost_of(t, d->total, i, 0);
	return 0;
}

/* Compares by cost, then by number of samples, then by the other columns
 * likewise. */
static int compare_costs(const struct draft *d, uint32_t a, uint32_t b)
{
	const struct calltree *t = d->t;
	size_t row = t->nsides * t->ncols;
	int order = descending(d->cost[a], d->cost[b]);

	for (size_t c = 0; !order && c < t->ncols; c++) {
		double x = c ? cost_of(t, d->total, a, c) : 0;
		double y = c ? cost_of(t, d->total, b, c) : 0;
		uint64_t m = 0, n = 0;

		for (size_t s = 0; s < t->nsides; s++) {
			m += d->total[a * row + s * t->ncols + c].count;
			n += d->total[b * row + s * t->ncols + c].count;
		}
		order = descending(x, y) ?: descending(m, n);
	}
	return order;
}

static int compare_nodes(const void *x, const void *y, void *ctx)
{
	const struct draft *d = ctx;
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct draft_node *a = &d->nodes.v[ia], *b = &d->nodes.v[ib];

	return ascending(a->parent, b->parent) ?: compare_costs(d, ia, ib) ?:
	       ascending(a->func, b->func) ?: ascending(a->split, b->split);
}

/* Numbers the sorted nodes depth-first.  `order` holds the children of a node
 * in one range, which begins at first[node]. */
static int number_nodes(struct draft *d, const uint32_t *order,
			const size_t *first, uint32_t *id_of)
{
	struct calltree *t = d->t;
	VEC(uint32_t) stack = { 0 };	/* draft nodes whose children come next */
	int rc = vec_push(&stack, 0);

	while (!rc && stack.n) {
		uint32_t at = stack.v[--stack.n];
		const struct draft_node *x = &d->nodes.v[at];
		struct calltree_node node = { id_of[x->parent], 0, x->func,
					      x->inlined };

		id_of[at] = (uint32_t)t->nodes.n;
		rc = vec_push(&t->nodes, node);
		for (size_t i = first[at + 1]; !rc && i-- > first[at];)
			rc = vec_push(&stack, order[i]);
	}
	vec_fini(&stack);
	return rc;
}

/* Sets the end of each subtree.  Parents must come before their children. */
static void close_ranges(struct calltree *t)
{
	for (size_t i = 0; i < t->nodes.n; i++)
		t->nodes.v[i].end = (uint32_t)i + 1;
	for (size_t i = t->nodes.n; --i;) {
		struct calltree_node *up = &t->nodes.v[t->nodes.v[i].parent];

		if (t->nodes.v[i].end > up->end)
			up->end = t->nodes.v[i].end;
	}
}

/* Copies sums and the samples' nodes to the new numbers. */
static int take_over(struct draft *d, const uint32_t *id_of)
{
	struct calltree *t = d->t;
	size_t row = t->nsides * t->ncols;

	t->total = malloc((t->nodes.n * row + 1) * sizeof(*t->total));
	if (!t->total)
		return -ERR_NOMEM;
	for (size_t i = 0; i < d->nodes.n; i++)
		memcpy(&t->total[id_of[i] * row], &d->total[i * row],
		       row * sizeof(*t->total));
	for (size_t i = 0; i < d->spec->nsources; i++) {
		const struct calltree_source *s = &d->spec->sources[i];
		uint32_t *sample_of = d->sample_of[i];

		if (!s->node_of)
			continue;
		for (size_t n = 0; n < s->rep->p->nodes.n; n++)
			if (sample_of[n] != PROF_NONE)
				sample_of[n] = id_of[sample_of[n]];
		*s->node_of = sample_of;
		d->sample_of[i] = NULL;
	}
	close_ranges(t);
	return 0;
}

static int sort_nodes(struct draft *d)
{
	size_t n = d->nodes.n;
	uint32_t *order = malloc(n * sizeof(*order));
	uint32_t *id_of = calloc(n, sizeof(*id_of));
	size_t *first = calloc(n + 1, sizeof(*first));
	int rc = order && id_of && first ? 0 : -ERR_NOMEM;

	if (!rc) {
		for (size_t i = 1; i < n; i++) {
			order[i - 1] = (uint32_t)i;
			first[d->nodes.v[i].parent + 1]++;
		}
		for (size_t i = 0; i < n; i++)
			first[i + 1] += first[i];
		sort_rows_r(order, n - 1, compare_nodes, d);
		rc = number_nodes(d, order, first, id_of);
	}
	if (!rc)
		rc = take_over(d, id_of);
	free(order);
	free(id_of);
	free(first);
	return rc;
}

/* Initializes an empty tree.  Free it also after -ERR_NOMEM. */
static int tree_begin(struct calltree *t, size_t nsides, size_t ncols,
		      const double *scale)
{
	size_t n = nsides * ncols;

	*t = (struct calltree){ .nsides = nsides, .ncols = ncols };
	t->scale = calloc(n + 1, sizeof(*t->scale));
	t->by_count = calloc(ncols + 1, sizeof(*t->by_count));
	if (!t->scale || !t->by_count)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		t->scale[i] = scale ? scale[i] : 1;
	return 0;
}

int calltree_build(struct calltree *t, const struct calltree_spec *spec,
		   struct error *err)
{
	struct draft d = { .t = t, .spec = spec };
	struct draft_node root = { .func = CALLTREE_ROOT };
	int rc;

	rc = tree_begin(t, spec->nsides, spec->ncols, spec->scale);
	d.sample_of = calloc(spec->nsources + 1, sizeof(*d.sample_of));
	if (!d.sample_of || vec_push(&d.nodes, root) < 0)
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < spec->nsources; i++)
		rc = add_source(&d, i);
	if (!rc)
		rc = sum_draft(&d) ?: sort_nodes(&d);
	vec_fini(&d.nodes);
	idtab_fini(&d.tab);
	for (size_t i = 0; d.sample_of && i < spec->nsources; i++)
		free(d.sample_of[i]);
	free(d.sample_of);
	free(d.total);
	free(d.cost);
	if (!rc)
		return 0;
	calltree_fini(t);
	return error_nomem(err);
}

int calltree_of(struct calltree *t, const struct report *rep, struct error *err)
{
	struct calltree_source source = { .rep = rep };
	struct calltree_spec spec = { .sources = &source, .nsources = 1,
				      .nsides = 1, .ncols = rep->fold.ncols };

	return calltree_build(t, &spec, err);
}

void calltree_fini(struct calltree *t)
{
	vec_fini(&t->nodes);
	free(t->total);
	free(t->scale);
	free(t->by_count);
	*t = (struct calltree){ 0 };
}

/* --- pruning: merges branches too small to be seen */

struct pruner {
	const struct calltree *t;
	double share;
	uint32_t *new_id;	/* by node; PROF_NONE: below the share */
	/* by node: 1 if it has branches to sum, then the node that has their
	 * sum */
	uint32_t *small;
	VEC(struct calltree_node) nodes;
	struct cell *total;
};

static bool keeps(const struct pruner *x, size_t i)
{
	return !i || (x->t->nodes.v[i].func != CALLTREE_OTHER &&
		      calltree_share(x->t, i) >= x->share);
}

/* Leaves a node.  Its sum of small branches becomes its last child. */
static int leave(struct pruner *x, uint32_t node)
{
	struct calltree_node n = { x->new_id[node], 0, CALLTREE_OTHER, 0 };

	if (!x->small[node])
		return 0;
	x->small[node] = (uint32_t)x->nodes.n;
	return vec_push(&x->nodes, n);
}

static int number_kept(struct pruner *x)
{
	const struct calltree_node *v = x->t->nodes.v;
	uint32_t open = 0;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < x->t->nodes.n; i++) {
		struct calltree_node n = v[i];

		for (; !rc && i && open != n.parent && i >= v[open].end;
		     open = v[open].parent)
			rc = leave(x, open);
		if (rc)
			break;
		if (!keeps(x, i)) {
			x->new_id[i] = PROF_NONE;
			x->small[n.parent] = 1;
			i = n.end - 1;
			continue;
		}
		x->new_id[i] = (uint32_t)x->nodes.n;
		n.parent = i ? x->new_id[n.parent] : 0;
		rc = vec_push(&x->nodes, n);
		open = i;
	}
	for (; !rc && open; open = v[open].parent)
		rc = leave(x, open);
	return rc ? rc : leave(x, 0);
}

/* Maps removed subtrees to the node of their parent's small branches. */
static int sum_kept(struct pruner *x)
{
	const struct calltree_node *v = x->t->nodes.v;
	size_t row = x->t->nsides * x->t->ncols;

	x->total = calloc(x->nodes.n * row + 1, sizeof(*x->total));
	if (!x->total)
		return -ERR_NOMEM;
	for (uint32_t i = 0; i < x->t->nodes.n; i++) {
		uint32_t to = x->new_id[i], end = i + 1;

		if (to == PROF_NONE) {
			to = x->small[v[i].parent];
			end = v[i].end;
		}
		for (size_t c = 0; c < row; c++)
			cell_add(&x->total[to * row + c],
				 x->t->total[i * row + c]);
		for (; i < end; i++)
			x->new_id[i] = to;
		i--;
	}
	return 0;
}

static size_t count_other(const struct calltree *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nodes.n; i++)
		n += t->nodes.v[i].func == CALLTREE_OTHER;
	return n;
}

static void take_kept(struct calltree *t, struct pruner *x)
{
	size_t was = t->nodes.n - count_other(t);

	free(t->nodes.v);
	free(t->total);
	t->nodes.v = x->nodes.v;
	t->nodes.n = x->nodes.n;
	t->nodes.cap = x->nodes.cap;
	t->total = x->total;
	close_ranges(t);
	t->pruned += was - (t->nodes.n - count_other(t));
}

int calltree_prune(struct calltree *t, double share, uint32_t **moved,
		   struct error *err)
{
	struct pruner x = { .t = t, .share = share };
	size_t n = t->nodes.n;
	int rc = -ERR_NOMEM;

	x.new_id = calloc(n + 1, sizeof(*x.new_id));
	x.small = calloc(n + 1, sizeof(*x.small));
	if (x.new_id && x.small)
		rc = number_kept(&x);
	if (!rc)
		rc = sum_kept(&x);
	if (!rc)
		take_kept(t, &x);
	else
		vec_fini(&x.nodes);
	free(x.small);
	if (!rc && moved)
		*moved = x.new_id;
	else
		free(x.new_id);
	return rc ? error_nomem(err) : 0;
}

void calltree_func_name(const struct report *rep, uint32_t func, struct buf *out)
{
	static const char *const special[] = {
		[CALLTREE_BROKEN - CALLTREE_SPECIAL] =
			"[callers missing: broken stack]",
		[CALLTREE_CUT - CALLTREE_SPECIAL] =
			"[callers missing: deep stack cut]",
		[CALLTREE_DAMAGED - CALLTREE_SPECIAL] = "[damaged]",
		[CALLTREE_OTHER - CALLTREE_SPECIAL] = "[small branches]",
		[CALLTREE_ROOT - CALLTREE_SPECIAL] = "all",
	};

	if (func >= CALLTREE_SPECIAL)
		buf_str(out, special[func - CALLTREE_SPECIAL]);
	else
		name_symbol(rep->p, &rep->keys, &rep->keys.keys.v[func],
			    NAME_ALONE, out);
}

/*
 * --- inverted trees, with callers below each function
 *
 * A branch is a set of places in the tree (items), each with the cost of its
 * samples.  It grows by one step to each place's parent.  Items of waiting
 * branches are in one stack, with the branch that grows next on top.  So memory
 * use follows the tree's nodes, not their depth.
 */

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
	vec_sort_r(&x->now, by_function, (void *)x->t);
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
	vec_sort(&x->groups, by_sum);
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
	close_ranges(out);
}

int calltree_invert(const struct calltree *t, double share, struct calltree *out,
		    struct error *err)
{
	struct inverter x = { .t = t, .out = out };
	struct cell all = t->ncols ? t->total[0] : (struct cell){ 0, 0 };
	struct calltree_node root = { 0, 0, CALLTREE_ROOT, 0 };

	x.least.weight = (uint64_t)(share * (double)all.weight);
	x.least.count = (uint64_t)(share * (double)all.count);
	x.failed = tree_begin(out, 1, 1, t->ncols ? t->scale : NULL) < 0 ||
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
	return error_nomem(err);
}
