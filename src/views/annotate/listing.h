/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_LISTING_H
#define TALLY_VIEWS_ANNOTATE_LISTING_H
/*
 * Annotated code as rows: the lines and instructions of a unit in display
 * order, with what each costs on one side or on both sides of a comparison.
 * Text, JSON and the terminal view of `tally annotate` and `tally diff -a` are
 * loops over these rows.
 *
 * The rows form groups: one for each source file of the unit, then one for each
 * code.  A listing of two sides pairs files and codes, and aligns their lines
 * and instructions: equal text is in one row, even if lines were inserted or
 * code has other addresses.
 *
 * These rules have their place here:
 *	- which lines a file shows: from the function's declaration or its first
 *	  line with code to its last one, with all lines in between whose text
 *	  is known
 *	- which instructions are below which line, and which lines match
 *	- folding: rows with cost and `context` rows around them remain, a row
 *	  LISTING_FOLD takes the place of others; a single row is never folded
 *	- how a line, an instruction, an address and a source file are written
 *
 * A new kind of row needs a value of enum listing_kind, the function in
 * listing.c that adds it, and a case in listing_text.  Renderers that do
 * not know it show its text.
 */
#include "compare/insn_tokens.h"
#include "views/annotate/annotate.h"

/* A listing of one side is that of LISTING_OLD. */
enum { LISTING_OLD, LISTING_NEW, LISTING_SIDES };

enum listing_kind {
	LISTING_NOTE,		/* text about the rows that follow */
	LISTING_LINE,
	LISTING_INSN,
	LISTING_FOLD,		/* placeholder for hidden rows */
};

struct listing_row {
	uint8_t kind;		/* enum listing_kind */
	uint8_t how;		/* enum align_how; ALIGN_SAME if there is one side */
	bool below;		/* shown below the source line that it belongs to */
	bool head;		/* line where the function is declared */
	uint32_t group;		/* index in groups, or PROF_NONE */
	/* line number (0: code without a line), or instruction counted from the
	 * start of its code; PROF_NONE: not on that side */
	uint32_t at[LISTING_SIDES];
	/* instruction: index of its code in annotation.codes */
	uint32_t code[LISTING_SIDES];
	size_t cost[LISTING_SIDES];	/* row of annotation.costs, or SIZE_MAX */
	uint32_t id;		/* index in listing.rows; LISTING_FOLD: none */
	uint32_t note;		/* LISTING_NOTE: offset in listing.notes */
	uint32_t hidden;	/* LISTING_FOLD: number of lines or instructions */
};

/* Jumps of a code, drawn beside its instructions: one row per instruction. */
typedef uint8_t jump_arrows[ANNOT_LANES];

struct listing_group {
	bool is_code;
	uint32_t file[LISTING_SIDES];	/* str of the side's profile */
	const struct source_file *source[LISTING_SIDES]; /* NULL: not on that side */
	/* index in annotation.codes; SIZE_MAX: not on that side */
	size_t code[LISTING_SIDES];
	size_t row, nrows;		/* range in rows */
	size_t shown, nshown;		/* range in listing.shown */
	jump_arrows *arrows;		/* by instruction; NULL: none */
	int arrows_width;		/* columns */
};

struct listing_spec {
	/* both are borrowed until listing_fini; `u` is NULL if the unit is not
	 * on that side, a[LISTING_NEW] is NULL if there is one side */
	struct annotation *a[LISTING_SIDES];
	const struct annot_unit *u[LISTING_SIDES];
	/* two sides: by str of a side's profile, the number of the file, equal
	 * on both sides */
	const uint32_t *file_of[LISTING_SIDES];
	/* columns that count, by side: columns of the annotation; NULL: all */
	const uint32_t *col[LISTING_SIDES];
	size_t ncols;
	size_t codes;		/* maximum number of codes on each side */
	bool below;		/* instructions are below their lines */
	bool all;		/* include files without cost */
	bool full_names;
	const char *advice;	/* ends the note of a missing source; may be NULL */
};

