/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CELLS_H
#define TALLY_VIEWS_CELLS_H
/* Inside of the text report: the words of the rows' keys, and how wide the
 * columns are that show them. */
#include "views/query/names.h"
#include "views/report.h"

struct key_cells {
	const struct report *rep;
	bool full_names;
	struct name_cache names;
	struct buf text;		/* the words, NUL after each */
	VEC(uint32_t) at;		/* [row in order * keys + key] */
	size_t width[KEY_COUNT];	/* by position in spec.keys */
};

/* Makes the words of all rows shown and fits their columns into `room` columns
 * (0: as wide as they are). */
int key_cells_init(struct key_cells *c, const struct report *rep,
		   bool full_names, size_t room);
void key_cells_fini(struct key_cells *c);
/* Appends the cells of the i-th row shown, padded but for the last. */
void key_cells_row(struct key_cells *c, size_t i, struct buf *out);
/* … and the column heads. */
void key_cells_head(struct key_cells *c, struct buf *out);

/* One key of a row as unsafe text: for CSV. */
void key_word(const struct report *rep, uint32_t row, enum view_key key,
	      struct buf *out);

#endif
