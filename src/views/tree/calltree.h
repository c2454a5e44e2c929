/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_CALLTREE_H
#define TALLY_VIEWS_TREE_CALLTREE_H
/*
 * The call tree of one or more recordings, whole: call stacks as functions,
 * inlined ones included, equal prefixes merged.  Flame graphs and the HTML page
 * are drawn from it; tree_level.h grows trees on demand.
 *
 *	struct calltree t;
 *	calltree_of(&t, rep, err);		the tree of one report
 *	calltree_prune(&t, share, NULL, err);	what is too small to be seen
 *	for each node: calltree_func_name(rep, t.nodes.v[node].func, &name)
 *	calltree_fini(&t);
 *
 * Nodes lie in pre-order, siblings by their cost (most first), so a subtree is a
 * range and equal recordings give equal trees.  Node 0 is the root: all samples
 * that were selected.
 */
#include "views/report.h"

/* Functions that no recording has. */
enum {
	CALLTREE_BROKEN = 0xfffffff0u,	/* callers missing: unwinding failed */
	CALLTREE_CUT = 0xfffffff1u,	/* callers missing: deeper than copied */
	CALLTREE_DAMAGED = 0xfffffff2u,	/* rows lost from the file */
	CALLTREE_OTHER = 0xfffffff3u,	/* branches too small to be shown */
	CALLTREE_ROOT = 0xfffffff4u,
	CALLTREE_SPECIAL = CALLTREE_BROKEN,	/* the first of them */
};

enum {
	/* Recursion is kept frame by frame to this depth, and folded below it. */
	CALLTREE_FOLD = 1000,
	CALLTREE_SIDES = 2,
};

/* One recording whose stacks are part of the tree. */
struct calltree_source {
	const struct report *rep;	/* borrowed while building; has one lane (no
					 * sample keys) and every frame */
	const uint32_t *func_of;	/* function of the tree by frame key; NULL:
					 * the key itself */
	const uint32_t *col_of;	/* column of the tree by column of the report,
				 * PROF_NONE: none; NULL: the same */
	unsigned int side;
	uint32_t **node_of;	/* NULL, or set to an array by node of the profile:
				 * the tree's node where samples with this stack
				 * are, PROF_NONE: nowhere.  The caller frees it. */
};

struct calltree_spec {
	const struct calltree_source *sources;
	size_t nsources, nsides, ncols;
	const double *scale;	/* cost of a unit of weight: [side * ncols + column];
				 * NULL: 1 */
	bool merge_inlined;	/* a function is one child of its caller, whether
				 * it was inlined or called */
};

struct calltree_node {
	uint32_t parent, end;	/* its subtree is [own index, end) */
	uint32_t func;		/* or CALLTREE_* */
	uint8_t inlined;	/* a bit for each side: 1, 2 */
};

struct calltree {
	size_t nsides, ncols;
	VEC(struct calltree_node) nodes;
	struct cell *total;	/* [(node * nsides + side) * ncols + column] */
	double *scale;		/* [side * ncols + column] */
	bool *by_count;		/* by column: samples have no weights on one of the
				 * sides, so they are counted */
	bool folded;		/* some recursion was: deeper than CALLTREE_FOLD */
	size_t pruned;		/* nodes that went into CALLTREE_OTHER */
};

/* Fails with -ERR_NOMEM only; *t is empty then. */
int calltree_build(struct calltree *t, const struct calltree_spec *spec,
		   struct error *err);
/* The tree of one report: its functions are rep->keys. */
int calltree_of(struct calltree *t, const struct report *rep, struct error *err);
void calltree_fini(struct calltree *t);

static inline struct cell calltree_cell(const struct calltree *t, size_t node,
					unsigned int side, size_t col)
{
	return t->total[(node * t->nsides + side) * t->ncols + col];
}
/* What a node costs: the sum of both sides, scaled. */
double calltree_cost(const struct calltree *t, size_t node, size_t col);
/* A node's share of all costs: the largest over the columns, 0 to 1. */
double calltree_share(const struct calltree *t, size_t node);

/* Sums branches below this share into one CALLTREE_OTHER for each parent, the last
 * of its children.  Where `moved` is given it becomes an array by old node of what
 * it is now; free it. */
int calltree_prune(struct calltree *t, double share, uint32_t **moved,
		   struct error *err);

/* From each function to its callers, branches below `share` summed, by the first
 * column of a tree with one side.  `t` stays as it is. */
int calltree_invert(const struct calltree *t, double share, struct calltree *out,
		    struct error *err);

/* The readable name of a function of rep->keys, or of CALLTREE_*: unsafe, as it is in
 * the file. */
void calltree_func_name(const struct report *rep, uint32_t func, struct buf *out);

/* For calltree_invert.c: an empty tree, to be freed also after -ERR_NOMEM … */
int calltree_begin(struct calltree *t, size_t nsides, size_t ncols,
		   const double *scale);
/* … and where each subtree ends.  Parents come before their children. */
void calltree_close_ranges(struct calltree *t);

#endif
