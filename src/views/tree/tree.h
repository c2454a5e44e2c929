/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_TREE_H
#define TALLY_VIEWS_TREE_TREE_H
/* Inside of the report: grows one row's tree from the places in stacks (items)
 * where the row occurs.  See tree.c for how. */
#include "views/report.h"

struct tree_item {
	uint32_t node, step;
};

struct tree_branch {
	uint32_t fk, depth;
	bool inlined;
	size_t start, n;	/* its items */
};

/* Items with a cell for each column beside them. */
struct tree_items {
	VEC(struct tree_item) at;
	VEC(struct cell) cells;	/* [item * ncols + column] */
};

struct tree_builder {
	struct report *rep;
	const struct profile *p;
	const struct fold *f;
	const struct frame_keys *k;	/* of the tree */
	enum tree_mode mode;
	size_t ncols;
	uint32_t lane;
	bool recursive;	/* the branch that is expanded calls itself */
	struct tree_items *into;	/* where add_called adds */
	bool failed;
	bool too_many;	/* branches: why it failed, else for want of memory */
	struct tree_items arena;        /* items of branches that wait */
	struct tree_items now, next;    /* of the branch being expanded */
	VEC(struct tree_branch) wait;	/* last one is expanded first */
	VEC(struct values) wait_vals;
	VEC(struct tree_branch) groups;
	VEC(struct values) group_vals;
	VEC(uint32_t) group_order;
	uint32_t *group_of;		/* by fk: group + 1 in this expansion */
	/* callers: the item of `next` at a node, to merge equal ones */
	uint32_t *merge_at, *merge_stamp, stamp;
};

int tree_builder_init(struct tree_builder *b, struct report *rep,
		      struct error *err);
void tree_builder_fini(struct tree_builder *b);
/* Appends the tree of a row in b->lane, whose items are in b->now, to
 * report.tree. */
void tree_grow(struct tree_builder *b, struct row *row);

/* What stands one function further than the places in b->now. */
enum tree_step {
	TREE_STEP,		/* they are a branch's: its callers or callees */
	TREE_STEP_FIRST,	/* … where a function was found */
	TREE_STEP_GROUP,	/* the functions at these places themselves */
};
/* Into b->next, and b->groups by function in b->group_order; no group is left
 * out below the report's limit but those that the report does not show. */
void tree_step(struct tree_builder *b, enum tree_step step);

/* Where a tree begins: see tree_rows.c. */
enum tree_start { TREE_LEAVES, TREE_OUTERMOST, TREE_ROOTS };
/* All places of a frame key `fk` of `k` (PROF_NONE: of any) in a lane. */
int tree_find(struct report *rep, const struct frame_keys *k, uint32_t lane,
	      uint32_t fk, enum tree_start start, struct tree_items *out,
	      struct error *err);

/* Sets b->failed when out of memory. */
void tree_items_add(struct tree_builder *b, struct tree_items *x,
		    struct tree_item it, const struct cell *cells);
void tree_items_cut(struct tree_items *x, size_t n, size_t ncols);
void tree_items_fini(struct tree_items *x);

#endif
