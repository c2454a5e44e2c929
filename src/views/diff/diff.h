/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_H
#define TALLY_VIEWS_DIFF_DIFF_H
/*
 * Compares two recordings, an old and a new one.
 *
 * Both are reports (report.h) whose frame keys are matched first: a key of the
 * diff represents what matches on both sides (diff_match.c defines this).  Rows
 * are the combinations of the requested keys.  Each has its cost on both sides,
 * the change, the confidence in it, and whether it exceeds noise.
 *
 *	struct diff *d;
 *	diff_build(readers, &spec, &d, err);
 *	for each row r in d->order, column c:
 *		diff_change(d, r, c, false)->cost[DIFF_OLD] …
 *	diff_name(d, d->rows.v[r].key, &name);
 *
 * A differential flame graph comes from a diff whose keys are image and symbol:
 *
 *	struct calltree t;
 *	diff_tree(d, &t, err);			one tree of both sides' stacks
 *	calltree_prune(&t, share, NULL, err);	drop nodes too small to see
 *	for each node n, column c:
 *		diff_change_of(d, c, calltree_cell(&t, n, DIFF_OLD, c),
 *			       calltree_cell(&t, n, DIFF_NEW, c), &change)
 *	diff_tree_name(d, t.nodes.v[n].func, &name);
 */
#include "compare/estimate.h"
#include "compare/match.h"
#include "views/code/line_match.h"
#include "views/report.h"
#include "views/code/sources.h"
#include "views/tree/calltree.h"

enum { DIFF_OLD = COMPARE_OLD, DIFF_NEW = COMPARE_NEW,
       DIFF_SIDES = COMPARE_SIDES };

/* Divisor of the costs of both sides. */
enum diff_norm {
	DIFF_NORM_AUTO,
	DIFF_NORM_RUN,		/* cost per run, for whole runs of a command */
	DIFF_NORM_TIME,		/* cost per second of recording */
	DIFF_NORM_TOTAL,	/* shares, in percent */
};

/* Sort order. */
enum diff_order {
	DIFF_BY_CHANGE,		/* largest change first, either direction */
	DIFF_BY_GROWTH,		/* largest growth first, largest decrease last */
	DIFF_BY_RATIO,		/* ratio farthest from 1 first, noise last */
	DIFF_BY_OLD, DIFF_BY_NEW,	/* most expensive on that side first */
	DIFF_BY_NAME,
};

struct diff_spec {
	/* no pid, tid, run or event: they have no counterpart on the other
	 * side */
	struct key_list keys;
	struct select_spec select;
	enum diff_norm norm;
	enum diff_order order;
	bool no_inline;
	bool by_total;		/* order by total instead of self cost */
	/* percent of the more expensive side's cost; rows that changed less are
	 * hidden */
	double limit;
	uint64_t at_least, top;	/* as in report_spec */
	const char *path[DIFF_SIDES];	/* for messages and heads; borrowed */
	struct source_where where[DIFF_SIDES];
	/* use the median of runs instead of their mean, for rows and totals */
	bool median;
};

struct diff_row {
	uint32_t key;		/* index in diff.keys */
	uint32_t comm, cpu;	/* str of diff.names; cpu as in struct lane */
	uint32_t wait;		/* str of diff.names */
};

struct diff_side {
	const char *path;
	struct reader *reader;	/* borrowed */
	struct profile *p;
	/* its frame keys have the identity that the diff uses */
	struct report *rep;
	VEC(struct compare_cell) cells;	/* samples of any event by stack */
	uint32_t *key_of;	/* by frame key: index in diff.keys, or PROF_NONE */
	uint32_t *row_of;	/* by row of rep: index in diff.rows */
	const uint32_t *image_of;	/* by image of p: its name in the diff */
	const uint32_t *func_of;	/* by func of p: index in diff.match.funcs */
	uint32_t *file_of;	/* by str of p: matched number of a source file */
	/* by run of p: index among selected runs, or PROF_NONE */
	uint32_t *run_at;
	size_t nruns;		/* number of selected runs */
	double seconds;		/* duration of these runs together */
	double *run_seconds;	/* by selected run */
};

/* An event of both sides. */
struct diff_column {
	uint32_t event[DIFF_SIDES];	/* index in that side's profile */
	uint32_t col[DIFF_SIDES];	/* index in that side's report */
	bool by_count;		/* samples without weights: their number is the cost */
	bool other_event;	/* the sides measured different things: shares only */
	struct cell all[DIFF_SIDES];	/* sum of selected samples */
	/* represented samples per recorded sample: 1 if none were lost */
	double lost[DIFF_SIDES];
	double per[DIFF_SIDES];	/* cost per unit of weight (diff_cost) */
	double uneven;		/* 1 if all samples have equal weight */
	double tau;		/* relative standard deviation between runs */
	double even;		/* variance of samples relative to chance */
	double shown_by;	/* divisor of displayed costs */
	const char *shown_unit;	/* unit of displayed costs: "ms", "%", "" */
	struct cost_change total;
};

