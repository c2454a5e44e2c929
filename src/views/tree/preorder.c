// SPDX-License-Identifier: GPL-2.0-or-later
/* Renumbers a tree in preorder. */
#include "views/tree/preorder.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vec.h"

/* `order` holds the children of a node from first[node] on. */
static int number(struct preorder *p, const uint32_t *order,
		  const size_t *first)
{
	VEC(uint32_t) stack = { 0 };
	uint32_t n = 0;
	int rc = vec_push(&stack, 0);

	while (!rc && stack.n) {
		uint32_t node = stack.v[--stack.n];

		p->id_of[node] = n;
		p->at[n++] = node;
		for (size_t i = first[node + 1]; !rc && i-- > first[node];)
			rc = vec_push(&stack, order[i]);
	}
	vec_fini(&stack);
	return rc;
}

int preorder_init(struct preorder *p, size_t n, preorder_parent *parent,
		  int (*order)(const void *, const void *, void *), void *ctx)
{
	uint32_t *sorted = malloc((n + 1) * sizeof(*sorted));
	size_t *first = calloc(n + 2, sizeof(*first));
	int rc = -ERR_NOMEM;

	p->id_of = calloc(n + 1, sizeof(*p->id_of));
	p->at = calloc(n + 1, sizeof(*p->at));
	if (sorted && first && p->id_of && p->at) {
		for (uint32_t i = 1; i < n; i++) {
			sorted[i - 1] = i;
			first[parent(ctx, i) + 1]++;
		}
		for (size_t i = 0; i < n; i++)
			first[i + 1] += first[i];
		if (n > 1)
			qsort_r(sorted, n - 1, sizeof(*sorted), order, ctx);
		rc = number(p, sorted, first);
	}
	free(sorted);
	free(first);
	return rc;
}

void preorder_fini(struct preorder *p)
{
	free(p->id_of);
	free(p->at);
	*p = (struct preorder){ 0 };
}
