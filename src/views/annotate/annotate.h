/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_ANNOTATE_H
#define TALLY_VIEWS_ANNOTATE_ANNOTATE_H
/*
 * Functions with what their lines and instructions cost, worked out from the
 * recording alone and then written as text or JSON.
 *
 * A unit is what is shown together: a function with all its copies (its own code
 * and every place it was inlined into), or a source file.  For each sample the
 * chain of frames at its instruction is followed outwards to the first frame of
 * the unit: the sample counts for that frame's line, as `self` when the
 * instruction was written there, else as `inlined` (it belongs to a function that
 * was inlined at that line).  So a unit's lines add up to its samples exactly.
 * Where no such frame is at its instruction, but further out on its stack, the
 * sample counts as `called` for the line of the nearest: what calls made there
 * cost.
 *
 * A code is a function as it really exists in an image: its instructions with
 * what they cost.  These add up to the samples in it exactly.
 */
#include "compare/labels.h"
#include "views/code/sources.h"
#include "views/quality/quality.h"

enum annotate_kind { UNIT_FUNCTION, UNIT_FILE, UNIT_CODE };

/* A unit that is wanted, by its row. */
struct annot_pick {
	uint8_t kind;		/* enum annotate_kind */
	uint32_t id;		/* func, str of a file, or symbol */
};

struct annotate_spec {
	struct select_spec select;
	const char *what;	/* function, FILE[:LINE], image; NULL: hottest */
	const uint8_t *funcs;	/* of the hottest only these: by row of
				 * profile.funcs; NULL: all */
	const struct annot_pick *pick;	/* instead of `what`, or NULL */
	uint64_t top;		/* units at most, 0: all */
	double limit;		/* percent: units below are left out, unless
				 * they were named */
	bool code;		/* instructions are wanted */
	bool by_symbol;		/* units are functions as they really exist:
				 * UNIT_CODE, each with all in it */
	bool intel;
	struct source_where where;	/* sources may be, too */
};

struct annot_cost {
	struct cell self, inlined;
	struct cell called;	/* of lines and units only */
};

/* Whose line a frame is. */
struct frame_owner_of {
	uint32_t unit;		/* 1 + its index in units; 0: none */
	size_t line_cost;	/* row of costs */
};
enum { ANNOT_OWNERS = 2 };	/* a function and a file */

struct annot_line {
	uint32_t file, line;	/* str; 0: not known */
	uint32_t image;
};

/* Who paid for a copy of a function: the one it was inlined into, or PROF_NONE
 * for its own code. */
struct annot_copy {
	uint32_t caller;	/* func */
};

struct annot_insn {
	uint64_t vaddr, target;
	uint32_t frame;		/* innermost, or PROF_NONE */
	uint32_t text;		/* offset in annotation.text; NUL-terminated */
	uint32_t jump;		/* its target within the code, or PROF_NONE */
	uint8_t size, flow;	/* as in struct disasm_insn */
	bool bad, has_target, has_data;
	bool landing;		/* something in the code jumps here */
};

struct annot_jump {
	uint32_t from, to;	/* instructions, counted from the code's first */
	uint8_t lane;		/* 0 is next to the code; ANNOT_LANES: none */
	bool loop;		/* goes back */
};
enum { ANNOT_LANES = 6 };

struct annot_code {
	uint32_t symbol;	/* profile.symbols */
	const char *missing;	/* why there are no instructions, or NULL */
	bool unknown;		/* … because its bytes are not at hand */
	size_t insn, ninsns;
	size_t jump, njumps;
	size_t total;		/* costs[total * ncols]: self is all of it */
};

struct annot_unit {
	uint8_t kind;		/* enum annotate_kind */
	uint32_t func;		/* UNIT_FUNCTION: its first row (same_func) */
	uint32_t file;		/* UNIT_FILE: str */
	uint32_t symbol;	/* UNIT_CODE: profile.symbols */
	uint32_t image;		/* one that it is in */
	size_t line, nlines;	/* in annotation.lines, by file and line */
	size_t copy, ncopies;	/* dearest first */
	size_t code, ncodes;	/* dearest first */
	size_t total;		/* costs[total * ncols] */
};

/* What a location cost: by image and vaddr. */
struct annot_loc {
	uint32_t image, loc;
	uint64_t vaddr;
	uint32_t symbol;	/* that covers it, or PROF_NONE */
};

/* A location or frame that belongs to a unit or symbol. */
struct annot_hit {
	uint32_t loc;		/* in annotation.locs, or PROF_NONE */
	uint32_t frame;		/* the innermost that is the unit's */
};
/* Hits by unit or symbol: those of i are v[first[i]] up to v[first[i + 1]]. */
struct annot_index {
	size_t *first;
	struct annot_hit *v;
};

