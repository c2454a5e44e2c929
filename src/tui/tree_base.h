/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_TREE_BASE_H
#define TALLY_TUI_TREE_BASE_H
/* Code shared by the pages with trees: table, top-down tree, butterfly. */
#include "tui/page.h"

/*
 * --- open_tree.c: rows with trees below them.  Only rows whose ancestors are all open are
 * visible.  Branches are built when they are first opened, and then kept.
 */

enum tree_row_kind {
	TREE_ROW,	/* a row of the report */
	TREE_BRANCH,	/* an id of report.tree_keys */
	TREE_CAPTION,	/* heading of a part of a page; `fk` is a function */
};

struct tree_row {
	uint8_t kind;		/* enum tree_row_kind */
	uint8_t mode;		/* enum tree_mode of the rows below */
	bool by_total;		/* TREE_ROW: callers weighted by total */
	bool open, grown, inlined;
	bool recursive;		/* recursive; known once grown */
	/* the only branch of its parent, with all of its samples */
	bool same;
	uint16_t depth;
	uint32_t id;		/* TREE_ROW: row of the report; else fk */
	uint32_t lane;
	/* index of its level in open_tree.levels, and its place there */
	uint32_t level, child;
	uint32_t above;		/* index of its parent; PROF_NONE: none */
	uint32_t first, n;	/* range of its children, once grown */
};

struct open_tree {
	struct data *d;
	VEC(struct tree_row) rows;
	VEC(struct tree_level *) levels;
	VEC(uint32_t) seen;	/* indexes of visible rows, in display order */
	bool full;		/* row limit reached; no branch is added */
};

enum { OPEN_TREE_MAX = 1000000, OPEN_TREE_ALL_MAX = 20000 };

void open_tree_init(struct open_tree *f, struct data *d);
void open_tree_fini(struct open_tree *f);
/* Removes all rows. */
void open_tree_clear(struct open_tree *f);
/* Adds a row without a parent. */
int open_tree_add(struct open_tree *f, const struct tree_row *row);
/* Adds the branches of a level as rows without parents.  Takes ownership of
 * `level`. */
int open_tree_add_level(struct open_tree *f, struct tree_level *level,
			uint32_t lane, enum tree_mode mode, struct error *err);
/* Returns the row at a visible position. */
static inline struct tree_row *open_tree_row(const struct open_tree *f,
					      size_t seen)
{
	return &f->rows.v[f->seen.v[seen]];
}
/* Opens a row, and the rows below it that are only children.  A row without
 * branches is no error. */
int open_tree_open(struct open_tree *f, size_t seen, struct error *err);
void open_tree_shut(struct open_tree *f, size_t seen);
/* Opens all rows below a row that have at least `percent`. */
int open_tree_open_all(struct open_tree *f, size_t seen, double percent,
		       struct error *err);
void open_tree_shut_all(struct open_tree *f);
/* Opens the rows that are open in `from`, a tree of the same samples with the names of
 * an older recording.  Returns the visible position of the row that is at `seen` there:
 * of the same function or, if it is not visible, of one above it. */
size_t open_tree_restore(struct open_tree *f, const struct open_tree *from,
			 size_t seen);
/* Returns the visible position of the parent, or SIZE_MAX. */
size_t open_tree_above(const struct open_tree *f, size_t seen);
const struct values *open_tree_values(const struct open_tree *f,
				      const struct tree_row *r);
/* Returns the keys that a row's key belongs to. */
const struct frame_keys *open_tree_keys(const struct open_tree *f,
					const struct tree_row *r);
/* Returns the function of a row, or NULL if the row is not a function. */
const struct frame_key *open_tree_function(const struct open_tree *f,
					   const struct tree_row *r);

/* --- tree_base.c */

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

/* Appends the value of one of a row's keys as safe text. */
void tree_word(struct tree_base *b, uint32_t row, enum view_key key,
	       struct buf *out);
/* Appends " event, samples, filters": the samples' part of a title. */
void tree_title_samples(struct page *pg, struct strip *s);
/* Opens a page with all that is known of the selected row. */
void tree_details(struct page *pg);

/* --- tree_page.c */

/* Handles keys that open, close, zoom and annotate.  Returns false for other
 * keys. */
bool tree_key(struct page *pg, uint32_t key);

#endif
