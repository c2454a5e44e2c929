/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_ANNOTATE_ROWS_H
#define TALLY_VIEWS_ANNOTATE_ANNOTATE_ROWS_H
/* Code shared by the text of sources (annotate_text.c) and the text of
 * instructions (annotate_text_code.c). */
#include "views/annotate/annotate.h"

struct annotate_rows {
	struct annotation *a;
	const struct annotate_style *style;
	struct buf *out;
	bool inlined;		/* there is a column of inlined cost */
	bool calls;		/* there is a column of the cost of calls */
	struct buf line;	/* the current row, cut when it ends */
	struct buf tmp;
};

/* Begins a row with a cost, or blanks if it is NULL or 0. Append the rest of
 * the row to r->line as safe text. */
void annotate_row(struct annotate_rows *r, const struct annot_cost *cost);
/* Ends a row: cuts it to the width and dims it if its cost is noise. */
void annotate_row_end(struct annotate_rows *r, const struct annot_cost *cost);
void annotate_heads(struct annotate_rows *r, const char *what);
/* Appends a line that begins with "# ". */
void annotate_comment(struct annotate_rows *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool annotate_has_cost(const struct annotation *a,
		       const struct annot_cost *cost);
/* Returns whether any of annotation.lines [first, end) has cost. */
bool annotate_lines_have_cost(const struct annotation *a, size_t first,
			      size_t end);
/* Returns the percentage of the first event, for comments. */
double annotate_percent(const struct annotation *a,
			const struct annot_cost *cost);

/* Writes all instructions of a code. */
void annotate_text_code(struct annotate_rows *r, const struct annot_unit *u,
			const struct annot_code *c);
/* Writes one instruction, below its source line. */
void annotate_text_insn(struct annotate_rows *r, const struct annot_code *c,
			uint32_t insn, const char *indent);

/* These append safe text to r->line. */
/* Appends a source line with its tabs as blanks. */
void annotate_source_words(struct annotate_rows *r, struct span s);
/* Appends an instruction and the name of the address in it. */
void annotate_insn_words(struct annotate_rows *r, const struct annot_code *c,
			 const struct annot_insn *in);
/* Appends "vec.c:12" and the names of functions inlined there. */
void annotate_place(struct annotate_rows *r, uint32_t frame);
bool annotate_has_place(const struct annotation *a, uint32_t frame);

/* An instruction, keyed by the source line that it is shown below. */
struct annot_place {
	uint64_t key;		/* file and line */
	uint32_t code, insn;	/* code of the unit, and instruction of the code */
};

struct annot_places {
	VEC(struct annot_place) v;	/* by key, code and instruction */
};

/* Collects the instructions of a unit's first `ncodes` codes.  Returns 0 or
 * -ERR_NOMEM. */
int annotate_places_find(struct annot_places *p, const struct annotation *a,
			 const struct annot_unit *u, size_t ncodes);
/* Returns the `n` instructions of a line, borrowed from `p`. */
const struct annot_place *annotate_places_at(const struct annot_places *p,
					     uint32_t file, uint32_t line,
					     size_t *n);

/* Jumps of a code, drawn beside its instructions: one row per instruction. */
typedef uint8_t jump_arrows[ANNOT_LANES];
/* Returns an array of rows, which the caller frees; NULL if out of memory. */
jump_arrows *jump_arrows_draw(const struct annotation *a,
			      const struct annot_code *c);
int jump_arrows_width(const struct annotation *a,
		      const struct annot_code *c);
/* Appends a row in width + 2 columns. */
void jump_arrows_put(struct annotate_rows *r, const uint8_t *row, int width);

#endif
