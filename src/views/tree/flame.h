/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_TREE_FLAME_H
#define TALLY_VIEWS_TREE_FLAME_H
/*
 * The tree of a flame graph: call stacks as functions, inlined ones included,
 * equal prefixes merged.  The SVG and the HTML page are drawn from it.
 *
 * Nodes lie in pre-order, children by their total (most first), so a subtree is
 * a range and equal recordings give equal trees.  Node 0 is the root: all
 * samples that were selected.
 */
#include "views/report.h"

/* Functions that are not in report.keys. */
enum {
	FLAME_BROKEN = 0xfffffff0u,	/* callers missing: unwinding failed */
	FLAME_CUT = 0xfffffff1u,	/* callers missing: deeper than copied */
	FLAME_DAMAGED = 0xfffffff2u,	/* rows lost from the file */
	FLAME_OTHER = 0xfffffff3u,	/* branches too small to be drawn */
	FLAME_ROOT = 0xfffffff4u,
	FLAME_SPECIAL = FLAME_BROKEN,	/* the first of them */
};

/* Recursion is drawn frame by frame to this depth, and folded below it. */
enum { FLAME_FOLD = 1000 };

struct flame_node {
	uint32_t parent, end;	/* its subtree is [own index, end) */
	uint32_t fk;		/* in report.keys, or FLAME_* */
	uint8_t inlined;
};

struct flame {
	const struct report *rep;
	size_t ncols;
	VEC(struct flame_node) nodes;
	struct cell *total;	/* [node * ncols + column] */
	uint32_t *node_of;	/* by node of the profile: where samples with
				 * this stack are, PROF_NONE: nowhere */
	bool folded;		/* some recursion was: deeper than FLAME_FOLD */
	size_t pruned;		/* nodes that went into FLAME_OTHER */
};

/* `rep` has one lane (no sample keys) and every frame; it must outlive f. */
int flame_build(struct flame *f, const struct report *rep, struct error *err);
void flame_fini(struct flame *f);

/* Sets where the branch of each node ends: parents come before their children. */
void flame_close_ranges(struct flame *f);

/* A node's share of all samples: the largest over the columns, 0 to 1. */
double flame_share(const struct flame *f, size_t node);

/* Sums branches below this share into one FLAME_OTHER for each parent.  Where
 * `moved` is given it becomes an array by old node of what it is now; free it. */
int flame_prune(struct flame *f, double share, uint32_t **moved,
		struct error *err);

/* From each function to its callers, branches below `share` summed.  `f` stays
 * as it is; out->node_of is NULL. */
int flame_invert(const struct flame *f, double share, struct flame *out,
		 struct error *err);

/* The name of a node, readable, as it is in the file (unsafe). */
void flame_name(const struct report *rep, uint32_t fk, struct buf *out);

#endif
