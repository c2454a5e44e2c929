/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_ANNOTATE_ROWS_H
#define TALLY_VIEWS_ANNOTATE_ANNOTATE_ROWS_H
/* What the text of sources and of instructions share (annotate_text.c,
 * annotate_text_code.c). */
#include "views/annotate/annotate.h"

struct annotate_rows {
	struct annotation *a;
	const struct annotate_style *style;
	struct buf *out;
	bool inlined;		/* a column of inlined cost … */
	bool calls;		/* … and of what was called */
	struct buf line;	/* the row at hand, cut when it ends */
	struct buf tmp;
};

/* Begins a row: cost, or blanks where it is NULL or 0.  The rest of the row is
 * appended to r->line, in safe text. */
void annotate_row(struct annotate_rows *r, const struct annot_cost *cost);
/* Ends it: cut to the width, and greyed where its cost is noise. */
void annotate_row_end(struct annotate_rows *r, const struct annot_cost *cost);
void annotate_heads(struct annotate_rows *r, const char *what);
/* "# …" lines. */
void annotate_comment(struct annotate_rows *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool annotate_has_cost(const struct annotation *a,
		       const struct annot_cost *cost);
/* Any of annotation.lines [first, end). */
bool annotate_lines_have_cost(const struct annotation *a, size_t first,
			      size_t end);
/* 12.34 % of the first event, for comments. */
double annotate_percent(const struct annotation *a,
			const struct annot_cost *cost);

/* All instructions of one code. */
void annotate_text_code(struct annotate_rows *r, const struct annot_unit *u,
			const struct annot_code *c);
/* One instruction, below its source line. */
void annotate_text_insn(struct annotate_rows *r, const struct annot_code *c,
			uint32_t insn, const char *indent);

/* Words appended to r->line, safe: */
/* a source line, its tabs as blanks; */
void annotate_source_words(struct annotate_rows *r, struct span s);
/* an instruction, and what the address in it is called; */
void annotate_insn_words(struct annotate_rows *r, const struct annot_code *c,
			 const struct annot_insn *in);
/* "vec.c:12", and what was inlined there. */
void annotate_place(struct annotate_rows *r, uint32_t frame);
bool annotate_has_place(const struct annotation *a, uint32_t frame);

/* An instruction and the source line that it is shown below. */
struct annot_place {
	uint64_t key;		/* file and line */
	uint32_t code, insn;	/* of the unit's; of the code's */
};

struct annot_places {
	VEC(struct annot_place) v;	/* by key, code and instruction */
};

/* Those of a unit's first codes; 0 or -ERR_NOMEM. */
int annotate_places_find(struct annot_places *p, const struct annotation *a,
			 const struct annot_unit *u, size_t ncodes);
/* The n that belong to a line, borrowed. */
const struct annot_place *annotate_places_at(const struct annot_places *p,
					     uint32_t file, uint32_t line,
					     size_t *n);

/* The jumps of a code beside its instructions: one row for each. */
typedef uint8_t jump_arrows[ANNOT_LANES];
/* Free the rows; NULL when out of memory. */
jump_arrows *jump_arrows_draw(const struct annotation *a,
			      const struct annot_code *c);
int jump_arrows_width(const struct annotation *a,
		      const struct annot_code *c);
/* Appends a row in width + 2 columns. */
void jump_arrows_put(struct annotate_rows *r, const uint8_t *row, int width);

#endif
