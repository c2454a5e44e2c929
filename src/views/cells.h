/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CELLS_H
#define TALLY_VIEWS_CELLS_H
/*
 * The key columns of a text table.  The text of all rows is added first.  The
 * column widths follow from it, and then the rows are written.
 *
 *	key_cells_init(&c, &keys, full_names);
 *	for each row, each key: append safe text to c.text; key_cells_next(&c);
 *	key_cells_fit(&c, room);
 *	key_cells_head(&c, out); for each row i: key_cells_row(&c, i, out);
 */
#include "views/query/columns.h"

struct key_cells {
	const struct key_list *keys;	/* borrowed */
	bool full_names;		/* cut names at their end */
	struct buf text;		/* NUL-terminated text of each cell */
	/* [row * keys + key]: end of each cell's text */
	VEC(size_t) at;
	size_t width[KEY_COUNT];	/* by position in keys */
};

void key_cells_init(struct key_cells *c, const struct key_list *keys,
		    bool full_names);
void key_cells_fini(struct key_cells *c);
/* Ends the cell whose text was appended to c->text. */
void key_cells_next(struct key_cells *c);
/* Fits the columns into `room` columns (0: no limit).  Returns -ERR_NOMEM if
 * text of cells is missing. */
int key_cells_fit(struct key_cells *c, size_t room);
/* Appends the cells of the i-th row, all but the last padded. */
void key_cells_row(struct key_cells *c, size_t i, struct buf *out);
/* Appends the column heads. */
void key_cells_head(struct key_cells *c, struct buf *out);

#endif
