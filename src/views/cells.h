/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CELLS_H
#define TALLY_VIEWS_CELLS_H
/*
 * The key columns of a table of text: the words of all rows first, from which widths
 * follow, then line by line.
 *
 *	key_cells_init(&c, &keys, full_names);
 *	for each row, each key: append safe text to c.text; key_cells_next(&c);
 *	key_cells_fit(&c, room);
 *	key_cells_head(&c, out); for each row i: key_cells_row(&c, i, out);
 */
#include "views/query/columns.h"

struct key_cells {
	const struct key_list *keys;	/* borrowed */
	bool full_names;		/* names are cut at their end */
	struct buf text;		/* the words, NUL after each */
	VEC(size_t) at;			/* [row * keys + key]: where each ends */
	size_t width[KEY_COUNT];	/* by position in keys */
};

void key_cells_init(struct key_cells *c, const struct key_list *keys,
		    bool full_names);
void key_cells_fini(struct key_cells *c);
/* The word that was appended to c->text is whole. */
void key_cells_next(struct key_cells *c);
/* Fits the columns into `room` columns (0: as wide as they are).  -ERR_NOMEM: words
 * are missing. */
int key_cells_fit(struct key_cells *c, size_t room);
/* Appends the cells of the i-th row, padded but for the last. */
void key_cells_row(struct key_cells *c, size_t i, struct buf *out);
/* … and the column heads. */
void key_cells_head(struct key_cells *c, struct buf *out);

#endif
