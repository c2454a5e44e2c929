/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_TEXT_H
#define TALLY_BASE_TEXT_H
/*
 * Safe text for a terminal, a CSV cell or a JSON string.  Names come from
 * untrusted binaries and processes and may contain escape sequences, invalid
 * UTF-8, or characters that reverse the writing direction.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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
/* The same with <, >, & as they are, which is shorter, for files that no page will
 * contain. */
void text_json_of_file(struct buf *out, const char *s);
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
/* Appends bytes that are not letters, digits or in `plain` as %XX (RFC 3986 §2.1). */
void text_percent(struct buf *out, const char *s, const char *plain);
/* Writes n bytes in lowercase hexadecimal digits, and a NUL, to out[2 * n + 1]. */
void text_hex(char *out, const void *p, size_t n);
/* Returns the value of a lowercase hexadecimal digit, or -1. */
static inline int text_hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0'
	     : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool text_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool text_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Returns whether a byte belongs to a word: a letter, a digit, _ or not ASCII. */
static inline bool text_is_word(char c)
{
	return text_is_lower(c) || text_is_upper(c) || text_is_digit(c) || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static inline bool text_ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !memcmp(s + n - m, end, m);
}

/* Appends a code point below 0x110000 as UTF-8 (Unicode 15 §3.9, table 3-6). */
void text_utf8(struct buf *out, uint32_t c);
/* Appends ASCII text and a newline, folded at blanks so that lines have at most
 * `columns` columns; long words stay whole.  The first line continues at column
 * `indent`, others are indented to it. */
void text_wrap(struct buf *out, const char *text, size_t indent,
	       size_t columns);
/* Returns the ending of a noun: "" for one, else `end`, such as "s". */
static inline const char *plural(uint64_t n, const char *end)
{
	return n == 1 ? "" : end;
}

/* Appends a number with thousands separators: 1234567 becomes "1,234,567". */
void text_count(struct buf *out, uint64_t n);

#endif
