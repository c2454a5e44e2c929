/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_LINES_H
#define TALLY_VIEWS_QUERY_LINES_H
/* Small helpers for text output. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Escape sequences of a terminal. */
#define LINE_BOLD "\033[1m"
#define LINE_DIM "\033[2m"
#define LINE_RED "\033[31m"
#define LINE_GREEN "\033[32m"
#define LINE_BLUE "\033[34m"
#define LINE_OFF "\033[0m"

/* Appends text as lines that begin with "# ".  Lines are folded at blanks to at
 * most `columns` (0: 80), but long words stay whole. */
void line_comment(struct buf *out, const char *text, int columns);
/* Like text_cut, but cuts at the left, because the end of a path is more
 * specific. */
void line_cut_left(struct buf *out, const char *s, size_t columns);
/* Cuts a function's shortened name.  A name with scopes keeps its end, because
 * the end is more specific; another name keeps its beginning. */
void line_cut_symbol(struct buf *out, const char *s, size_t columns);
/* Appends "3.21 s", "12 ms", "1 h 02 min". */
void line_duration(struct buf *out, uint64_t ns);
/* Appends "2026-11-21 06:40:01 UTC". */
void line_time(struct buf *out, uint64_t wall_ns);
/* Appends n blanks. */
void line_pad(struct buf *out, size_t n);
/* Returns 100.0 * part / whole, or 0 if whole is 0. */
double line_share(uint64_t part, uint64_t whole);

#endif
