/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_ANNOTATE_ROWS_H
#define TALLY_VIEWS_ANNOTATE_ROWS_H
/* What the text of sources and of instructions share (annotate_text.c,
 * annotate_text_code.c). */
#include "views/annotate.h"

struct annotate_rows {
	struct annotation *a;
	const struct annotate_style *style;
	struct buf *out;
	bool inlined;		/* a column of inlined cost */
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
/* 12.34 % of the first event, for comments. */
double annotate_percent(const struct annotation *a,
			const struct annot_cost *cost);

/* All instructions of one code. */
void annotate_text_code(struct annotate_rows *r, const struct annot_unit *u,
			const struct annot_code *c);
/* One instruction, below its source line. */
void annotate_text_insn(struct annotate_rows *r, const struct annot_code *c,
			uint32_t insn, const char *indent);

#endif
