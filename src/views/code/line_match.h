/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_LINE_MATCH_H
#define TALLY_VIEWS_CODE_LINE_MATCH_H
/*
 * Which line of a new recording one of an old recording is: by their text, aligned
 * as source side by side is, so that lines inserted above shift nothing.  Where the
 * text of a side is not known, or both ran one build, by number.
 */
#include "views/code/sources.h"

enum { LINE_OLD, LINE_NEW, LINE_SIDES };
/* Set in an old line that the new side does not have, whatever has its number. */
#define LINE_GONE 0x80000000u

struct line_side {
	const struct profile *p;
	const struct source_where *where;
	const uint32_t *file_of;	/* by str of p: a number that the same
					 * file has on both sides, 0: it has no
					 * counterpart */
};

struct line_map {
	struct u64map line_of;
	size_t by_number;	/* files of both sides whose lines could not be
				 * matched by text */
};

/* 0 or -ERR_NOMEM; to be ended either way. */
int line_map_init(struct line_map *m, const struct line_side side[LINE_SIDES]);
void line_map_fini(struct line_map *m);
/* The new line, or the old one with LINE_GONE; `file` as in file_of. */
uint32_t line_map_get(const struct line_map *m, uint32_t file, uint32_t line);

/* A line's text without what only lays it out, as a word; UINT32_MAX when out of
 * memory. */
uint32_t line_key_text(struct strtab *words, const struct sources *sources,
		       const struct source_file *f, uint32_t line);

#endif
