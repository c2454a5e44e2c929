/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_H
#define TALLY_VIEWS_DIFF_DIFF_H
/*
 * Two recordings compared: an old and a new one.
 *
 * Both are reports (report.h) whose frame keys are matched first: a key of the
 * diff stands for what has the same name on both sides (diff_match.c says what
 * that means).  Rows are what the keys asked for tell apart, with the cost on
 * both sides, the change, how sure that is, and whether it is more than noise.
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
 *	calltree_prune(&t, share, NULL, err);	what is too small to be seen
 *	for each node n, column c:
 *		diff_change_of(d, c, calltree_cell(&t, n, DIFF_OLD, c),
 *			       calltree_cell(&t, n, DIFF_NEW, c), &change)
 *	diff_tree_name(d, t.nodes.v[n].func, &name);
 */
#include "compare/match.h"
#include "views/code/line_match.h"
#include "views/report.h"
#include "views/code/sources.h"
#include "views/tree/calltree.h"

enum { DIFF_OLD = COMPARE_OLD, DIFF_NEW = COMPARE_NEW,
       DIFF_SIDES = COMPARE_SIDES };

/* What costs of both sides are divided by. */
enum diff_norm {
	DIFF_NORM_AUTO,
	DIFF_NORM_RUN,		/* what a run cost: whole runs of a command */
	DIFF_NORM_TIME,		/* what a second of recording cost */
	DIFF_NORM_TOTAL,	/* shares, in percent */
};

/* What comes first. */
enum diff_order {
	DIFF_BY_CHANGE,		/* most changed, either way */
	DIFF_BY_GROWTH,		/* grown most … shrunk most */
	DIFF_BY_RATIO,		/* farthest from 1, noise last */
	DIFF_BY_OLD, DIFF_BY_NEW,	/* dearest on that side */
	DIFF_BY_NAME,
};

struct diff_spec {
	struct key_list keys;	/* no pid, tid, run or event: these have no
				 * counterpart on the other side */
	struct select_spec select;
	enum diff_norm norm;
	enum diff_order order;
	bool no_inline;
	bool by_total;		/* order by what functions cost with those that
				 * they called */
	double limit;		/* percent of the dearer side's cost: rows that
				 * changed less are hidden */
	uint64_t at_least, top;	/* as in report_spec */
	const char *path[DIFF_SIDES];	/* for messages and heads; borrowed */
	struct source_where where[DIFF_SIDES];
	bool median;		/* of runs, instead of their mean: rows and
				 * totals */
};

/* A cost on both sides, in the column's unit (diff_unit). */
struct diff_change {
	double cost[DIFF_SIDES];
	double change, low, high;	/* new - old, and its 95 % interval */
	double p, q;		/* no change; q: adjusted for all rows tested */
	bool tested;		/* enough samples to tell anything */
	bool real;		/* more than noise: q at most 0.05 */
};

struct diff_row {
	uint32_t key;		/* in diff.keys */
	uint32_t comm, cpu;	/* str of diff.names; as in struct lane */
};

struct diff_side {
	const char *path;
	struct reader *reader;	/* borrowed */
	struct profile *p;
	struct report *rep;	/* its frame keys count as the diff's do */
	uint32_t *key_of;	/* by frame key: in diff.keys, PROF_NONE */
	uint32_t *row_of;	/* by row of rep: in diff.rows */
	uint32_t *str_of;	/* by str of p: of diff.names, PROF_NONE */
	const uint32_t *image_of;	/* by image of p: its name in the diff */
	const uint32_t *func_of;	/* by func of p: in diff.match.funcs */
	uint32_t *file_of;	/* by str of p: a source file's as matched */
	uint32_t *run_at;	/* by run of p: which of those selected, or
				 * PROF_NONE */
	size_t nruns;		/* selected */
	double seconds;		/* of these together */
	double *run_seconds;	/* by run selected */
};

/* An event of both sides. */
struct diff_column {
	uint32_t event[DIFF_SIDES];	/* of that side's profile */
	uint32_t col[DIFF_SIDES];	/* of that side's report */
	bool by_count;		/* samples without weights: they are counted */
	bool other_event;	/* what was measured differs: shares only */
	struct cell all[DIFF_SIDES];	/* selected */
	double lost[DIFF_SIDES];	/* 1 where nothing was lost, 1.1 where
					 * a sample stands for 1.1 */
	double per[DIFF_SIDES];	/* cost of a unit of weight: see diff_cost */
	double uneven;		/* 1 where all samples weigh the same */
	double tau;		/* standard deviation between runs, relative */
	double even;		/* how much less samples vary than chance */
	double shown_by;	/* costs are shown divided by this */
	const char *shown_unit;	/* … as these: "ms", "%", "" */
	struct diff_change total;
};