struct listing {
	struct listing_spec spec;
	VEC(struct listing_group) groups;
	VEC(struct listing_row) rows;	/* all rows */
	VEC(struct listing_row) shown;	/* rows after listing_fold */
	struct buf notes;	/* NUL-terminated safe texts */
};

/* Begins a listing without rows.  The functions that follow return 0 or
 * -ERR_NOMEM; call listing_fini in any case. */
void listing_init(struct listing *l, const struct listing_spec *spec);
void listing_fini(struct listing *l);
/* Adds the source files with their lines.  Reads the sources. */
int listing_add_files(struct listing *l);
/* Adds the codes with their instructions. */
int listing_add_codes(struct listing *l);
/* Adds a row with a text, which is made safe. */
int listing_note(struct listing *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* listing_fold.c: copies the rows to show.  Rows far from any with cost are folded, and files
 * without cost are left out.  With `all` only lines outside of the unit are left
 * out.  It may be called again. */
int listing_fold(struct listing *l, unsigned int context, bool all);

static inline bool listing_is_pair(const struct listing *l)
{
	return l->spec.a[LISTING_NEW] != NULL;
}
/* Returns the costs of a row on a side, by column of the annotation; NULL if
 * none. */
static inline const struct annot_cost *
listing_cost(const struct listing *l, const struct listing_row *r, int side)
{
	return r->cost[side] == SIZE_MAX ? NULL
		: annot_costs(l->spec.a[side], r->cost[side]);
}
/* Returns a row that is on no side. */
static inline struct listing_row listing_new_row(uint8_t kind)
{
	return (struct listing_row){
		.kind = kind, .group = PROF_NONE,
		.at = { PROF_NONE, PROF_NONE }, .code = { PROF_NONE, PROF_NONE },
		.cost = { SIZE_MAX, SIZE_MAX },
	};
}
/* Returns whether a row costs anything.  The cost of calls counts if there is
 * one side. */
bool listing_has_cost(const struct listing *l, const struct listing_row *r);
/* Returns the text of a row of kind LISTING_NOTE. */
static inline const char *listing_note_text(const struct listing *l,
					    const struct listing_row *r)
{
	return (const char *)l->notes.p + r->note;
}

/* Aligns the instructions of two codes; SIZE_MAX: none.  Appends the rows and
 * returns 0 or -ERR_NOMEM. */
int annot_align_codes(const struct annotation *const a[LISTING_SIDES],
		      const size_t code[LISTING_SIDES], struct align_rows *rows);

/* listing_text.c.  These append safe text; out->failed: out of memory. */
/* Appends what precedes the text of a row on a side: the line number; or the
 * address, in a pair the offset in the code, and arrows of jumps. */
void listing_number(const struct listing *l, const struct listing_row *r,
		    int side, struct buf *out);
/* Appends the text of a row: the source line with tabs expanded; the
 * instruction, the name of the address in it, and, if it changes in a listing
 * of one side, its line; what a fold hides; a note. */
void listing_text(const struct listing *l, const struct listing_row *r,
		  int side, struct buf *out);
/* Appends the name of the address in an instruction, as unsafe text: "+0x10"
 * within the code, "name+0x4" outside.  Appends nothing if it is unknown. */
void annot_target_name(const struct annotation *a, const struct annot_code *c,
		       const struct annot_insn *in, struct buf *out);
/* Appends "1.20% not inlined, 0.70% inlined into f …", as unsafe
 * text.  Appends nothing if the unit has no inlined copies. */
void annot_paid_by(const struct annotation *a, const struct annot_unit *u,
		   bool full, struct buf *out);
/* Draws the jumps of a code for listing_number.  Returns 0 or -ERR_NOMEM. */
int listing_draw_jumps(const struct listing *l, struct listing_group *g);

#endif
