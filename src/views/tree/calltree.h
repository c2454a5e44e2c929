/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_CALLTREE_H
#define TALLY_VIEWS_TREE_CALLTREE_H
/*
 * The complete call tree of one or more recordings: call stacks as functions,
 * including inlined ones, with equal prefixes merged.  Flame graphs and the
 * HTML page are drawn from it; tree_level.h builds trees on demand.
 *
 *	struct calltree t;
 *	calltree_of(&t, rep, err);		the tree of one report
 *	calltree_prune(&t, share, NULL, err);	drop nodes too small to see
 *	for each node: calltree_func_name(rep, t.nodes.v[node].func, &name)
 *	calltree_fini(&t);
 *
 * Nodes are in pre-order and siblings are sorted by cost, largest first.  So a
 * subtree is a range, and equal recordings give equal trees.  Node 0 is the
 * root, which represents all selected samples.
 */
#include "views/report.h"

/* Special functions that occur in no recording. */
enum {
	CALLTREE_BROKEN = 0xfffffff0u,	/* callers missing: unwinding failed */
	/* callers missing: stack deeper than the copied bytes */
	CALLTREE_CUT = 0xfffffff1u,
	CALLTREE_DAMAGED = 0xfffffff2u,	/* rows lost from the file */
	CALLTREE_OTHER = 0xfffffff3u,	/* branches too small to be shown */
	CALLTREE_ROOT = 0xfffffff4u,
	CALLTREE_SPECIAL = CALLTREE_BROKEN,	/* the first of them */
};

enum {
	/* Depth up to which recursion is kept frame by frame; deeper recursion
	 * is folded. */
	CALLTREE_FOLD = 1000,
};

/* A recording whose stacks are part of the tree. */
struct calltree_source {
	/* report with one lane (no sample keys) and every frame; borrowed while
	 * building */
	const struct report *rep;
	/* function of the tree, by frame key; NULL: the key itself */
	const uint32_t *func_of;
	/* column of the tree by column of the report; PROF_NONE: none; NULL:
	 * the same */
	const uint32_t *col_of;
	unsigned int side;
	/* NULL, or set to an array by node of the profile, which the caller
	 * frees: the tree's node of samples with this stack, or PROF_NONE */
	uint32_t **node_of;
};

struct calltree_spec {
	const struct calltree_source *sources;
	size_t nsources, nsides, ncols;
	/* cost per unit of weight: [side * ncols + column]; NULL: 1 */
	const double *scale;
	/* an inlined function and a called one are the same child of a
	 * caller */
	bool merge_inlined;
};

struct calltree_node {
	uint32_t parent, end;	/* its subtree is [own index, end) */
	uint32_t func;		/* function, or CALLTREE_* */
	uint8_t inlined;	/* one bit per side: 1, 2 */
};

struct calltree {
	size_t nsides, ncols;
	VEC(struct calltree_node) nodes;
	struct cell *total;	/* [(node * nsides + side) * ncols + column] */
	double *scale;		/* [side * ncols + column] */
	/* by column: samples have no weights on one of the sides, so they are
	 * counted */
	bool *by_count;
	bool folded;		/* recursion deeper than CALLTREE_FOLD was folded */
	size_t pruned;		/* number of nodes merged into CALLTREE_OTHER */
};

/* Builds a tree.  Fails with -ERR_NOMEM only; *t is empty then. */
int calltree_build(struct calltree *t, const struct calltree_spec *spec,
		   struct error *err);
/* Builds the tree of one report; its functions are rep->keys. */
int calltree_of(struct calltree *t, const struct report *rep, struct error *err);
void calltree_fini(struct calltree *t);

static inline struct cell calltree_cell(const struct calltree *t, size_t node,
					unsigned int side, size_t col)
{
	return t->total[(node * t->nsides + side) * t->ncols + col];
}
/* Returns the cost of a node: the sum of both sides, scaled. */
double calltree_cost(const struct calltree *t, size_t node, size_t col);
/* Returns a node's share of all costs: the largest over the columns, 0 to 1. */
double calltree_share(const struct calltree *t, size_t node);

/* Merges branches below this share into one CALLTREE_OTHER per parent, its last
 * child.  If `moved` is not NULL, *moved becomes an array from old to new node,
 * which the caller frees. */
int calltree_prune(struct calltree *t, double share, uint32_t **moved,
		   struct error *err);

/* Builds an inverted tree, from each function to its callers, with branches
 * below `share` merged.  Uses the first column of a tree with one side.  `t`
 * does not change. */
int calltree_invert(const struct calltree *t, double share, struct calltree *out,
		    struct error *err);

/* Appends the readable name of a function of rep->keys, or of CALLTREE_*, as
 * unsafe text. */
void calltree_func_name(const struct report *rep, uint32_t func, struct buf *out);

#endif
