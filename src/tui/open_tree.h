/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_OPEN_TREE_H
#define TALLY_TUI_OPEN_TREE_H
/*
 * Rows with trees below them.  Only rows whose ancestors are all open are
 * visible.  Branches are built when they are first opened, and then kept.
 */
#include "tui/model.h"

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

#endif
