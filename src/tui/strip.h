/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_STRIP_H
#define TALLY_TUI_STRIP_H
/* One line of the screen under construction: pieces of safe text with their
 * styles. */
#include "base/buf.h"
#include "base/vec.h"
#include "tui/screen.h"

struct strip_piece {
	size_t start;		/* offset in `text`; NUL-terminated */
	unsigned int look;
};

struct strip {
	struct buf text;
	VEC(struct strip_piece) pieces;
	size_t columns;		/* columns used */
	size_t room;		/* columns available; text beyond is cut */
	bool cut;		/* text was cut at the end of the line */
	unsigned int look;	/* style bits added to every piece */
};

void strip_begin(struct strip *s, size_t room);
void strip_fini(struct strip *s);
/* Appends safe text, cut at the end of the line. */
void strip_put(struct strip *s, unsigned int look, const char *safe);
/* Appends untrusted text. */
void strip_put_unsafe(struct strip *s, unsigned int look, const char *text);
void strip_printf(struct strip *s, unsigned int look, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends blanks up to a column. */
void strip_pad(struct strip *s, size_t column);
/* Appends safe text in exactly `width` columns.  A wider text is cut like a
 * name. */
void strip_name(struct strip *s, unsigned int look, const char *safe,
		size_t width);
/* Appends the whole line as plain text to `out`, for searching. */
void strip_text(const struct strip *s, struct buf *out);
void strip_show(struct strip *s, const struct screen *screen, int row);

#endif
