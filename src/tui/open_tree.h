/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_OPEN_TREE_H
#define TALLY_TUI_OPEN_TREE_H
/*
 * Rows with trees below them, of which the open ones are seen.  Branches are made
 * when they are opened for the first time, and kept.
 */
#include "tui/model.h"

enum tree_row_kind {
	TREE_ROW,	/* a row of the report */
	TREE_BRANCH,	/* in report.tree_keys */
	TREE_CAPTION,	/* of a part of a page: its `fk` is a function */
};

struct tree_row {
	uint8_t sort;		/* enum tree_row_kind */
	uint8_t mode;		/* enum tree_mode: of what is below */
	bool by_total;		/* TREE_ROW: callers of the total */
	bool open, grown, inlined;
	bool recursive;		/* known when grown */
	bool same;		/* the only branch of the one above, with all of
				 * its samples */
	uint16_t depth;
	uint32_t id;		/* TREE_ROW: row of the report; else fk */
	uint32_t lane;
	uint32_t level, child;	/* its values and places: in forest.levels */
	uint32_t above;		/* PROF_NONE: none */
	uint32_t first, n;	/* below it, when grown */
};

struct open_tree {
	struct data *d;
	VEC(struct tree_row) rows;
	VEC(struct tree_level *) levels;
	VEC(uint32_t) seen;	/* rows in the order they are seen */
	bool full;		/* no more branches: too many */
};

enum { OPEN_TREE_MAX = 1000000, OPEN_TREE_ALL_MAX = 20000 };

void open_tree_init(struct open_tree *f, struct data *d);
void open_tree_fini(struct open_tree *f);
/* Forgets all rows. */
void open_tree_clear(struct open_tree *f);
/* Adds one without anything above it. */
int open_tree_add(struct open_tree *f, const struct tree_row *row);
/* Branches of a level as rows without anything above them, that are owned. */
int open_tree_add_level(struct open_tree *f, struct tree_level *level,
			uint32_t lane, enum tree_mode mode, struct error *err);
/* By the place where they are seen. */
static inline struct tree_row *open_tree_row(const struct open_tree *f,
					      size_t seen)
{
	return &f->rows.v[f->seen.v[seen]];
}
/* Opens a row, and those below that are the only ones; 0 branches is no
 * error. */
int open_tree_open(struct open_tree *f, size_t seen, struct error *err);
void open_tree_shut(struct open_tree *f, size_t seen);
/* All below a row with at least `percent`. */
int open_tree_open_all(struct open_tree *f, size_t seen, double percent,
		       struct error *err);
void open_tree_shut_all(struct open_tree *f);
/* Where the row above this one is seen, or SIZE_MAX. */
size_t open_tree_above(const struct open_tree *f, size_t seen);
const struct values *open_tree_values(const struct open_tree *f,
				      const struct tree_row *r);
/* The function of a row, or NULL: it is none. */
/* What a row's key is one of. */
const struct frame_keys *open_tree_keys(const struct open_tree *f,
					const struct tree_row *r);
const struct frame_key *open_tree_function(const struct open_tree *f,
					   const struct tree_row *r);

#endif
