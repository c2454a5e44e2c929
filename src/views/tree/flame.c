// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builds the tree of a flame graph: see flame.h.
 *
 * Each node of the profile (a location) becomes one frame for each function of
 * its inline chain; frames of equal functions below the same parent are merged.
 * The result is sorted once and numbered in pre-order.
 */
#include "views/tree/flame.h"

#include <stdlib.h>
#include <string.h>

enum {
	FOLD_PERIOD = 16,	/* functions of a recursion that is folded */
	DRAWN_MAX = 2 * FLAME_FOLD,
};

struct draft_node {
	uint32_t parent, fk;
	uint32_t inlined;
	uint32_t depth;
};

struct draft {
	const struct report *rep;
	struct flame *f;
	VEC(struct draft_node) nodes;
	struct idtab tab;
	struct cell *total;	/* [node * ncols + column] */
	uint32_t *node_of;	/* by node of the profile */
	uint32_t *sample_of;
};

static int nomem(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for the flame graph");
}

static bool node_eq(const void *ctx, uint32_t id, const void *key)
{
	const struct draft *d = ctx;
	const struct draft_node *a = &d->nodes.v[id], *b = key;

	return a->parent == b->parent && a->fk == b->fk &&
	       a->inlined == b->inlined;
}

/* Below so many frames nobody reads a picture: a function that one of its nearest
 * callers is already goes back to that one's frame; what is deeper still by other
 * ways is drawn as the frame it was called from. */
static uint32_t folded(const struct draft *d, uint32_t parent,
		       const struct draft_node *key)
{
	uint32_t up = parent;

	for (int i = 0; i < FOLD_PERIOD; i++) {
		const struct draft_node *n = &d->nodes.v[up];

		if (n->fk == key->fk && n->inlined == key->inlined)
			return up;
		up = n->parent;
	}
	return key->depth > DRAWN_MAX ? parent : PROF_NONE;
}

static uint32_t child(struct draft *d, uint32_t parent, uint32_t fk,
		      bool inlined)
{
	struct draft_node key = { parent, fk, inlined,
				  d->nodes.v[parent].depth + 1 };
	uint64_t h = hash_mix((uint64_t)parent << 32 | fk, inlined);
	uint32_t id = idtab_find(&d->tab, h, node_eq, d, &key);

	if (id != IDTAB_NONE)
		return id;
	if (key.depth > FLAME_FOLD) {
		id = folded(d, parent, &key);
		d->f->folded |= id != PROF_NONE;
		if (id != PROF_NONE)
			return id;
	}
	id = (uint32_t)d->nodes.n;
	if (vec_push(&d->nodes, key) < 0 || idtab_add(&d->tab, h, id) < 0)
		return PROF_NONE;
	return id;
}

static uint32_t mark_fk(uint32_t loc)
{
	if (loc == PROF_MARK_CUT)
		return FLAME_CUT;
	return loc == PROF_MARK_BROKEN ? FLAME_BROKEN : FLAME_DAMAGED;
}

/* The frames of one location, outermost first; the innermost one's node. */
static uint32_t add_location(struct draft *d, uint32_t parent, uint32_t loc)
{
	const struct frame_keys *k = &d->rep->keys;
	uint32_t chain[INLINE_MAX + 1];
	size_t n = 0;

	if (prof_is_mark(loc))
		return child(d, parent, mark_fk(loc), false);
	for (uint32_t s = k->head[loc]; s != PROF_NONE && n <= INLINE_MAX;
	     s = k->steps[s].outer)
		chain[n++] = s;
	while (n-- && parent != PROF_NONE)
		parent = child(d, parent, k->steps[chain[n]].fk,
			       frame_step_inlined(k, chain[n]));
	return parent;
}

static bool touched(const struct fold *f, size_t n)
{
	return f->bits[n / 64] >> (n % 64) & 1;
}

/* Samples without any frame get one. */
static uint32_t sample_node(struct draft *d, uint32_t n)
{
	const struct prof_node *node = &d->rep->p->nodes.v[n];

	if ((!n || prof_is_mark(node->loc)) && fold_has_own(&d->rep->fold, n))
		return child(d, d->node_of[n], d->rep->keys.unknown, false);
	return d->node_of[n];
}

