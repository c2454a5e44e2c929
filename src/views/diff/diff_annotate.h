/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
#define TALLY_VIEWS_DIFF_DIFF_ANNOTATE_H
/*
 * Functions of both sides of a diff with their source lines and instructions
 * aligned.  Equal text is side by side, even if lines were added or code was
 * compiled to other addresses.
 *
 * The cost of a line includes functions inlined there, as in annotate.h, so the
 * lines of a side add up to the function.
 */
#include "views/annotate/listing.h"
#include "views/diff/diff.h"

struct diff_annotate_spec {
	/* function, FILE[:LINE] or image; NULL: the functions that changed
	 * most */
	const char *what;
	uint64_t top;		/* maximum number of functions; 0: all */
	bool code;		/* show instructions */
	bool intel;
};

struct diff_unit {
	size_t unit[DIFF_SIDES];	/* index in annotation.units, or SIZE_MAX */
	struct cost_change change;	/* change of the first column */
	struct listing list;		/* files and codes, aligned */
	struct cost_change *changes;	/* [row.id * columns + column] */
};

struct diff_annotation {
	struct diff *d;
	struct diff_annotate_spec spec;
	struct annotation *a[DIFF_SIDES];
	VEC(struct diff_unit) units;	/* largest change first */
	size_t hidden;
	uint32_t *col[DIFF_SIDES];	/* by column: column of the annotation */
	uint32_t *became;	/* by function: what it is on the new side */
};

/* Builds the annotation of both sides.  `d` must outlive it. */
int diff_annotate(struct diff *d, const struct diff_annotate_spec *spec,
		  struct diff_annotation **out, struct error *err);
void diff_annotation_free(struct diff_annotation *x);

/* Returns the cost in a row of one side's costs and a column. */
struct cell diff_part_cell(const struct diff_annotation *x, int side,
			   size_t row, size_t col);
/* Returns the changes of a row of a unit, by column. */
static inline const struct cost_change *
diff_row_changes(const struct diff_annotation *x, const struct diff_unit *u,
		 const struct listing_row *r)
{
	return &u->changes[r->id * x->d->cols.n];
}
void diff_unit_name(const struct diff_annotation *x, const struct diff_unit *u,
		    bool full, struct buf *out);

/* The style's `samples` makes no difference. */
void diff_annotate_text(struct diff_annotation *x,
			const struct annotate_style *style,
			struct buf *out);
void diff_annotate_json(struct diff_annotation *x,
			const struct annotate_style *style,
			struct buf *out);

#endif
