/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_TEXT_H
#define TALLY_BASE_TEXT_H
/*
 * Text made safe for a terminal, a CSV cell or a JSON string.  Names come from
 * binaries and processes of anyone: they may hold escape sequences, invalid
 * UTF-8, or marks that reverse the writing direction.
 */
#include <stddef.h>

#include "base/buf.h"

/* Appends s with control characters, invalid UTF-8 and bidirectional or
 * zero-width marks replaced by \xNN or \u{NNNN}; the rest as it is. */
void text_safe(struct buf *out, const char *s);
/* Columns that a safe text takes on a terminal (code points; wide East Asian
 * ones count two). */
size_t text_columns(const char *s);
/* Appends at most `columns` columns of a safe text; when cut, the last column
 * is an ellipsis. */
void text_cut(struct buf *out, const char *s, size_t columns);
/* Appends a JSON string with its quotes (RFC 8259); invalid UTF-8 bytes become
 * U+FFFD, bidirectional marks and <, >, & are \u-escaped. */
void text_json(struct buf *out, const char *s);
/* Appends one CSV cell (RFC 4180) made safe as by text_safe, so that a record
 * is one line; quoted when needed.  A cell that a spreadsheet would run as a
 * formula (=, +, -, @ first) gets a leading '. */
void text_csv(struct buf *out, const char *s);
/* Appends text as XML: control characters and marks made visible as by
 * text_safe, markup escaped. */
void text_xml(struct buf *out, const char *s);
/* Appends words, quoted for a POSIX shell where needed; NULL ends argv. */
void shell_quote(struct buf *out, char *const argv[]);
/* 1234567 -> "1,234,567" */
void text_count(struct buf *out, uint64_t n);

#endif
