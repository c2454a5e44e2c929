/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_FOREST_H
#define TALLY_TUI_FOREST_H
/*
 * Rows with trees below them, of which the open ones are seen.  Branches are made
 * when they are opened for the first time, and kept.
 */
#include "tui/model.h"

enum tree_sort {
	TREE_ROW,	/* a row of the report */
	TREE_BRANCH,	/* in report.tree_keys */
	TREE_CAPTION,	/* of a part of a page: its `fk` is a function */
};

struct tree_row {
	uint8_t sort;		/* enum tree_sort */
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

struct forest {
	struct data *d;
	VEC(struct tree_row) rows;
	VEC(struct tree_level *) levels;
	VEC(uint32_t) seen;	/* rows in the order they are seen */
	bool full;		/* no more branches: too many */
};

enum { FOREST_MAX = 1000000, FOREST_ALL_MAX = 20000 };

void forest_init(struct forest *f, struct data *d);
void forest_fini(struct forest *f);
/* Forgets all rows. */
void forest_clear(struct forest *f);
/* Adds one without anything above it. */
int forest_add(struct forest *f, const struct tree_row *row);
/* Branches of a level as rows without anything above them, that are owned. */
int forest_add_level(struct forest *f, struct tree_level *level,
		     uint32_t lane, enum tree_mode mode, struct error *err);
/* By the place where they are seen. */
static inline struct tree_row *forest_row(const struct forest *f, size_t seen)
{
	return &f->rows.v[f->seen.v[seen]];
}
/* Opens a row, and those below that are the only ones; 0 branches is no
 * error. */
int forest_open(struct forest *f, size_t seen, struct error *err);
void forest_shut(struct forest *f, size_t seen);
/* All below a row with at least `percent`. */
int forest_open_all(struct forest *f, size_t seen, double percent,
		    struct error *err);
void forest_shut_all(struct forest *f);
/* Where the row above this one is seen, or SIZE_MAX. */
size_t forest_above(const struct forest *f, size_t seen);
const struct values *forest_values(const struct forest *f,
				   const struct tree_row *r);
/* The function of a row, or NULL: it is none. */
/* What a row's key is one of. */
const struct frame_keys *forest_keys(const struct forest *f,
				     const struct tree_row *r);
const struct frame_key *forest_function(const struct forest *f,
					const struct tree_row *r);

#endif
