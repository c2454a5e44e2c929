/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_TREE_H
#define TALLY_VIEWS_TREE_TREE_H
/* Trees of a report.  A row's tree is built from the places in stacks (items) where the
 * row occurs.  tree.c describes the algorithm. */
#include "views/report.h"

/* Builds a report as report_build does, and the trees of its rows, if spec->tree asks for
 * them. */
int report_with_trees(struct reader *r, const struct report_spec *spec,
		      struct report **out, struct error *err);

struct tree_item {
	uint32_t node, step;
};

struct tree_branch {
	uint32_t fk;
	bool inlined;
	size_t n;		/* number of its items */
};

/* Items, with a cell per column for each. */
struct tree_items {
	VEC(struct tree_item) at;
	VEC(struct cell) cells;	/* [item * ncols + column] */
};

struct tree_child {
	uint32_t fk;		/* id in report.tree_keys */
	bool inlined;		/* inlined at every occurrence here */
	size_t start, n;	/* range of its places */
};

struct tree_level {
	bool recursive;		/* the parent is recursive */
	size_t ncols;
	VEC(struct tree_child) children;	/* largest cost first */
	VEC(struct values) vals;	/* [child * ncols + column] */
	struct tree_items places;
};

/* A level whose children are being shown. */
struct tree_open {
	struct tree_level level;
	size_t next;		/* its next child */
};

struct tree_builder {
	struct report *rep;
	const struct profile *p;
	const struct fold *f;
	const struct frame_keys *k;	/* keys of the tree */
	enum tree_mode mode;
	size_t ncols;
	uint32_t lane;
	bool recursive;	/* the branch being expanded is recursive */
	struct tree_items *into;	/* destination of add_called */
	bool failed;
	/* it failed because of too many branches, not for lack of memory */
	bool too_many;
	struct tree_items now, next;    /* items of the branch being expanded */
	VEC(struct tree_open) open;	/* by depth; memory of closed ones is kept */
	VEC(struct tree_branch) groups;
	VEC(struct values) group_vals;
	VEC(uint32_t) group_order;
	uint32_t *group_of;		/* by fk: 1 + group in this expansion */
	/* For callers: by node, the item of `next` there that was added last, used
	 * to merge equal ones; any other number if there is none. */
	uint32_t *merge_at;
	/* by node: a node farther out in direct recursion; 0: not yet known */
	uint32_t *recursion_top;
};

int tree_builder_init(struct tree_builder *b, struct report *rep,
		      struct error *err);
void tree_builder_fini(struct tree_builder *b);

/* The functions to look up for the places in b->now. */
enum tree_step {
	TREE_STEP,		/* callers or callees of a branch's places */
	/* callers or callees of places where a function was found */
	TREE_STEP_FIRST,
	TREE_STEP_GROUP,	/* the functions at these places themselves */
};
/* Fills b->next, and b->groups by function.  b->group_order is sorted and omits
 * groups below the report's limit. */
void tree_step(struct tree_builder *b, enum tree_step step);
/* Takes these groups with their places as a level, whose memory is used again.  Returns
 * 0 or -ERR_NOMEM. */
int tree_take_level(struct tree_builder *b, struct tree_level *l);
void tree_level_fini(struct tree_level *l);
/* Sets b->now to the places of a child. */
void tree_enter(struct tree_builder *b, const struct tree_level *l, size_t child);

/* Start of a tree. */
enum tree_start { TREE_LEAVES, TREE_OUTERMOST, TREE_ROOTS };
/* Finds all places of frame key `fk` of `k` in a lane; PROF_NONE: of any
 * key. */
int tree_find(struct report *rep, const struct frame_keys *k, uint32_t lane,
	      uint32_t fk, enum tree_start start, struct tree_items *out,
	      struct error *err);

void tree_items_fini(struct tree_items *x);

#endif
