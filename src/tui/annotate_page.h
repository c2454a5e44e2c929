/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_ANNOTATE_PAGE_H
#define TALLY_TUI_ANNOTATE_PAGE_H
/* Internals of the page of an annotated function (annotate_page.c).  Its rows
 * are made in annotate_fill.c, their costs in annotate_cost.c, the drawing in
 * annotate_draw.c and the navigation in annotate_follow.c. */
#include "tui/page.h"
#include "views/annotate/annotate_rows.h"

enum annotate_mode { SHOW_SOURCE, SHOW_CODE, SHOW_BOTH, SHOW_MODES };

enum listing_kind {
	ROW_NOTE,		/* text in `notes` */
	ROW_LINE,
	ROW_INSN,
	ROW_FOLD,		/* placeholder for hidden rows */
};

struct code_row {
	uint8_t sort;		/* enum listing_kind */
	uint32_t file, line;	/* source line; `file` is a str */
	/* instruction: index of its code in the unit, and its index there */
	uint32_t code, insn;
	size_t cost;		/* row in annotation.costs; SIZE_MAX: none */
	size_t note;		/* offset in notes */
};

struct annotate_page {
	struct page pg;
	struct annotation *a;
	struct annot_unit u;
	enum annotate_mode mode;
	bool near;		/* show only rows near rows with cost */
	bool sideways;
	size_t shift;		/* horizontal scroll offset, in columns */
	struct annotate_style style;
	struct annotate_rows words;	/* state for composing the text of rows */
	VEC(struct code_row) rows;
	struct buf notes;	/* NUL-terminated safe texts */
	jump_arrows **lanes;	/* by index of code in the unit, or NULL */
	bool inlined;		/* some line has cost of inlined code */
	bool calls;		/* some line has cost of calls made there */
	uint64_t most;		/* weight of the most expensive row */
	VEC(size_t) back;	/* rows from which jumps were followed */
};

static inline struct annotate_page *annotate_page(struct page *pg)
{
	return (struct annotate_page *)pg;
}

/* Builds the rows for the mode.  Reports lack of memory in the status line. */
void annotate_page_fill(struct annotate_page *ap);
/* Handles Enter: opens the target of the selected row. */
void annotate_page_follow(struct annotate_page *ap);

/* annotate_cost.c.  Return the cost column that is shown, the cost of a row
 * there (0: none), and whether that cost is indistinguishable from zero. */
size_t annotate_page_column(const struct annotate_page *ap);
struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row);
bool annotate_page_noise(const struct annotate_page *ap,
			 const struct annot_cost *c);
/* Selects the next row whose cost is above noise, or any row with cost if all
 * are noise.  Returns false if no row has cost. */
bool annotate_page_next_hot(struct annotate_page *ap, bool back);
/* Selects the row that follows (or precedes) the selected one in order of
 * cost.  Selects the most expensive row after the last one, and if no row
 * is selected. */
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
