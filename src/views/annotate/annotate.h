/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_ANNOTATE_H
#define TALLY_VIEWS_ANNOTATE_ANNOTATE_H
/*
 * The cost of the lines and instructions of functions, computed from the
 * recording alone and then written as text or JSON.
 *
 * A unit is shown as one: either a source file, or a function with all its
 * copies.  The copies are its own code and every place it was inlined into.
 * For each sample, the chain of frames at its instruction is followed outwards
 * to the first frame of the unit.  The sample counts for that frame's line.  It
 * counts as `self` if the instruction was written there, and as `inlined` if it
 * belongs to a function inlined at that line.  So a unit's lines add up to its
 * samples exactly.
 *
 * If only frames further out on the stack belong to the unit, the sample counts
 * as `called` for the line of the innermost one.  This is the cost of calls
 * made there.
 *
 * A code is a function as it exists in an image: its instructions with their
 * costs.  These add up to the samples in it exactly.
 */
#include "base/search.h"
#include "compare/labels.h"
#include "views/code/sources.h"
#include "views/quality/quality.h"
#include "views/query/names.h"

enum annotate_kind { UNIT_FUNCTION, UNIT_FILE, UNIT_CODE };

/* A selected unit, by its row. */
struct annot_pick {
	uint8_t kind;		/* enum annotate_kind */
	uint32_t id;		/* func, str of a file, or symbol (by kind) */
};

struct annotate_spec {
	struct select_spec select;
	/* function, FILE[:LINE] or image; NULL: the hottest functions */
	const char *what;
	/* by row of profile.funcs: candidates for the hottest functions; NULL:
	 * all */
	const uint8_t *funcs;
	const struct annot_pick *pick;	/* replaces `what`; may be NULL */
	uint64_t top;		/* maximum number of units; 0: all */
	double limit;		/* minimum percentage of a unit, unless it is named */
	bool code;		/* compute costs of instructions too */
	/* units are functions as they exist in images (UNIT_CODE), each with
	 * everything inlined into it */
	bool by_symbol;
	bool intel;
	struct source_where where;	/* options for looking up sources */
};

struct annot_cost {
	struct cell self, inlined;
	struct cell called;	/* set for lines and units only */
};

/* The line and unit that a frame counts for. */
struct frame_owner_of {
	uint32_t unit;		/* 1 + index in units; 0: none */
	size_t line_cost;	/* row of costs */
};
enum { ANNOT_OWNERS = 2 };	/* a function and a file */

struct annot_line {
	uint32_t file, line;	/* str; 0: unknown */
	uint32_t image;
	size_t cost;		/* row of costs */
};

/* A copy of a function: the function it was inlined into, or PROF_NONE for its
 * own code. */
struct annot_copy {
	uint32_t caller;	/* func */
	size_t cost;		/* row of costs */
};

struct annot_insn {
	uint64_t vaddr, target;
	uint32_t frame;		/* innermost frame, or PROF_NONE */
	uint32_t text;		/* offset in annotation.text; NUL-terminated */
	/* index of the jump target within the code, or PROF_NONE */
	uint32_t jump;
	uint8_t size, flow;	/* as in struct disasm_insn */
	bool bad, has_target, has_data;
	size_t cost;		/* row of costs */
};

struct annot_jump {
	uint32_t from, to;	/* instructions, counted from the start of the code */
	uint8_t lane;		/* 0 is next to the code; ANNOT_LANES: not drawn */
	bool loop;		/* backward jump */
};
enum { ANNOT_LANES = 6 };

struct annot_code {
	uint32_t symbol;	/* index in profile.symbols */
	const char *missing;	/* reason why there are no instructions, or NULL */
	/* the reason is that the code's bytes are unavailable */
	bool unknown;
	size_t insn, ninsns;
	size_t jump, njumps;
	size_t total;		/* costs[total * ncols]; all of it is `self` */
};

struct annot_unit {
	uint8_t kind;		/* enum annotate_kind */
	uint32_t func;		/* UNIT_FUNCTION: first row (same_func) */
	uint32_t file;		/* UNIT_FILE: str */
	uint32_t symbol;	/* UNIT_CODE: index in profile.symbols */
	uint32_t image;		/* one of the images that contain it */
	size_t line, nlines;	/* range in annotation.lines, by file and line */
	size_t copy, ncopies;	/* range, most expensive first */
	size_t code, ncodes;	/* range, most expensive first */
	size_t total;		/* costs[total * ncols] */
};

/* A location with its cost, sorted by image and vaddr. */
struct annot_loc {
	uint32_t image, loc;
	uint64_t vaddr;
	uint32_t symbol;	/* symbol that covers it, or PROF_NONE */
};

