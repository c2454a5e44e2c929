/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUALITY_MISSING_H
#define TALLY_VIEWS_QUALITY_MISSING_H
/*
 * Finds images that lack names or lines, their cost, and a remedy for each.
 *
 * Names count more than lines.  Images are sorted by samples that have no name,
 * or a name from a table of exported functions only, then by samples without a
 * line.  Images with little effect come last.
 */
#include "views/quality/quality.h"

struct missing_row {
	uint32_t image;
	uint64_t unnamed;	/* samples without a name */
	uint64_t exported;	/* samples named from the exported functions only */
	uint64_t lineless;	/* samples without a line, out of all */
	bool matters;		/* important enough to report unrequested */
	const struct image_debug_info *source;	/* NULL in older files */
	/* Remedy on this machine.  The caller sets it because it knows the
	 * package database; "" if unknown.  Borrowed. */
	const char *package, *command, *note, *fetch;
};

struct missing {
	const struct profile *p;
	uint64_t shown;		/* number of selected samples; base of all shares */
	VEC(struct missing_row) rows;
};

int missing_build(struct missing *m, const struct quality *t, struct error *err);
void missing_fini(struct missing *m);
/* Returns how many of the first rows are important enough to report
 * unrequested. */
size_t missing_major(const struct missing *m);

/* Appends `n` rows as lines that begin with "#"; nothing if there are none. */
void missing_text(const struct missing *m, size_t n, int columns,
		  struct buf *out);
/* Writes member "missing" with all rows to the open object. */
void missing_json(const struct missing *m, struct json *j);

#endif
