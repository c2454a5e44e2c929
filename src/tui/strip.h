/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_STRIP_H
#define TALLY_TUI_STRIP_H
/* One line of the screen while it is put together: pieces of safe text with
 * their looks. */
#include "base/buf.h"
#include "base/vec.h"
#include "tui/screen.h"

struct strip_piece {
	size_t start;		/* in text, NUL-terminated */
	unsigned int look;
};

struct strip {
	struct buf text;
	VEC(struct strip_piece) pieces;
	size_t columns;		/* taken */
	size_t room;		/* there are; more is cut */
	bool cut;		/* text was cut at the end of the room */
	unsigned int look;	/* added to that of every piece */
};

void strip_begin(struct strip *s, size_t room);
void strip_fini(struct strip *s);
/* Appends safe text, cut where the room ends. */
void strip_put(struct strip *s, unsigned int look, const char *safe);
/* Appends untrusted text. */
void strip_put_unsafe(struct strip *s, unsigned int look, const char *text);
void strip_printf(struct strip *s, unsigned int look, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Blanks up to a column. */
void strip_pad(struct strip *s, size_t column);
/* Safe text in exactly `width` columns, cut as a name is where it is wider. */
void strip_name(struct strip *s, unsigned int look, const char *safe,
		size_t width);
/* All of it as one text, for searching. */
void strip_text(const struct strip *s, struct buf *out);
void strip_show(struct strip *s, const struct screen *screen, int row);

#endif
