/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_REPORT_H
#define TALLY_VIEWS_REPORT_H
/*
 * The report of a profile: rows, trees and data quality, computed once and then
 * written as text, JSON or CSV.  Equal files and options give equal bytes.
 */
#include "views/quality/missing.h"
#include "views/query/columns.h"
#include "views/quality/quality.h"

enum tree_mode {
	TREE_NONE,
	TREE_CALLERS,	/* callers below each function */
	TREE_CALLEES,	/* callees, from where stacks begin */
};

struct report_spec {
	struct key_list keys;
	struct select_spec select;
	enum tree_mode tree;
	bool lazy;		/* tree_level.h builds the tree on demand */
	bool no_inline;		/* count inlined functions as part of their caller */
	bool spread;		/* measure how much weights vary (agg.squares) */
	bool by_total;		/* order by total; trees of total */
	double limit; /* percent; rows and branches below are hidden */
	/* minimum number of rows shown despite `limit`, if they have any
	 * cost */
	uint64_t at_least;
	uint64_t top;		/* maximum number of rows; 0: all */
};

struct tree_node {
	uint32_t fk;		/* id in report.tree_keys */
	uint32_t depth;		/* 0: directly below the row */
	bool inlined;		/* inlined at every occurrence here */
	bool recursive;		/* calls itself */
};

struct report {
	struct profile *p;
	struct report_spec spec;
	struct selection sel;
	struct aggregate agg;
	struct frame_keys keys, own_tree_keys;
	const struct frame_keys *tree_keys;	/* either of the two above */
	struct fold fold;
	struct row_table table;
	struct quality quality;
	struct missing missing;
	VEC(uint32_t) order;	/* displayed rows, in order */
	size_t below_limit;	/* number of rows hidden by spec.limit */
	size_t beyond_top;	/* number of rows hidden by spec.top */
	uint64_t max_memory;	/* size of `tree` and its values, in bytes */
	VEC(struct tree_node) tree;	/* pre-order; empty without report_with_trees */
	VEC(struct values) tree_vals;	/* [node * ncols + column] */
};

enum { REPORT_COLUMNS_MAX = 64, TREE_DEPTH_MAX = 400,
       TREE_NODES_MAX = 8000000 /* or what max_memory allows */ };

/* Builds a report without trees (tree/tree.h); reads the samples of `r` once.
 * `r` and what `spec` points to are borrowed until report_free.  On an error *out
 * is NULL. */
int report_build(struct reader *r, const struct report_spec *spec,
		 struct report **out, struct error *err);
/* Do the same in two steps.  Between them, frame keys may be made equal to
 * others (diff.h). */
int report_prepare(struct reader *r, const struct report_spec *spec,
		   struct report **out, struct error *err);
int report_complete(struct report *rep, struct error *err);
void report_free(struct report *rep);

/* Returns the event of a row's values in a column. */
uint32_t report_event(const struct report *rep, uint32_t lane, size_t col);
/* Returns the percentage of all selected samples of that event, by weight.  If
 * the event's samples have no weight, it is the percentage of their number. */
double report_percent(const struct report *rep, uint32_t lane, size_t col,
		      struct cell c);
static inline const struct values *report_values(const struct report *rep,
						 uint32_t row)
{
	return &rep->table.vals.v[row * rep->table.ncols];
}
/* Returns the cell by which the report is ordered. */
static inline struct cell report_metric(const struct report *rep,
					const struct values *v)
{
	return rep->spec.by_total ? v->total : v->self;
}
/* Fills the subject of a row's cells (columns.h): first its keys … */
void report_at_row(const struct report *rep, uint32_t row, struct column_at *x);
/* … and then its numbers of one event.  `v`: values of the row or of a
 * branch. */
void report_at_event(const struct report *rep, uint32_t lane, size_t col,
		     const struct values *v, struct column_at *x);
/* Returns whether any column reaches the limit. */
bool report_shows(const struct report *rep, uint32_t lane,
		  const struct values *v, bool total);

struct text_style {
	int columns;		/* maximum width; 0: unlimited */
	bool color;
	bool full_names;	/* show template arguments and parameters */
	bool no_header;
	bool samples;		/* show a column of sample counts */
	bool no_total;		/* show self cost only */
	size_t missing;		/* number of reported images without names or lines */
};

/* Append the report to `out`; out->failed: out of memory. */
void report_text(const struct report *rep, const struct text_style *style,
		 struct buf *out);
void report_json(const struct report *rep, struct buf *out);
void report_csv(const struct report *rep, struct buf *out);

#endif