struct diff {
	struct diff_spec spec;
	struct diff_side side[DIFF_SIDES];
	enum diff_norm norm;	/* the one used */
	const char *why;	/* … and why, in words */
	bool tau_assumed;	/* one run a side says nothing of others */
	bool same_cpu;		/* both ran on the same kind of processor */
	struct profile names;	/* holds strings only */
	struct compare_match match;	/* a side is a recording */
	struct frame_keys keys;	/* strings of `names`; func: 1 + in match.funcs */
	struct line_map lines;		/* where lines are a key */
	VEC(uint32_t) key_fk[DIFF_SIDES];	/* by key: a frame key of that
					 * side, PROF_NONE: it has none */
	VEC(struct diff_column) cols;
	VEC(struct diff_row) rows;
	struct values *vals[DIFF_SIDES];	/* [row * ncols + column] */
	struct diff_change *self, *total;	/* [row * ncols + column] */
	uint32_t *moved_from, *moved_to;	/* by row: the row that most of what
				 * it gained was before, or that has most of
				 * what it lost; PROF_NONE */
	VEC(uint32_t) order;	/* rows to show */
	size_t hidden;		/* rows left out by limit and top */
	size_t tested, real;	/* rows, of the first column */
};

/* Borrows both readers until diff_free.  On an error *out is NULL. */
int diff_build(struct reader *const readers[DIFF_SIDES],
	       const struct diff_spec *spec, struct diff **out,
	       struct error *err);
void diff_free(struct diff *d);

static inline const struct diff_change *
diff_row_change(const struct diff *d, uint32_t row, size_t col, bool total)
{
	return &(total ? d->total : d->self)[row * d->cols.n + col];
}
static inline const struct values *diff_values(const struct diff *d, int side,
					       uint32_t row)
{
	return &d->vals[side][row * d->cols.n];
}
/* What samples of a column cost, normalised. */
double diff_cost(const struct diff *d, int side, size_t col, struct cell c);
/* The change between two such costs that runs of the sides are taken for one of
 * each: for lines, instructions, branches.  `change->q` is p. */
void diff_change_of(const struct diff *d, size_t col, struct cell old,
		    struct cell now, struct diff_change *change);
/* What costs of a column are: "ns a run", "ns/s", "%", "a run", "/s". */
const char *diff_unit(const struct diff *d, size_t col);
const char *diff_norm_name(enum diff_norm n);	/* "run", "time", "total" */
/* A cost as a number of the column's shown_unit: "12.30"; with a sign where
 * asked. */
void diff_put_cost(const struct diff *d, size_t col, double cost, bool sign,
		   struct buf *out);
/* A cost that stands alone, in the unit that suits it: "12.30 ms". */
void put_cost_scaled(const struct diff *d, size_t col, double cost, bool sign,
		     struct buf *out);
/* What a column's event is called. */
const char *diff_event_name(const struct diff *d, size_t col);
/* The line of a key on a side, where lines are a key; 0: it has none. */
uint32_t diff_line(const struct diff *d, uint32_t key, int side);
/* The readable name of a key's function, whole and unsafe. */
void diff_name(const struct diff *d, uint32_t key, struct buf *out);
/* The same where its image is not shown (names.h). */
void diff_name_alone(const struct diff *d, uint32_t key, struct buf *out);
/* What names it in all recordings: see name_stable. */
void diff_name_stable(const struct diff *d, uint32_t key, struct buf *out);
/* The function that a key stands for had another name, source file or image on the
 * old side, which is appended; false if not. */
bool diff_name_before(const struct diff *d, uint32_t key, struct buf *out);
/* The function of the old side that became the one of a key; NULL: it has not
 * changed its name or place. */
const struct compare_func *diff_before(const struct diff *d,
				       const struct frame_key *key);

enum diff_status { DIFF_SAME, DIFF_GREW, DIFF_SHRANK, DIFF_CAME, DIFF_WENT,
		   DIFF_MOVED };
/* What happened to a row in a column; DIFF_SAME: nothing beyond noise, DIFF_MOVED:
 * related rows lost as much, or all of it is elsewhere now. */
enum diff_status diff_status(const struct diff *d, uint32_t row, size_t col,
			     bool total);
const char *diff_status_name(enum diff_status s);

/* The call tree of both sides: its functions are d->keys, its columns d->cols, its
 * costs those of diff_cost; stacks are equal whether functions were inlined or not.
 * The diff's keys are image and symbol, nothing else, or it fails with -ERR_USAGE. */
int diff_tree(const struct diff *d, struct calltree *t, struct error *err);
/* The readable name of a function of that tree, unsafe. */
void diff_tree_name(const struct diff *d, uint32_t func, struct buf *out);

struct diff_style {
	int columns;		/* cut at this width; 0: never */
	bool color;
	bool full_names, no_header, samples;
};

void diff_text(const struct diff *d, const struct diff_style *style,
	       struct buf *out);
void diff_json(const struct diff *d, struct buf *out);
void diff_csv(const struct diff *d, struct buf *out);
/* Lines that begin with "#": what is compared, and how far to trust it. */
void diff_head(const struct diff *d, int columns, struct buf *out);

/* diff_match.c: matches what both sides' frame keys name. */
int diff_match(struct diff *d);
/* diff_stats.c: fills d->self, d->total and the columns' own. */
int diff_stats(struct diff *d);
/* A string of one side in d->names; PROF_NONE when out of memory. */
uint32_t diff_str(struct diff *d, int side, uint32_t str);

#endif
