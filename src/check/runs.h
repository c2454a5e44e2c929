/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_RUNS_H
#define TALLY_CHECK_RUNS_H
/*
 * Combines the recordings of two sides: the cost of each run by stack, and functions
 * that correspond in all files.
 *
 * A function is identified by the base name of its image and its linkage name
 * without the suffixes of compiler clones (.isra.0, .cold), so copies count as one.
 * If several functions of a recording have the same name, compare/func_match.h tells
 * them apart.  All unnamed code of an image is one function.
 */
#include "compare/match.h"
#include "profile/reader.h"
#include "views/query/framekey.h"
#include "views/code/line_match.h"

enum check_side { CHECK_BASE = COMPARE_OLD, CHECK_NEW = COMPARE_NEW };

struct check_file {
	enum check_side side;
	char *path;
	struct reader *reader;
	struct profile *p;
	uint32_t event;		/* the event that is compared */
	struct frame_keys keys;
	uint32_t *func;		/* by frame key: index in match.funcs */
	uint32_t *unit;		/* row (check_unit) by frame key */
	/* matches its lines with those of the newest recording of the new side;
	 * empty: line numbers are unchanged */
	struct line_map lines;
	uint32_t *file_of;	/* by str of p: number of a file in `lines` */
	VEC(struct compare_cell) cells;	/* run: index in check_runs.runs */
	double squares, sum;	/* over the weights of its samples */
	uint64_t samples, lost, throttled;
	bool weighted;		/* weights are periods, and at least one is not 0 */
};

struct check_run {
	uint32_t file, run;	/* run: number in the file */
	enum check_side side;
	uint64_t start_ns;	/* nanoseconds since 1970 */
	uint64_t samples;
	double cost;		/* in the event's unit */
};

/* The subject of a row: a function or one of its lines. */
struct check_unit {
	uint32_t func;		/* in match.funcs */
	uint32_t file, line;	/* str: path as recorded, 0 for a function; line as
				 * check_line returns it */
	uint32_t base;		/* str: base name of the file */
};

struct check_runs {
	struct strtab str;
	VEC(struct check_file) files;
	VEC(struct check_run) runs;	/* baseline first, in order of time */
	size_t nbase, nnew;
	struct compare_match match;	/* each file is one recording */
	struct labels labels;	/* of these functions, within their images */
	VEC(struct check_unit) units;
	struct idtab unit_tab;
};

struct check_runs_options {
	const char *event;	/* NULL: the first event of each file */
	bool by_line;
	bool no_inline;
	struct source_where where;	/* locations of the sources by which lines
					 * are matched */
};

/* Begins with no files.  Returns 0 or -ERR_NOMEM. */
int check_runs_init(struct check_runs *c, struct error *err);
void check_runs_fini(struct check_runs *c);
/* Adds a recording.  Takes ownership of the reader, also on error. */
int check_runs_add(struct check_runs *c, enum check_side side,
		   const char *path, struct reader *r, struct error *err);
/* Reads the files after the last one was added.  The order does not depend on the
 * order of addition.  Pairs renamed images and functions. */
int check_runs_finish(struct check_runs *c, const struct check_runs_options *o,
		      struct error *err);

/* Matches the lines of the wanted files, which are given by the str of their base
 * names (NULL: all), with those of the newest recording of the new side
 * (views/code/line_match.h).  Lines inserted above others then change none of them.
 * Returns 0 or -ERR_NOMEM. */
int check_runs_match_lines(struct check_runs *c, const struct source_where *where,
			   const uint8_t *wanted, size_t nwanted);

/* Refuses recordings whose costs are wrong or unknown: incomplete ones, those without
 * samples of the event (if `new_may_be_empty`, on the baseline only), and those that
 * lost more than 1 % of them.  Call it after check_runs_finish. */
int check_runs_usable(const struct check_runs *c, bool new_may_be_empty,
		      struct error *err);

/* Returns whether a function has a name. */
static inline bool check_func_named(const struct check_runs *c, uint32_t func)
{
	return func < c->match.nnamed;
}
/* Returns what distinguishes a function from others with its name in its image; ""
 * if it is the only one. */
static inline const char *check_func_which(const struct check_runs *c, uint32_t func)
{
	return label_within(&c->labels, func + 1);
}

/* Returns the baseline's function that became this one under another name, source
 * file or image, or PROF_NONE. */
static inline uint32_t check_func_before(const struct check_runs *c,
					 uint32_t func)
{
	return check_func_named(c, func) ? c->match.funcs.v[func].before
					 : PROF_NONE;
}

/* Returns the units of the event per sample: the larger value of the two sides, so
 * that noise is not underestimated.  Varying periods count as fewer samples. */
double check_per_sample(const struct check_runs *c);
/* Returns the self cost of `n` functions or units in each run, in samples: [run * n +
 * function or unit].  The caller frees it; NULL if memory ran out. */
double *check_self_costs(const struct check_runs *c, bool by_unit, size_t n,
			 double per_sample);

/* Returns the innermost frame key of a stack. */
uint32_t check_leaf(const struct check_file *f, uint32_t stack);
/* Returns the function that called the innermost one of a stack (of a wait: the
 * innermost function of the program itself), or PROF_NONE. */
uint32_t check_caller(const struct check_file *f, uint32_t stack);

/* Returns the line of the newest recording of the new side that corresponds to a
 * line of a source file (str of f->p).  It is unchanged if lines were not matched.
 * LINE_REMOVED is set if the newest recording lacks the line. */
uint32_t check_line(const struct check_file *f, uint32_t file, uint32_t line);

/* Appends "[k] name" or the like, readable but not safe for a terminal. */
void check_func_name(const struct check_runs *c, uint32_t func,
		     struct buf *out);
/* Returns the string with this str. */
const char *check_str(const struct check_runs *c, uint32_t id);
/* Compare strings, and functions by image and name. */
int check_compare_str(const struct check_runs *c, uint32_t a, uint32_t b);
int check_compare_funcs(const struct check_runs *c, uint32_t a, uint32_t b);

#endif