static int draft_nodes(struct draft *d)
{
	const struct prof_node *nodes = d->rep->p->nodes.v;
	const struct fold *f = &d->rep->fold;

	if (vec_push(&d->nodes, (struct draft_node){ 0, FLAME_ROOT, 0, 0 }) < 0)
		return -ERR_NOMEM;
	for (size_t n = 0; n < f->n; n++) {
		if (!touched(f, n))
			continue;
		d->node_of[n] = n ? add_location(d, d->node_of[nodes[n].parent],
						 nodes[n].loc)
				  : 0;
		if (d->node_of[n] == PROF_NONE)
			return -ERR_NOMEM;
		d->sample_of[n] = sample_node(d, (uint32_t)n);
		if (d->sample_of[n] == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Parents come before their children in a draft. */
static int draft_sums(struct draft *d)
{
	const struct fold *f = &d->rep->fold;
	size_t nc = f->ncols;

	d->total = calloc(d->nodes.n * nc + 1, sizeof(*d->total));
	if (!d->total)
		return -ERR_NOMEM;
	for (size_t n = 0; n < f->n; n++)
		for (size_t c = 0; touched(f, n) && c < nc; c++)
			cell_add(&d->total[d->sample_of[n] * nc + c],
				 fold_own(f, (uint32_t)n, c));
	for (size_t i = d->nodes.n; --i;)
		for (size_t c = 0; c < nc; c++)
			cell_add(&d->total[d->nodes.v[i].parent * nc + c],
				 d->total[i * nc + c]);
	return 0;
}

static int compare_nodes(const void *x, const void *y, void *ctx)
{
	const struct draft *d = ctx;
	uint32_t ia = *(const uint32_t *)x, ib = *(const uint32_t *)y;
	const struct draft_node *a = &d->nodes.v[ia], *b = &d->nodes.v[ib];
	size_t nc = d->rep->fold.ncols;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	for (size_t c = 0; c < nc; c++) {
		struct cell s = d->total[ia * nc + c], t = d->total[ib * nc + c];

		if (s.weight != t.weight)
			return s.weight > t.weight ? -1 : 1;
		if (s.count != t.count)
			return s.count > t.count ? -1 : 1;
	}
	if (a->fk != b->fk)
		return a->fk < b->fk ? -1 : 1;
	return a->inlined < b->inlined ? -1 : a->inlined > b->inlined;
}

/* Depth-first over the sorted nodes: `order` holds the children of a node in
 * one range, which begins at first[node]. */
static int number_nodes(struct draft *d, const uint32_t *order,
			const size_t *first, uint32_t *id_of)
{
	struct flame *f = d->f;
	VEC(uint32_t) stack = { 0 };	/* drafts whose children come next */
	int rc = vec_push(&stack, 0);

	while (!rc && stack.n) {
		uint32_t at = stack.v[--stack.n];
		const struct draft_node *x = &d->nodes.v[at];
		struct flame_node node = { id_of[x->parent], 0, x->fk,
					   (uint8_t)x->inlined };

		id_of[at] = (uint32_t)f->nodes.n;
		rc = vec_push(&f->nodes, node);
		for (size_t i = first[at + 1]; !rc && i-- > first[at];)
			rc = vec_push(&stack, order[i]);
	}
	vec_fini(&stack);
	return rc;
}

void flame_close_ranges(struct flame *f)
{
	for (size_t i = 0; i < f->nodes.n; i++)
		f->nodes.v[i].end = (uint32_t)i + 1;
	for (size_t i = f->nodes.n; --i;) {
		struct flame_node *up = &f->nodes.v[f->nodes.v[i].parent];

		if (f->nodes.v[i].end > up->end)
			up->end = f->nodes.v[i].end;
	}
}

/* Takes over the sums and the samples' nodes under the new numbers. */
static int take_over(struct draft *d, const uint32_t *id_of)
{
	struct flame *f = d->f;
	size_t nc = f->ncols;

	f->total = malloc((f->nodes.n * nc + 1) * sizeof(*f->total));
	if (!f->total)
		return -ERR_NOMEM;
	for (size_t i = 0; i < d->nodes.n; i++)
		memcpy(&f->total[id_of[i] * nc], &d->total[i * nc],
		       nc * sizeof(*f->total));
	for (size_t n = 0; n < d->rep->fold.n; n++)
		if (d->sample_of[n] != PROF_NONE)
			d->sample_of[n] = id_of[d->sample_of[n]];
	f->node_of = d->sample_of;
	d->sample_of = NULL;
	flame_close_ranges(f);
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
		qsort_r(order, n - 1, sizeof(*order), compare_nodes, d);
		rc = number_nodes(d, order, first, id_of);
	}
	if (!rc)
		rc = take_over(d, id_of);
	free(order);
	free(id_of);
	free(first);
	return rc;
}

int flame_build(struct flame *f, const struct report *rep, struct error *err)
{
	struct draft d = { .rep = rep, .f = f };
	size_t n = rep->p->nodes.n;
	int rc = -ERR_NOMEM;

	*f = (struct flame){ .rep = rep, .ncols = rep->fold.ncols };
	d.node_of = malloc((n + 1) * sizeof(*d.node_of));
	d.sample_of = malloc((n + 1) * sizeof(*d.sample_of));
	if (d.node_of && d.sample_of) {
		memset(d.sample_of, 0xff, (n + 1) * sizeof(*d.sample_of));
		rc = draft_nodes(&d);
	}
	if (!rc)
		rc = draft_sums(&d);
	if (!rc)
		rc = sort_nodes(&d);
	vec_fini(&d.nodes);
	idtab_fini(&d.tab);
	free(d.total);
	free(d.node_of);
	free(d.sample_of);
	if (!rc)
		return 0;
	flame_fini(f);
	return nomem(err);
}

void flame_fini(struct flame *f)
{
	vec_fini(&f->nodes);
	free(f->total);
	free(f->node_of);
	*f = (struct flame){ 0 };
}

double flame_share(const struct flame *f, size_t node)
{
	double most = 0;

	for (size_t c = 0; c < f->ncols; c++) {
		struct cell all = f->total[c], x = f->total[node * f->ncols + c];
		double s = 0;

		if (all.weight)
			s = (double)x.weight / (double)all.weight;
		else if (all.count)
			s = (double)x.count / (double)all.count;
		if (s > most)
			most = s;
	}
	return most;
}
