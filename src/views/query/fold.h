/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_FOLD_H
#define TALLY_VIEWS_QUERY_FOLD_H
/*
 * One lane of an aggregate, folded onto the tree of stacks: each node's own
 * sums and those of its whole subtree.  Only nodes that the lane touches are
 * visited, so many small lanes cost no more than their stacks.
 */
#include "views/query/aggregate.h"

struct fold {
	const struct aggregate *a;
	size_t n, words, ncols;
	uint64_t *bits;		/* touched nodes */
	struct cell *sub;	/* [node * ncols + column] */
	struct cell **own;	/* by column, then by leaf; NULL: no cost */
	size_t *own_cap;
	struct cell **scratch;	/* by column: buffer for sparse slots */
	uint32_t *first, *next;	/* children; 0 ends a list */
	uint32_t lane;		/* lane that is folded, or PROF_NONE */
};

int fold_init(struct fold *f, const struct aggregate *a, struct error *err);
void fold_fini(struct fold *f);
int fold_lane(struct fold *f, uint32_t lane, struct error *err);

/* Walks the touched nodes depth-first, except the root.  Children are visited
 * by ascending id. */
typedef void fold_visit(void *ctx, uint32_t node);
void fold_walk(const struct fold *f, fold_visit *enter, fold_visit *leave,
	       void *ctx);

static inline const struct cell *fold_sub(const struct fold *f, uint32_t node)
{
	return &f->sub[node * f->ncols];
}

static inline struct cell fold_own(const struct fold *f, uint32_t node,
				   size_t col)
{
	size_t leaf = f->a->leaf_of[node];

	return leaf && f->own[col] && leaf <= f->own_cap[col]
		       ? f->own[col][leaf - 1] : (struct cell){ 0, 0 };
}

static inline bool fold_has_own(const struct fold *f, uint32_t node)
{
	if (!f->a->leaf_of[node])
		return false;
	for (size_t c = 0; c < f->ncols; c++)
		if (fold_own(f, node, c).count)
			return true;
	return false;
}

#endif
