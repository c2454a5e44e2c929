// SPDX-License-Identifier: GPL-2.0-or-later
/* Visits each location of a stack once, from the inside out. */
#include "views/query/outward.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { STRETCH = 256 };	/* minimum number of nodes between two lists */

/* Goes on with a node: by its list, if it has one. */
static void go_on(const struct outward_index *x, struct outward *o, uint32_t node)
{
	o->node = node;
	o->at = o->end = 0;
	if (node && x->list_of && x->list_of[node]) {
		const struct outward_list *l =
			&x->lists.v[x->list_of[node] - 1];

		o->node = 0;
		o->at = l->start;
		o->end = l->start + l->n;
	}
}

struct outward outward_begin(const struct outward_index *x, uint32_t node)
{
	struct outward o = { .passed = 0 };

	go_on(x, &o, node);
	return o;
}

bool outward_next(const struct outward_index *x, struct outward *o,
		  uint32_t *loc)
{
	const struct prof_node *n;

	if (o->passed++ == OUTWARD_MOST)
		return false;
	if (!o->node) {
		if (o->at == o->end)
			return false;
		*loc = x->locs.v[o->at++];
		return true;
	}
	n = &x->p->nodes.v[o->node];
	*loc = n->loc;
	go_on(x, o, n->parent);
	return true;
}

/* Adds a list with each location once.  Marks come last; they are handled like
 * locations that do not exist. */
static int add_list(struct outward_index *x, uint32_t node, uint32_t *seen)
{
	struct outward_list l = { node, (uint32_t)x->locs.n, 0 };
	uint32_t stamp = (uint32_t)x->lists.n + 1, loc;
	struct outward o = outward_begin(x, node);

	while (outward_next(x, &o, &loc)) {
		if (loc < x->p->locs.n) {
			if (seen[loc] == stamp)
				continue;
			seen[loc] = stamp;
		}
		if (vec_push(&x->locs, loc) < 0)
			return -ERR_NOMEM;
	}
	l.n = (uint32_t)x->locs.n - l.start;
	if (vec_push(&x->lists, l) < 0)
		return -ERR_NOMEM;
	x->list_of[node] = (uint32_t)x->lists.n;
	return 0;
}

/* Computes the distance from each node to its farthest descendant. */
static void find_heights(const struct profile *p, uint32_t *height)
{
	for (size_t i = p->nodes.n; --i;) {
		uint32_t *up = &height[p->nodes.v[i].parent];

		if (*up <= height[i])
			*up = height[i] + 1;
	}
}

/*
 * Computes each node's distance to a list or to the root, in one pass, because
 * parents come before children.  A list is made where this distance and the
 * height below are about the length of the list.  So all lists together have at
 * most two entries per node.
 */
static int make_lists(struct outward_index *x, uint32_t *far,
		      const uint32_t *height, uint32_t *seen)
{
	const struct prof_node *nodes = x->p->nodes.v;
	uint32_t *last = calloc(x->p->nodes.n + 1, sizeof(*last));
	int rc = last ? 0 : -ERR_NOMEM;

	for (uint32_t i = 1; !rc && i < x->p->nodes.n; i++) {
		uint32_t up = nodes[i].parent, known;

		far[i] = far[up] + 1;
		last[i] = last[up];
		known = last[i] ? x->lists.v[last[i] - 1].n : 0;
		if (far[i] < STRETCH || far[i] < known || height[i] < far[i])
			continue;
		rc = add_list(x, i, seen);
		last[i] = (uint32_t)x->lists.n;
		far[i] = 0;
	}
	free(last);
	return rc;
}

int outward_init(struct outward_index *x, const struct profile *p)
{
	uint32_t *far, *height, *seen;
	int rc = -ERR_NOMEM;

	*x = (struct outward_index){ .p = p };
	x->list_of = calloc(p->nodes.n + 1, sizeof(*x->list_of));
	far = calloc(p->nodes.n + 1, sizeof(*far));
	height = calloc(p->nodes.n + 1, sizeof(*height));
	seen = calloc(p->locs.n + 1, sizeof(*seen));
	if (x->list_of && far && height && seen) {
		find_heights(p, height);
		rc = make_lists(x, far, height, seen);
	}
	free(far);
	free(height);
	free(seen);
	if (rc)
		outward_fini(x);
	return rc;
}

void outward_fini(struct outward_index *x)
{
	free(x->list_of);
	vec_fini(&x->lists);
	vec_fini(&x->locs);
	*x = (struct outward_index){ 0 };
}
