/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_TREE_LEVEL_H
#define TALLY_VIEWS_TREE_TREE_LEVEL_H
/*
 * Trees of callers and callees that grow one level at a time, where somebody
 * looks, for reports that were built `lazy`.  A whole tree is never made.
 *
 * Places are where a function is in stacks; the children of a branch are made of
 * its places alone.
 */
#include "views/tree/tree.h"

struct tree_child {
	uint32_t fk;		/* in report.tree_keys */
	bool inlined;		/* wherever it occurs here */
	size_t start, n;	/* of its places */
};

struct tree_level {
	bool recursive;		/* what it is below calls itself */
	size_t ncols;
	VEC(struct tree_child) children;	/* most first */
	VEC(struct values) vals;	/* [child * ncols + column] */
	struct tree_items places;
};

struct tree_explorer {
	struct report *rep;
	struct tree_builder b;
};

/* The report must outlive x. */
int tree_explorer_init(struct tree_explorer *x, struct report *rep,
		       struct error *err);
void tree_explorer_fini(struct tree_explorer *x);

/* Below a row of the report: its callers, those of its self cost or those of its
 * total, or its callees. */
int tree_level_row(struct tree_explorer *x, uint32_t row, enum tree_mode mode,
		   bool by_total, struct tree_level **out, struct error *err);
/* Below a function (in report.tree_keys), in all of a lane. */
int tree_level_function(struct tree_explorer *x, uint32_t lane, uint32_t fk,
			enum tree_mode mode, struct tree_level **out,
			struct error *err);
/* Where a lane's stacks begin. */
int tree_level_roots(struct tree_explorer *x, uint32_t lane,
		     struct tree_level **out, struct error *err);
/* Below a child of a level in the same lane. */
int tree_level_below(struct tree_explorer *x, uint32_t lane,
		     const struct tree_level *level, size_t child,
		     enum tree_mode mode, struct tree_level **out,
		     struct error *err);
void tree_level_free(struct tree_level *l);

static inline const struct values *tree_level_values(const struct tree_level *l,
						     size_t child)
{
	return &l->vals.v[child * l->ncols];
}

#endif
