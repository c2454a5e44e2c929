/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_TABLE_H
#define TALLY_VIEWS_QUERY_TABLE_H
/*
 * Rows of a report: the self and total cost of each lane and frame key.  A
 * sample adds once to a row's total, even if the row occurs repeatedly in its
 * stack.
 */
#include "views/query/fold.h"
#include "views/query/framekey.h"

struct values {
	struct cell self, total;
};

/* Compares the totals of `n` events. */
static inline bool values_same_totals(const struct values *a,
				      const struct values *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i].total.count != b[i].total.count ||
		    a[i].total.weight != b[i].total.weight)
			return false;
	return true;
}

struct row {
	uint32_t lane, fk;
	uint32_t tree, tree_n;	/* range of its nodes in report.tree */
};

enum table_kind {
	TABLE_FUNCTIONS,	/* one row per function in a stack */
	/* only functions where stacks begin (or, with a frame filter, first
	 * match) */
	TABLE_ROOTS,
};

struct row_table {
	VEC(struct row) rows;		/* lane by lane */
	VEC(struct values) vals;	/* [row * ncols + column] */
	VEC(uint32_t) lane_end;		/* by lane: end of its rows */
	size_t ncols;
};

int table_build(struct row_table *t, struct fold *f, const struct frame_keys *k,
		enum table_kind kind, struct error *err);
void table_fini(struct row_table *t);

static inline size_t table_lane_start(const struct row_table *t, uint32_t lane)
{
	return lane ? t->lane_end.v[lane - 1] : 0;
}

/* Compare frame keys and lanes by what they show, to break ties. */
int frame_key_compare(const struct profile *p, const struct frame_key *a,
		      const struct frame_key *b);
int lane_compare(const struct profile *p, const struct lane *a,
		 const struct lane *b);

#endif
