/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_TREE_BASE_H
#define TALLY_TUI_TREE_BASE_H
/* Code shared by the pages with trees: table, top-down tree, butterfly. */
#include "tui/open_tree.h"
#include "tui/page.h"

/* Columns that fit on the screen. */
struct tree_layout {
	size_t first, n;	/* range of shown events (columns of the report) */
	bool total, samples;	/* which columns are shown beside self */
	size_t before;		/* blanks before each event's columns, for its name */
	size_t key[KEY_COUNT];	/* width, by position in spec.keys; 0: not shown */
};

struct tree_base {
	struct page pg;
	struct open_tree f;
	struct tree_layout lay;
	bool flat;		/* rows have no trees */
	/* column marked as the sort order: -1: none, 0: self, 1: total, 2…:
	 * keys */
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

/* Draws the heads of the columns of numbers.  Computes b->lay first, since the screen
 * size or the columns may have changed. */
void tree_number_heads(struct tree_base *b, struct strip *s);
/* Tells the user what a search in trees passes over. */
#define TREE_UNSEARCHED "closed rows are passed over: * opens"

/* Implementations of page_ops. */
size_t tree_count(struct page *pg);
void tree_draw(struct page *pg, size_t i, struct strip *s);
void tree_heads(struct page *pg, struct strip *s);
void tree_status(struct page *pg, struct strip *s);
void tree_text(struct page *pg, size_t i, struct buf *out);
void tree_close(struct page *pg);
/* Handles keys that open, close, zoom and annotate.  Returns false for other
 * keys. */
bool tree_key(struct page *pg, uint32_t key);

/* Appends the value of one of a row's keys as safe text. */
void tree_word(struct tree_base *b, uint32_t row, enum view_key key,
	       struct buf *out);
/* Appends " event, samples, filters": the samples' part of a title. */
void tree_title_samples(struct page *pg, struct strip *s);

#endif
