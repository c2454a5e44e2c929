// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds one tree of all stacks (see tree.h). */
#include "export/tree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t add(struct export_tree *t, uint32_t parent,
		    const struct export_frame *f)
{
	struct export_tree_node n = { parent, *f };

	if (t->nodes.n >= EXPORT_TREE_NODES || vec_push(&t->nodes, n) < 0)
		return PROF_NONE;
	return (uint32_t)t->nodes.n - 1;
}

/* Adds the frames of x->frames below `parent`, outermost first. */
static int add_frames(struct export *x, struct export_tree *t, uint32_t parent,
		      uint32_t *out)
{
	*out = parent;
	for (size_t i = x->frames.n; i--;) {
		*out = add(t, *out, &x->frames.v[i]);
		if (*out == PROF_NONE)
			return -ERR_NOMEM;
	}
	return 0;
}

/* Adds the frames of a node.  below[n] becomes the parent of its children's
 * frames. */
static int add_node(struct export *x, struct export_tree *t, uint32_t n,
		    uint32_t *below)
{
	const struct prof_node *nodes = x->p->nodes.v;
	bool mark = !n || prof_is_mark(nodes[n].loc);
	uint32_t up = n ? below[nodes[n].parent] : PROF_NONE;
	int rc = mark ? export_mark(x, n ? nodes[n].loc : PROF_NONE)
		      : export_chain(x, nodes[n].loc);

	if (!rc)
		rc = add_frames(x, t, up, &below[n]);
	if (rc || !x->a.leaf_of[n])
		return rc;
	t->node_of[n] = below[n];
	if (mark) {
		struct export_frame f = { .fk = x->keys.unknown,
					  .loc = PROF_NONE };

		t->node_of[n] = add(t, below[n], &f);
		rc = t->node_of[n] == PROF_NONE ? -ERR_NOMEM : 0;
	}
	return rc;
}

int export_tree_build(struct export *x, struct export_tree *t,
		      struct error *err)
{
	const struct prof_node *nodes = x->p->nodes.v;
	size_t n = x->p->nodes.n;
	uint32_t *below = malloc((n + 1) * sizeof(*below));
	uint8_t *used = calloc(n + 1, 1);
	int rc = 0;

	*t = (struct export_tree){ 0 };
	t->node_of = malloc((n + 1) * sizeof(*t->node_of));
	if (!below || !used || !t->node_of)
		rc = -ERR_NOMEM;
	for (size_t i = 0; !rc && i < x->a.leaves.n; i++)
		for (uint32_t k = x->a.leaves.v[i]; !used[k];
		     k = nodes[k].parent)
			used[k] = 1;
	for (uint32_t i = 0; !rc && i < n; i++) {
		t->node_of[i] = PROF_NONE;
		if (used[i])
			rc = add_node(x, t, i, below);
		else if (!i)
			below[0] = PROF_NONE;
	}
	free(below);
	free(used);
	if (!rc)
		return 0;
	export_tree_fini(t);
	return error_nomem(err);
}

void export_tree_fini(struct export_tree *t)
{
	vec_fini(&t->nodes);
	free(t->node_of);
	*t = (struct export_tree){ 0 };
}
