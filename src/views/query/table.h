/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_TABLE_H
#define TALLY_VIEWS_QUERY_TABLE_H
/*
 * Rows of a report: what each (lane, frame key) took itself and with everything
 * it called.  A sample adds once to a row's total, however often the row occurs
 * in its stack.
 */
#include "views/query/fold.h"
#include "views/query/framekey.h"

struct values {
	struct cell self, total;
};

struct row {
	uint32_t lane, fk;
	uint32_t tree, tree_n;	/* its nodes in report.tree */
};

enum table_kind {
	TABLE_FUNCTIONS,	/* a row for every function in a stack */
	TABLE_ROOTS,		/* only for where stacks begin (or, with a
				 * frame filter, first match) */
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

/* Order of frame keys and lanes by what they show: for ties. */
int frame_key_compare(const struct profile *p, const struct frame_key *a,
		      const struct frame_key *b);
int lane_compare(const struct profile *p, const struct lane *a,
		 const struct lane *b);

#endif
