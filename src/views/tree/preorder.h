/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_PREORDER_H
#define TALLY_VIEWS_TREE_PREORDER_H
/*
 * Numbers the nodes of a tree anew: each before its children, siblings in an
 * order that the caller wants.
 */
#include <stddef.h>
#include <stdint.h>

struct preorder {
	uint32_t *id_of;	/* by old number: the new one */
	uint32_t *at;		/* by new number: the old one */
};

/* The parent of a node, by old numbers; not asked for node 0, the root. */
typedef uint32_t preorder_parent(const void *ctx, uint32_t node);

/*
 * n nodes, at least the root.  `order` compares two old numbers as qsort_r(3)
 * does; it must put all children of a node beside each other, those of lower
 * parents first.  -ERR_NOMEM; to be freed by preorder_fini, also then.
 */
int preorder_init(struct preorder *p, size_t n, preorder_parent *parent,
		  int (*order)(const void *, const void *, void *), void *ctx);
void preorder_fini(struct preorder *p);

#endif
