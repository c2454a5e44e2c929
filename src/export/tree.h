/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_TREE_H
#define TALLY_EXPORT_TREE_H
/*
 * The stacks of all selected samples as one tree of frames, parents before their
 * children: for formats that name a stack by its innermost node.
 */
#include "export/walk.h"

struct export_tree_node {
	uint32_t parent;	/* PROF_NONE: outermost */
	struct export_frame frame;
};

struct export_tree {
	VEC(struct export_tree_node) nodes;
	uint32_t *node_of;	/* by node of the profile that samples have:
				 * in nodes */
};

/* At most so many nodes: beyond, the recording is damaged or made to do harm. */
enum { EXPORT_TREE_NODES = 1 << 25 };

int export_tree_build(struct export *x, struct export_tree *t,
		      struct error *err);
void export_tree_fini(struct export_tree *t);

#endif
