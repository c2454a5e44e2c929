/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_TEXT_H
#define TALLY_BASE_TEXT_H
/*
 * Safe text for a terminal, a CSV cell or a JSON string.  Names come from
 * untrusted binaries and processes and may contain escape sequences, invalid
 * UTF-8, or characters that reverse the writing direction.
 */
#include <stddef.h>

#include "base/buf.h"

/* Appends s with control characters, invalid UTF-8 and bidirectional or
 * zero-width characters replaced by \xNN or \u{NNNN}. */
void text_safe(struct buf *out, const char *s);
/* Returns the width of a safe text on a terminal, in columns (code points; wide
 * East Asian characters count as two). */
size_t text_columns(const char *s);
/* Appends at most `columns` columns of a safe text.  If it is truncated, the
 * last column is an ellipsis. */
void text_cut(struct buf *out, const char *s, size_t columns);
/* Appends a JSON string with its quotes (RFC 8259); invalid UTF-8 bytes become
 * U+FFFD, bidirectional marks and <, >, & are \u-escaped. */
void text_json(struct buf *out, const char *s);
/* Appends a CSV cell (RFC 4180) as text_safe does, so that a record is one
 * line; quoted if necessary.  A cell that a spreadsheet would run as a formula
 * (=, +, -, @ first) gets a leading '. */
void text_csv(struct buf *out, const char *s);
/* Appends text as XML, with control characters made visible as in text_safe and
 * markup escaped. */
void text_xml(struct buf *out, const char *s);
/* Appends arguments, quoted for a POSIX shell if necessary; argv ends with
 * NULL. */
void shell_quote(struct buf *out, char *const argv[]);
/* Writes n bytes in lowercase hexadecimal digits, and a NUL, to out[2 * n + 1]. */
void text_hex(char *out, const void *p, size_t n);
/* Appends a number with thousands separators: 1234567 becomes "1,234,567". */
void text_count(struct buf *out, uint64_t n);

#endif