struct annotation {
	struct profile *p;
	struct annotate_spec spec;
	struct selection sel;
	struct aggregate agg;
	struct quality quality;
	struct sources sources;
	size_t ncols;
	VEC(struct annot_unit) units;	/* as they are to be shown */
	size_t hidden;			/* units left out by limit and top */
	VEC(struct annot_line) lines;
	VEC(struct annot_copy) copies;
	VEC(struct annot_code) codes;
	VEC(struct annot_insn) insns;
	VEC(struct annot_jump) jumps;
	/* All costs, ncols to a row: of lines (line_cost), copies… */
	VEC(struct annot_cost) costs;
	VEC(size_t) line_cost, copy_cost, insn_cost;
	struct buf text;		/* of instructions */
	bool has_calls;			/* any `called` cost */
	/* while building */
	struct cell *loc_cells;		/* [loc * ncols + column] */
	VEC(struct annot_loc) locs;	/* those with cost */
	uint32_t *by_symbol;		/* symbols by image and vaddr */
	uint32_t *by_code;		/* profile.codes by image and vaddr */
	uint32_t *by_line;		/* profile.lines by image and vaddr */
	struct annot_index in_unit;	/* hits: locs with a frame of a unit;
					 * of UNIT_CODE: in its symbol */
	struct annot_index of_unit;	/* hits: frames of a unit, ascending */
	struct annot_index in_symbol;	/* hits: locs in a symbol */
	struct frame_owner_of *owners;	/* by frame: ANNOT_OWNERS each */
	struct identity same;		/* across images */
	const uint32_t *same_func;	/* same.func */
	struct labels labels;
};

/* Reads the samples of `r` once and works out what `spec` wants; both are borrowed
 * until annotate_free.  On an error *out is NULL. */
int annotate_build(struct reader *r, const struct annotate_spec *spec,
		   struct annotation **out, struct error *err);
void annotate_free(struct annotation *a);
/* Builds the units again, of the samples as they were read: for a symbol part
 * that has got more rows.  After an error `a` can only be freed. */
int annotate_again(struct annotation *a, struct error *err);

static inline const struct annot_cost *annot_costs(const struct annotation *a,
						   size_t row)
{
	return &a->costs.v[row * a->ncols];
}
static inline struct cell annot_sum(const struct annot_cost *c)
{
	struct cell s = c->self;

	cell_add(&s, c->inlined);
	return s;
}
/* All samples selected of a column's event. */
static inline struct cell annot_all(const struct annotation *a, size_t col)
{
	return a->agg.shown[a->agg.cols.v[col]];
}
/* The line at which an instruction is in a unit: the frame, or PROF_NONE. */
uint32_t annot_unit_frame(const struct annotation *a,
			  const struct annot_unit *u, uint32_t frame);
/* Whether any of a unit's lines is known. */
bool annot_unit_has_lines(const struct annotation *a,
			  const struct annot_unit *u);
/* A function's or file's name, unsafe; full or shortened. */
void annot_unit_name(const struct annotation *a, const struct annot_unit *u,
		     bool full, struct buf *out);
/* What is at an address of an image, as "name" or "name+0x10"; false: nothing
 * known. */
bool annot_address_name(const struct annotation *a, uint32_t image,
			uint64_t vaddr, struct buf *out);

/* What is known of where in the code an event's samples land. */
/* The event of a column. */
static inline const struct prof_event *annot_event(const struct annotation *a,
						   size_t col)
{
	return &a->p->events.v[a->agg.cols.v[col]];
}
const char *annot_skid(const struct prof_event *e);

struct annotate_style {
	int columns;		/* cut at this width; 0: never */
	bool color;
	bool source, code;	/* what to show: at least one */
	bool automatic;		/* code only where there is no source */
	bool full_names, no_header, samples;
	bool all;		/* nothing is folded */
	unsigned int context;	/* lines shown around one that cost something */
};

/* Append; sources are read while they write.  out->failed: out of memory. */
void annotate_text(struct annotation *a, const struct annotate_style *style,
		   struct buf *out);
void annotate_json(struct annotation *a, const struct annotate_style *style,
		   struct buf *out);

/* annotate_units.c: chooses and orders what is shown. */
int annotate_choose(struct annotation *a, struct error *err);
/* annotate_lines.c: lines and copies of a unit. */
int annotate_lines(struct annotation *a, struct annot_unit *u);
/* annotate_calls.c: a frame's line, told by annotate_lines; then, with all units
 * there, what was called. */
void annotate_own(struct annotation *a, const struct annot_unit *u,
		  uint32_t frame, size_t line_cost);
int annotate_calls(struct annotation *a);
/* Sets callers[func] (by same_func) of all that called what has samples. */
int annotate_callers(struct annotation *a, uint8_t *callers);
/* annotate_code.c: instructions of the functions that a unit is in. */
int annotate_codes(struct annotation *a, struct annot_unit *u);
/* A new row of costs, all 0; SIZE_MAX when out of memory. */
size_t annotate_cost_row(struct annotation *a);
/* Adds a location's cost to a row. */
void annotate_add(struct annotation *a, size_t row, uint32_t loc, bool inlined);
/* annotate_hits.c: fills in_unit and of_unit, once units are chosen; in_symbol.
 * 0 or -ERR_NOMEM. */
int annotate_index_units(struct annotation *a);
int annotate_index_symbols(struct annotation *a);
void annotate_index_fini(struct annot_index *x);

#endif
