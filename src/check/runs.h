/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_RUNS_H
#define TALLY_CHECK_RUNS_H
/*
 * Recordings of two sides brought together: each run of each file with its cost
 * by stack, and functions that mean the same in all files.
 *
 * A function is the base name of its image and its linkage name without what
 * compilers append to clones (.isra.0, .cold): copies count as one.  Where a
 * recording has several of that name, compare/func_match.h says which is which.  All that has
 * no name in an image is one function.
 */
#include "compare/match.h"
#include "profile/reader.h"
#include "views/query/framekey.h"
#include "views/code/line_match.h"

enum check_side { CHECK_BASE = COMPARE_OLD, CHECK_NEW = COMPARE_NEW };

struct check_cell {
	uint32_t run;		/* of the file */
	uint32_t stack;
	uint64_t weight, count;
};

struct check_file {
	enum check_side side;
	char *path;
	struct reader *reader;
	struct profile *p;
	uint32_t event;		/* the one that is compared */
	struct frame_keys keys;
	uint32_t *func;		/* by frame key: check_func */
	uint32_t *unit;		/* by frame key: row, see check_unit */
	uint32_t lines;		/* 1 + line_maps; 0: its lines are as they are */
	VEC(struct check_cell) cells;
	double squares, sum;	/* of the weights of its samples */
	uint64_t samples, lost, throttled;
	bool weighted;		/* weights are periods, not all 0 */
};

struct check_run {
	uint32_t file, run;
	enum check_side side;
	uint64_t start_ns;	/* since 1970 */
	uint64_t samples;
	double cost;		/* in the event's unit */
};

struct check_func {
	uint32_t image, name;	/* str: base name; linkage name, "" for code
				 * without names */
	uint32_t which;		/* str: tells it from others of its name in
				 * its image; 0: there are none */
	uint32_t file, line;	/* str: where it is declared, of the newest */
	bool kernel;
};

/* What a row stands for: a function, or one of its lines. */
struct check_unit {
	uint32_t func;
	uint32_t file, line;	/* str: path as recorded; 0 of a function; the
				 * line as check_line says */
	uint32_t base;		/* str: the file's base name */
};

struct check_runs {
	struct strtab str;
	VEC(struct check_file) files;
	VEC(struct check_run) runs;	/* baseline first, in order of time */
	size_t nbase, nnew;
	struct compare_match match;	/* a file is a recording */
	VEC(struct check_func) funcs;	/* those of match, then one for each
					 * image's code without names */
	VEC(struct check_unit) units;
	struct idtab func_tab, unit_tab;
	VEC(struct line_map) line_maps;	/* to the newest of the new side */
};

struct check_runs_options {
	const char *event;	/* NULL: the first one of each file */
	bool by_line;
	bool no_inline;
	struct source_where where;	/* sources that tell lines apart */
};

int check_runs_init(struct check_runs *c, struct error *err);
void check_runs_fini(struct check_runs *c);
/* Takes the reader, also when it fails. */
int check_runs_add(struct check_runs *c, enum check_side side,
		   const char *path, struct reader *r, struct error *err);
/* After the last file: reads them in an order that does not depend on how they
 * were added, and pairs images and functions that were renamed. */
int check_runs_finish(struct check_runs *c, const struct check_runs_options *o,
		      struct error *err);

/* Whether a function has a name: it is one of match.funcs. */
static inline bool check_func_named(const struct check_runs *c, uint32_t func)
{
	return func < c->match.funcs.n;
}

/* The function that had another name, source file or image in the baseline and
 * became this one, or PROF_NONE. */
static inline uint32_t check_func_before(const struct check_runs *c,
					 uint32_t func)
{
	return check_func_named(c, func) ? c->match.funcs.v[func].before
					 : PROF_NONE;
}

/* The innermost frame key of a stack. */
uint32_t check_leaf(const struct check_file *f, uint32_t stack);

/* What a line of a file (str: its base name) is in the newest recording of the new
 * side, where lines were matched; with LINE_GONE, that does not have it. */
uint32_t check_line(const struct check_runs *c, const struct check_file *f,
		    uint32_t base, uint32_t line);

/* "[k] name" or the like: readable, not yet safe for a terminal. */
void check_func_name(const struct check_runs *c, uint32_t func,
		     struct buf *out);
const char *check_str(const struct check_runs *c, uint32_t id);

#endif