/* A location or frame that belongs to a unit or symbol. */
struct annot_hit {
	uint32_t loc;		/* index in annotation.locs, or PROF_NONE */
	uint32_t frame;		/* innermost frame of the unit */
};
/* Hits by unit or symbol.  Those of i are v[first[i]] to v[first[i + 1] -
 * 1]. */
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
	VEC(struct annot_unit) units;	/* in display order */
	/* number of units omitted by `limit` and `top` */
	size_t hidden;
	VEC(struct annot_line) lines;
	VEC(struct annot_copy) copies;
	VEC(struct annot_code) codes;
	size_t max_insns;		/* what the limit of memory allows */
	VEC(struct annot_insn) insns;
	VEC(struct annot_jump) jumps;
	VEC(struct annot_cost) costs;	/* ncols per row: of lines, copies … */
	struct buf text;		/* text of instructions */
	bool has_calls;			/* any `called` cost */
	/* Used while building. */
	struct cell *loc_cells;		/* [loc * ncols + column] */
	VEC(struct annot_loc) locs;	/* locations with cost */
	uint32_t *by_symbol;		/* symbols by image and vaddr */
	uint32_t *by_code;		/* profile.codes by image and vaddr */
	uint32_t *by_line;		/* profile.lines by image and vaddr */
	/* locations with a frame of the unit; for UNIT_CODE, those in its
	 * symbol */
	struct annot_index in_unit;
	struct annot_index of_unit;	/* frames of the unit, ascending */
	struct annot_index in_symbol;	/* locations in the symbol */
	struct frame_owner_of *owners;	/* by frame: ANNOT_OWNERS entries each */
	struct identity same;		/* identity across images */
	const uint32_t *same_func;	/* same.func */
	struct labels labels;
};

/* Reads the samples of `r` once and computes what `spec` asks for.  Both are
 * borrowed until annotate_free.  On an error *out is NULL. */
int annotate_build(struct reader *r, const struct annotate_spec *spec,
		   struct annotation **out, struct error *err);
void annotate_free(struct annotation *a);
/* Builds the units again from the samples already read, after the symbol part
 * of the profile got more rows.  After an error `a` can only be freed. */
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
/* Returns the sum of all selected samples of a column's event. */
static inline struct cell annot_all(const struct annotation *a, size_t col)
{
	return a->agg.shown[a->agg.cols.v[col]];
}
/* Returns whether a row of costs costs anything, including calls. */
bool annot_has_cost(const struct annotation *a, const struct annot_cost *cost);
/* Returns whether no event distinguishes a row of costs from none. */
bool annot_is_noise(const struct annotation *a, const struct annot_cost *cost);
/* Returns the percentage of a cell of a column. */
double annot_share(const struct annotation *a, size_t col, struct cell c);
/* Returns the percentage of the first event. */
static inline double annot_percent(const struct annotation *a,
				   const struct annot_cost *cost)
{
	return a->ncols ? annot_share(a, 0, annot_sum(cost)) : 0;
}
/* Returns whether a frame belongs to a unit.  The outermost frames belong to a
 * unit of kind UNIT_CODE. */
bool annot_unit_has(const struct annotation *a, const struct annot_unit *u,
		    uint32_t frame);
/* Returns the frame that gives an instruction its line in a unit, or
 * PROF_NONE. */
uint32_t annot_unit_frame(const struct annotation *a,
			  const struct annot_unit *u, uint32_t frame);
/* Returns whether any of a unit's lines is known. */
bool annot_unit_has_lines(const struct annotation *a,
			  const struct annot_unit *u);
/* Appends the name of a function or file, full or shortened, as unsafe text. */
void annot_unit_name(const struct annotation *a, const struct annot_unit *u,
		     bool full, struct buf *out);
/* Makes the names of all units, full or shortened, in set->brief; release it with
 * name_set_fini. */
void annot_unit_names(const struct annotation *a, bool full,
		      struct name_set *set);
/* Appends "name" or "name+0x10" for an address in an image.  Returns false if
 * nothing is known about the address. */
bool annot_address_name(const struct annotation *a, uint32_t image,
			uint64_t vaddr, struct buf *out);

/* Returns the event of a column. */
static inline const struct prof_event *annot_event(const struct annotation *a,
						   size_t col)
{
	return &a->p->events.v[a->agg.cols.v[col]];
}
/* Returns a text about where in the code an event's samples land. */
const char *annot_skid(const struct prof_event *e);

struct annotate_style {
	int columns;		/* maximum width; 0: unlimited */
	bool color;
	bool source, code;	/* parts to show: at least one */
	bool automatic;		/* show code only where there is no source */
	bool full_names, no_header, samples;
	bool all;		/* fold nothing */
	unsigned int context;	/* lines shown around a line with cost */
};

/* Append to `out`.  Sources are read while writing.  out->failed: out of
 * memory. */
void annotate_text(struct annotation *a, const struct annotate_style *style,
		   struct buf *out);
void annotate_json(struct annotation *a, const struct annotate_style *style,
		   struct buf *out);

/* annotate_units.c: selects and orders the units. */
int annotate_choose(struct annotation *a, struct error *err);
/* annotate_lines.c: computes lines and copies of a unit. */
int annotate_lines(struct annotation *a, struct annot_unit *u);
/* Adds the cost of calls; all units must exist. */
int annotate_calls(struct annotation *a);
/* Adds a row of costs, all 0; returns SIZE_MAX if out of memory. */
size_t annotate_cost_row(struct annotation *a);
/* Adds a location's cost to a row. */
void annotate_add(struct annotation *a, size_t row, uint32_t loc, bool inlined);
/* annotate_code.c: reads the instructions of the functions that a unit is
 * in. */
int annotate_codes(struct annotation *a, struct annot_unit *u);
/* Returns how many instructions an annotation may have: a byte of a file may be a
 * thousand of them. */
size_t annotate_max_insns(uint64_t max_memory);

/* Compares places in code: by image, then by address. */
static inline int place_compare(uint32_t i1, uint64_t v1, uint32_t i2,
				uint64_t v2)
{
	return ascending(i1, i2) ?: ascending(v1, v2);
}

#endif
