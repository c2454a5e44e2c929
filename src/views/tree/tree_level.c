// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds one level of a tree on demand. */
#include "views/tree/tree_level.h"

#include <stdlib.h>
#include <string.h>

int tree_explorer_init(struct tree_explorer *x, struct report *rep,
		       struct error *err)
{
	*x = (struct tree_explorer){ .rep = rep };
	return tree_builder_init(&x->b, rep, err);
}

void tree_explorer_fini(struct tree_explorer *x)
{
	tree_builder_fini(&x->b);
	*x = (struct tree_explorer){ 0 };
}

void tree_level_free(struct tree_level *l)
{
	if (!l)
		return;
	tree_level_fini(l);
	free(l);
}

/* Builds the level one step from the places in b->now. */
static int make_level(struct tree_builder *b, enum tree_step step,
		      struct tree_level **out, struct error *err)
{
	struct tree_level *l = calloc(1, sizeof(*l));
	int rc = l ? 0 : -ERR_NOMEM;

	if (!rc) {
		tree_step(b, step);
		rc = tree_take_level(b, l);
	}
	if (b->failed)
		memset(b->group_of, 0, b->k->keys.n * sizeof(*b->group_of));
	b->failed = false;
	if (rc) {
		tree_level_free(l);
		return error_nomem(err);
	}
	*out = l;
	return 0;
}

/* Builds the level of the places that tree_find finds. */
static int start_level(struct tree_explorer *x, const struct frame_keys *k,
		       uint32_t lane, uint32_t fk, enum tree_start start,
		       enum tree_step step, struct tree_level **out,
		       struct error *err)
{
	struct tree_items found = { 0 };
	int rc = tree_find(x->rep, k, lane, fk, start, &found, err);

	if (!rc) {
		tree_items_fini(&x->b.now);
		x->b.now = found;
		x->b.lane = lane;
		rc = make_level(&x->b, step, out, err);
	} else {
		tree_items_fini(&found);
	}
	return rc;
}

int tree_level_row(struct tree_explorer *x, uint32_t row, enum tree_mode mode,
		   bool by_total, struct tree_level **out, struct error *err)
{
	const struct row *r = &x->rep->table.rows.v[row];
	bool function = key_list_has(&x->rep->spec.keys, KEY_SYMBOL);
	enum tree_start start = mode == TREE_CALLERS && !by_total
					? TREE_LEAVES : TREE_OUTERMOST;

	x->b.mode = mode;
	return start_level(x, &x->rep->keys, r->lane, r->fk, start,
			   function ? TREE_STEP_FIRST : TREE_STEP_GROUP, out,
			   err);
}

int tree_level_function(struct tree_explorer *x, uint32_t lane, uint32_t fk,
			enum tree_mode mode, struct tree_level **out,
			struct error *err)
{
	x->b.mode = mode;
	return start_level(x, x->rep->tree_keys, lane, fk, TREE_OUTERMOST,
			   TREE_STEP_FIRST, out, err);
}

int tree_level_roots(struct tree_explorer *x, uint32_t lane,
		     struct tree_level **out, struct error *err)
{
	x->b.mode = TREE_CALLEES;
	return start_level(x, &x->rep->keys, lane, PROF_NONE, TREE_ROOTS,
			   TREE_STEP_GROUP, out, err);
}

int tree_level_below(struct tree_explorer *x, uint32_t lane,
		     const struct tree_level *level, size_t child,
		     enum tree_mode mode, struct tree_level **out,
		     struct error *err)
{
	struct tree_builder *b = &x->b;
	int rc = fold_lane(&x->rep->fold, lane, err);

	if (rc < 0)
		return rc;
	tree_enter(b, level, child);
	b->mode = mode;
	b->lane = lane;
	return make_level(b, TREE_STEP, out, err);
}
