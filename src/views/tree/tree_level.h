/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_TREE_LEVEL_H
#define TALLY_VIEWS_TREE_TREE_LEVEL_H
/*
 * Trees of callers and callees that are built one level at a time, on demand,
 * for reports built with `lazy`.  The whole tree is never built.
 *
 * Places are the positions of a function in stacks.  The children of a branch
 * are computed from its places alone.
 */
#include "views/tree/tree.h"

struct tree_explorer {
	struct report *rep;
	struct tree_builder b;
};

/* Initializes `x`.  The report must outlive it. */
int tree_explorer_init(struct tree_explorer *x, struct report *rep,
		       struct error *err);
void tree_explorer_fini(struct tree_explorer *x);

/* Builds the level below a row of the report: its callees, or its callers,
 * weighted by self or by total cost. */
int tree_level_row(struct tree_explorer *x, uint32_t row, enum tree_mode mode,
		   bool by_total, struct tree_level **out, struct error *err);
/* Builds the level below a function (an id of report.tree_keys), over a whole
 * lane. */
int tree_level_function(struct tree_explorer *x, uint32_t lane, uint32_t fk,
			enum tree_mode mode, struct tree_level **out,
			struct error *err);
/* Builds the level of functions where a lane's stacks begin. */
int tree_level_roots(struct tree_explorer *x, uint32_t lane,
		     struct tree_level **out, struct error *err);
/* Builds the level below a child of a level in the same lane. */
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
