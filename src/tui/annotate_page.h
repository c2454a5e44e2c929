/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_ANNOTATE_PAGE_H
#define TALLY_TUI_ANNOTATE_PAGE_H
/* Inside of the page of an annotated function (annotate_page.c): its rows
 * (annotate_rows.c), and where they lead (annotate_follow.c). */
#include "tui/page.h"
#include "views/annotate_rows.h"

enum annotate_mode { SHOW_SOURCE, SHOW_CODE, SHOW_BOTH, SHOW_MODES };

enum code_row_sort {
	ROW_NOTE,		/* words in `notes` */
	ROW_LINE,
	ROW_INSN,
	ROW_FOLD,		/* rows are hidden here */
};

struct code_row {
	uint8_t sort;		/* enum code_row_sort */
	uint32_t file, line;	/* of a line; str */
	uint32_t code, insn;	/* of an instruction: in the unit, in it */
	size_t cost;		/* row in annotation.costs, SIZE_MAX: none */
	size_t note;		/* offset in notes */
};

struct annotate_page {
	struct page pg;
	struct annotation *a;
	struct annot_unit u;
	enum annotate_mode mode;
	bool near;		/* only rows near those with cost */
	bool sideways;
	size_t shift;		/* columns that the text is moved by */
	struct annotate_style style;
	struct annotate_rows words;	/* to make text with */
	VEC(struct code_row) rows;
	struct buf notes;	/* NUL after each; safe */
	annotate_lanes **lanes;	/* by code of the unit, or NULL */
	bool inlined;		/* some line has cost that was inlined … */
	bool calls;		/* … or that calls made there had */
	uint64_t most;		/* weight of the dearest row */
	VEC(size_t) back;	/* rows that jumps were followed from */
};

static inline struct annotate_page *annotate_page(struct page *pg)
{
	return (struct annotate_page *)pg;
}

/* Makes the rows for the mode; out of memory is said. */
void annotate_page_fill(struct annotate_page *ap);
/* Enter: where the chosen row leads. */
void annotate_page_follow(struct annotate_page *ap);

/* What a row cost, of the event that counts; 0: nothing. */
struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row);
static inline const struct annot_code *
annotate_page_code(const struct annotate_page *ap, uint32_t code)
{
	return &ap->a->codes.v[ap->u.code + code];
}

#endif
