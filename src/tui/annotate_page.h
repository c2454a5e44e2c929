/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_ANNOTATE_PAGE_H
#define TALLY_TUI_ANNOTATE_PAGE_H
/* Inside of the page of an annotated function (annotate_page.c): its rows
 * (annotate_fill.c), what these cost (annotate_cost.c), how they are drawn
 * (annotate_draw.c), and where they lead (annotate_follow.c). */
#include "tui/page.h"
#include "views/annotate/annotate_rows.h"

enum annotate_mode { SHOW_SOURCE, SHOW_CODE, SHOW_BOTH, SHOW_MODES };

enum listing_kind {
	ROW_NOTE,		/* words in `notes` */
	ROW_LINE,
	ROW_INSN,
	ROW_FOLD,		/* rows are hidden here */
};

struct code_row {
	uint8_t sort;		/* enum listing_kind */
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
	jump_arrows **lanes;	/* by code of the unit, or NULL */
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

/* annotate_cost.c: the column of costs that is shown; what a row cost there, 0:
 * nothing; and whether that is too little to tell from nothing. */
size_t annotate_page_column(const struct annotate_page *ap);
struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row);
bool annotate_page_noise(const struct annotate_page *ap,
			 const struct annot_cost *c);
/* Goes to the next row with more than noise, or if there is none with any cost;
 * false: no row has. */
bool annotate_page_next_hot(struct annotate_page *ap, bool back);
/* Goes to the row that comes after (before) the chosen one by cost; to the
 * dearest behind the last, and when none is chosen. */
void annotate_page_next_by_cost(struct annotate_page *ap, bool back);

/* annotate_draw.c: see struct page_ops. */
void annotate_page_row(struct page *pg, size_t i, struct strip *s);
void annotate_page_heads(struct page *pg, struct strip *s);
void annotate_page_title(struct page *pg, struct strip *s);
void annotate_page_status(struct page *pg, struct strip *s);

static inline const struct annot_code *
annotate_page_code(const struct annotate_page *ap, uint32_t code)
{
	return &ap->a->codes.v[ap->u.code + code];
}

#endif