struct diff {
	struct diff_spec spec;
	struct diff_side side[DIFF_SIDES];
	enum diff_norm norm;	/* the normalisation used */
	const char *why;	/* reason for it, as text */
	bool tau_assumed;	/* tau is assumed: one run per side has no variation */
	bool same_cpu;		/* both ran on the same CPU model, or it is unknown */
	struct profile names;	/* holds strings only */
	struct compare_match match;	/* each side is one recording */
	struct frame_keys keys;	/* strings of `names`; func: 1 + index in match.funcs */
	struct line_map lines;		/* if lines are a key */
	/* by key: frame key of that side, or PROF_NONE */
	VEC(uint32_t) key_fk[DIFF_SIDES];
	VEC(struct diff_column) cols;
	VEC(struct diff_row) rows;
	struct values *vals[DIFF_SIDES];	/* [row * ncols + column] */
	struct cost_change *self, *total;	/* [row * ncols + column] */
	/* by row: row that most of its gain came from, and row that most of its
	 * loss went to; PROF_NONE: none */
	uint32_t *moved_from, *moved_to;
	VEC(uint32_t) order;	/* displayed rows, in order */
	size_t hidden;		/* number of rows omitted by `limit` and `top` */
	size_t tested, real;	/* number of rows of the first column */
};

/* Compares two recordings.  Borrows both readers until diff_free.  On an error
 * *out is NULL. */
int diff_build(struct reader *const readers[DIFF_SIDES],
	       const struct diff_spec *spec, struct diff **out,
	       struct error *err);
void diff_free(struct diff *d);

/* Builds a side's report by image and symbol whose rows are not divided by runs.  Its
 * frame keys have the identity and the numbers of those of diff_side.rep. */
int diff_side_report(const struct diff *d, int side, struct report **out,
		     struct error *err);

static inline const struct cost_change *
diff_row_change(const struct diff *d, uint32_t row, size_t col, bool total)
{
	return &(total ? d->total : d->self)[row * d->cols.n + col];
}
static inline const struct values *diff_values(const struct diff *d, int side,
					       uint32_t row)
{
	return &d->vals[side][row * d->cols.n];
}
/* Returns the normalised cost of samples of a column. */
double diff_cost(const struct diff *d, int side, size_t col, struct cell c);
/* Computes the change between two costs, for lines, instructions and branches.
 * It treats each side's runs as one.  `change->q` is p. */
void diff_change_of(const struct diff *d, size_t col, struct cell old,
		    struct cell now, struct cost_change *change);
/* Returns the unit of a column's costs: "ns a run", "ns/s", "%", "a run",
 * "/s". */
const char *diff_unit(const struct diff *d, size_t col);
const char *diff_norm_name(enum diff_norm n);	/* "run", "time", "total" */
/* Appends a cost as a number in the column's shown_unit: "12.30"; with a sign
 * if `sign`. */
void diff_put_cost(const struct diff *d, size_t col, double cost, bool sign,
		   struct buf *out);
/* Appends a single cost in a suitable unit: "12.30 ms". */
void put_cost_scaled(const struct diff *d, size_t col, double cost, bool sign,
		     struct buf *out);
/* Returns the name of a column's event. */
const char *diff_event_name(const struct diff *d, size_t col);
/* Returns the line of a key on a side if lines are a key; 0 if it has none. */
uint32_t diff_line(const struct diff *d, uint32_t key, int side);
/* Appends the full readable name of a key's function, as unsafe text. */
void diff_name(const struct diff *d, uint32_t key, struct buf *out);
/* Appends the name as shown without its image (names.h). */
void diff_name_alone(const struct diff *d, uint32_t key, struct buf *out);
/* Appends the name that identifies it in all recordings (see name_stable). */
void diff_name_stable(const struct diff *d, uint32_t key, struct buf *out);
/* Appends the old name, source file or image if the function of a key had
 * another one on the old side.  Returns false otherwise. */
bool diff_name_before(const struct diff *d, uint32_t key, struct buf *out);
/* Returns the old function that became the function of a key; NULL if its name
 * and place are unchanged. */
const struct compare_func *diff_before(const struct diff *d,
				       const struct frame_key *key);

enum diff_status { DIFF_SAME, DIFF_GREW, DIFF_SHRANK, DIFF_ADDED, DIFF_REMOVED,
		   DIFF_MOVED };
/* Returns the change of a row in a column.  DIFF_SAME: within noise.
 * DIFF_MOVED: related rows lost as much, or all of its cost moved elsewhere. */
enum diff_status diff_status(const struct diff *d, uint32_t row, size_t col,
			     bool total);
const char *diff_status_name(enum diff_status s);

/*
 * Builds the call tree of both sides.  Its functions are d->keys, its columns
 * d->cols, and its costs those of diff_cost.  Inlined and called functions are
 * equal in stacks.  Fails with -ERR_USAGE unless the diff's keys are image and
 * symbol only.
 */
int diff_tree(const struct diff *d, struct calltree *t, struct error *err);
/* Appends the readable name of a function of that tree, as unsafe text. */
void diff_tree_name(const struct diff *d, uint32_t func, struct buf *out);

struct diff_style {
	int columns;		/* maximum width; 0: unlimited */
	bool color;
	bool full_names, no_header, samples;
};

void diff_text(const struct diff *d, const struct diff_style *style,
	       struct buf *out);
void diff_json(const struct diff *d, struct buf *out);
void diff_csv(const struct diff *d, struct buf *out);
/* Appends lines that begin with "#": what is compared, and how reliable it
 * is. */
void diff_head(const struct diff *d, int columns, struct buf *out);

/* diff_match.c: matches the frame keys of both sides. */
int diff_match(struct diff *d);
/* diff_stats.c: fills d->self, d->total and the statistics of columns. */
int diff_stats(struct diff *d);

#endif
