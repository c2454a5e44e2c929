/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_REPORT_H
#define TALLY_VIEWS_REPORT_H
/*
 * The report of a profile: rows, trees and what can be trusted, worked out once
 * and then written as text, JSON or CSV.  Equal files and options give equal
 * bytes.
 */
#include "views/quality/missing.h"
#include "views/query/columns.h"
#include "views/quality/quality.h"

enum tree_mode {
	TREE_NONE,
	TREE_CALLERS,	/* below a function those that called it */
	TREE_CALLEES,	/* from where stacks begin to what they called */
};

struct report_spec {
	struct key_list keys;
	struct select_spec select;
	enum tree_mode tree;
	bool lazy;		/* no tree is grown: tree_level.h does it */
	bool no_inline;		/* only functions that really exist */
	bool by_total;		/* order by total, trees of total */
	double limit; /* percent; rows and branches below are hidden */
	uint64_t at_least;	/* but so many rows are shown whatever they
				 * have, if it is anything */
	uint64_t top;		/* rows at most, 0: all */
};

struct tree_node {
	uint32_t fk;		/* in report.tree_keys */
	uint32_t depth;		/* 0: right below the row */
	bool inlined;		/* wherever it occurs here */
	bool recursive;		/* calls itself */
};

struct report {
	struct profile *p;
	struct report_spec spec;
	struct selection sel;
	struct aggregate agg;
	struct frame_keys keys, own_tree_keys;
	const struct frame_keys *tree_keys;	/* one of both above */
	struct fold fold;
	struct row_table table;
	struct quality quality;
	struct missing missing;
	VEC(uint32_t) order;	/* rows to show, in order */
	size_t below_limit;	/* rows hidden by spec.limit */
	size_t beyond_top;	/* … and by spec.top */
	VEC(struct tree_node) tree;	/* pre-order */
	VEC(struct values) tree_vals;	/* [node * ncols + column] */
};

enum { REPORT_COLUMNS_MAX = 64, TREE_DEPTH_MAX = 400,
       TREE_NODES_MAX = 8000000 };

/* Reads the samples of `r` once; `r` and what `spec` points to are borrowed until
 * report_free.  On an error *out is NULL. */
int report_build(struct reader *r, const struct report_spec *spec,
		 struct report **out, struct error *err);
/* The same in two steps: between them frame keys may be made to count as others
 * (diff.h). */
int report_prepare(struct reader *r, const struct report_spec *spec,
		   struct report **out, struct error *err);
int report_complete(struct report *rep, struct error *err);
void report_free(struct report *rep);

/* The event that a row's values in a column belong to. */
uint32_t report_event(const struct report *rep, uint32_t lane, size_t col);
/* A share of all selected samples of that event: by weight, or by number where
 * the event's samples have no weight. */
double report_percent(const struct report *rep, uint32_t lane, size_t col,
		      struct cell c);
static inline const struct values *report_values(const struct report *rep,
						 uint32_t row)
{
	return &rep->table.vals.v[row * rep->table.ncols];
}
/* What the report is ordered by. */
static inline struct cell report_metric(const struct report *rep,
					const struct values *v)
{
	return rep->spec.by_total ? v->total : v->self;
}
/* What the cells of a row are about (columns.h): its keys, … */
void report_at_row(const struct report *rep, uint32_t row, struct column_at *x);
/* … and its numbers of one event; v: its values, or those of a branch. */
void report_at_event(const struct report *rep, uint32_t lane, size_t col,
		     const struct values *v, struct column_at *x);
/* True when a set of columns reaches the limit in one of them. */
bool report_shows(const struct report *rep, uint32_t lane,
		  const struct values *v, bool total);

/* tree.c: fills rep->tree for the rows in rep->order. */
int report_trees(struct report *rep, struct error *err);

struct text_style {
	int columns;		/* cut at this width; 0: never */
	bool color;
	bool full_names;	/* whole template arguments and parameters */
	bool no_header;
	bool samples;		/* a column of sample numbers */
	bool no_total;		/* self only */
	size_t missing;		/* images told that lack names or lines */
};

/* Append what the report holds; out->failed: out of memory. */
void report_text(const struct report *rep, const struct text_style *style,
		 struct buf *out);
void report_json(const struct report *rep, struct buf *out);
void report_csv(const struct report *rep, struct buf *out);

#endif
