/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_TREE_H
#define TALLY_EXPORT_TREE_H
/*
 * The stacks of all selected samples as one tree of frames, parents before
 * children, for formats that identify a stack by its innermost node.  Nodes keep
 * the address and line of each frame, so equal functions are not merged as in
 * views/tree/calltree.h.
 */
#include "export/walk.h"

struct export_tree_node {
	uint32_t parent;	/* PROF_NONE: outermost */
	struct export_frame frame;
};

struct export_tree {
	VEC(struct export_tree_node) nodes;
	uint32_t *node_of;	/* index in `nodes`, by profile node with samples */
};

/* Maximum number of nodes; recordings with more are damaged or malicious. */
enum { EXPORT_TREE_NODES = 1 << 25 };

int export_tree_build(struct export *x, struct export_tree *t,
		      struct error *err);
void export_tree_fini(struct export_tree *t);

#endif
