/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_TREE_BASE_H
#define TALLY_TUI_TREE_BASE_H
/* What pages of trees share: the table, top-down trees, butterflies. */
#include "tui/open_tree.h"
#include "tui/page.h"

/* Which columns there is room for. */
struct tree_layout {
	size_t first, n;	/* events shown: columns of the report */
	bool total, samples;	/* … these columns of numbers, beside self */
	size_t before;		/* blanks before each event's, for its name */
	size_t key[KEY_COUNT];	/* by position in spec.keys; 0: not shown */
};

struct tree_base {
	struct page pg;
	struct open_tree f;
	struct tree_layout lay;
	bool flat;		/* rows have no trees */
	/* marks the column that rows are sorted by: -1: none, 0: self, 1: total,
	 * 2…: keys */
	int sorted;
};

static inline struct tree_base *tree_base(struct page *pg)
{
	return (struct tree_base *)pg;
}
static inline struct data *tree_data(struct page *pg)
{
	return tree_base(pg)->f.d;
}

/* Before rows are drawn: the size or what is shown may have changed. */
void tree_plan(struct tree_base *b);
/* page_ops: */
/* What a search in trees says it passed over. */
#define TREE_UNSEARCHED "closed rows are passed over: * opens"

size_t tree_count(struct page *pg);
void tree_draw(struct page *pg, size_t i, struct strip *s);
void tree_heads(struct page *pg, struct strip *s);
void tree_status(struct page *pg, struct strip *s);
void tree_text(struct page *pg, size_t i, struct buf *out);
/* Opening, closing, zooming, annotating: false when it is no such key. */
bool tree_key(struct page *pg, uint32_t key);

/* The words of a row's keys, safe. */
void tree_word(struct tree_base *b, uint32_t row, enum view_key key,
	       struct buf *out);
/* Everything that is known of a row, as a page. */
void tree_details(struct page *pg);
/* " event, samples, filters": what a title says of the samples. */
void tree_title_samples(struct page *pg, struct strip *s);

#endif
