/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_CODE_LINE_MATCH_H
#define TALLY_VIEWS_CODE_LINE_MATCH_H
/*
 * Matches the lines of an old recording's source files with those of a new one.
 * Lines are matched by their text, aligned as in a side-by-side view, so
 * inserted lines do not shift the lines below.  Lines are matched by number if
 * the text of a side is unknown, or if both sides ran the same build.
 */
#include "compare/align.h"
#include "views/code/sources.h"

enum { LINE_OLD, LINE_NEW, LINE_SIDES };
/* Set in an old line that the new side does not have.  The new side may have
 * another line with its number. */
#define LINE_REMOVED 0x80000000u

struct line_side {
	const struct profile *p;
	const struct source_where *where;
	/* by str of p: number of the file, equal on both sides; 0: no
	 * counterpart */
	const uint32_t *file_of;
};

struct line_map {
	struct u64map line_of;
	/* number of files of both sides whose lines could not be matched by
	 * text */
	size_t by_number;
};

/* Matches the lines.  Returns 0 or -ERR_NOMEM.  Call line_map_fini in both
 * cases. */
int line_map_init(struct line_map *m, const struct line_side side[LINE_SIDES]);
void line_map_fini(struct line_map *m);
/* Returns the new line, or the old one with LINE_REMOVED; `file` as in file_of.
 * */
uint32_t line_map_get(const struct line_map *m, uint32_t file, uint32_t line);

/* Lines of a file on each side, aligned by their text without layout. */
struct line_pair {
	struct strtab tokens;
	struct line_list {
		VEC(uint32_t) line, token;
	} side[LINE_SIDES];
};

/* The functions return 0 or -ERR_NOMEM; call line_pair_fini in any case. */
int line_pair_init(struct line_pair *x);
void line_pair_fini(struct line_pair *x);
/* Adds a line of a side.  Call it with ascending lines.  If the other side has no
 * lines, `sources` may be NULL. */
int line_pair_add(struct line_pair *x, int side, const struct sources *sources,
		  const struct source_file *f, uint32_t line);
/* Appends the aligned lines to `rows`; in `at` are line numbers. */
int line_pair_align(const struct line_pair *x, struct align_rows *rows);

#endif
