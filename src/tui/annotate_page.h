/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_ANNOTATE_PAGE_H
#define TALLY_TUI_ANNOTATE_PAGE_H
/* Internals of the page of an annotated function (annotate_page.c), which shows
 * a listing.  It is drawn in annotate_draw.c; annotate_follow.c opens what a row
 * calls. */
#include "tui/page.h"
#include "views/annotate/listing.h"

enum annotate_mode { SHOW_SOURCE, SHOW_CODE, SHOW_BOTH, SHOW_MODES };

struct annotate_page {
	struct page pg;
	struct annotation *a;
	struct annot_unit u;
	enum annotate_mode mode;
	bool near;		/* show only rows near rows with cost */
	size_t shift;		/* horizontal scroll offset, in columns */
	struct listing list;
	struct buf line;	/* text of the row that is drawn */
	bool inlined;		/* some line has cost of inlined code */
	bool calls;		/* some line has cost of calls made there */
	uint64_t most;		/* weight of the most expensive row */
	VEC(size_t) back;	/* rows from which jumps were followed */
};

static inline struct annotate_page *annotate_page(struct page *pg)
{
	return (struct annotate_page *)pg;
}

/* Handles Enter: opens the target of the selected row. */
void annotate_page_follow(struct annotate_page *ap);

/* Return the cost column that is shown, the cost of a row there (0: none), and
 * whether that cost is indistinguishable from zero. */
size_t annotate_page_column(const struct annotate_page *ap);
struct annot_cost annotate_page_cost(const struct annotate_page *ap, size_t row);
bool annotate_page_noise(const struct annotate_page *ap,
			 const struct annot_cost *c);

/* annotate_draw.c: see struct page_ops. */
void annotate_page_row(struct page *pg, size_t i, struct strip *s);
void annotate_page_heads(struct page *pg, struct strip *s);
void annotate_page_title(struct page *pg, struct strip *s);
void annotate_page_status(struct page *pg, struct strip *s);

#endif
