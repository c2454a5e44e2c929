/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUALITY_MISSING_H
#define TALLY_VIEWS_QUALITY_MISSING_H
/*
 * Which images lack names or lines, what that costs, and what would help.
 *
 * Names count more than lines: images come in the order of the samples that have
 * no name or come from a table of exported functions only, then in that of those
 * without a line; those that hardly matter come last.
 */
#include "views/quality/quality.h"

struct missing_row {
	uint32_t image;
	uint64_t unnamed;	/* samples without a name */
	uint64_t exported;	/* whose names are those of exported functions */
	uint64_t lineless;	/* of all: without a line */
	bool matters;		/* worth telling those who have not asked */
	const struct image_debug_info *source;	/* NULL in older files */
	/* What would help on this machine: set by the caller, who knows the
	 * package database; "" where unknown.  Borrowed. */
	const char *package, *command, *note, *fetch;
};

struct missing {
	const struct profile *p;
	uint64_t shown;		/* samples: the whole of every share */
	VEC(struct missing_row) rows;
};

int missing_build(struct missing *m, const struct quality *t, struct error *err);
void missing_fini(struct missing *m);
/* How many of the first rows matter to a person who has not asked. */
size_t missing_major(const struct missing *m);
/* Why, in a few words: "stripped, no debug file". */
void missing_reason(const struct missing *m, const struct missing_row *row,
		    struct buf *out);

/* `n` rows as lines that begin with "#"; nothing when there is none. */
void missing_text(const struct missing *m, size_t n, int columns,
		  struct buf *out);
/* A member "missing" of an object that is open: all rows. */
void missing_json(const struct missing *m, struct json *j);

#endif
