// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines of the screen, composed of pieces with styles. */
#include "tui/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "views/query/lines.h"

enum { PIECES_MAX = 256 };

void strip_begin(struct strip *s, size_t room)
{
	buf_reset(&s->text);
	s->pieces.n = 0;
	s->columns = 0;
	s->room = room;
	s->cut = false;
	s->look = 0;
}

void strip_fini(struct strip *s)
{
	buf_fini(&s->text);
	vec_fini(&s->pieces);
}

void strip_put(struct strip *s, unsigned int look, const char *safe)
{
	size_t left = s->room - s->columns, n = text_columns(safe);
	struct strip_piece p = { s->text.n, look };

	if (!*safe)
		return;
	if (n > left) {
		s->cut = true;
		n = left;
	}
	if (!n || s->pieces.n >= PIECES_MAX || vec_push(&s->pieces, p) < 0)
		return;
	text_cut(&s->text, safe, n);
	buf_u8(&s->text, 0);
	if (s->text.failed)
		s->pieces.n--;
	else
		s->columns += n;
}

void strip_put_unsafe(struct strip *s, unsigned int look, const char *text)
{
	struct buf safe = { 0 };

	text_safe(&safe, text);
	strip_put(s, look, buf_cstr(&safe));
	buf_fini(&safe);
}

void strip_printf(struct strip *s, unsigned int look, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	strip_put(s, look, text);
}

void strip_pad(struct strip *s, size_t column)
{
	static const char blanks[] = "                                ";
	size_t most = sizeof(blanks) - 1;

	if (column > s->room)
		column = s->room;
	while (s->columns < column) {
		size_t n = column - s->columns;

		strip_put(s, STYLE_PLAIN, blanks + most - (n < most ? n : most));
		if (s->pieces.n >= PIECES_MAX || s->text.failed)
			break;
	}
}

/* Cuts a name to a width.  Its parameters, which are shortened already, are
 * dropped first. */
static void cut_name(struct buf *out, const char *safe, size_t width)
{
	static const char *const tails[] = { " const", "(\u2026)" };
	struct buf name = { 0 };

	buf_str(&name, safe);
	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(tails[i]);

		if (text_columns(buf_cstr(&name)) > width && name.n > n &&
		    !memcmp(name.p + name.n - n, tails[i], n))
			name.n -= n;
	}
	line_cut_symbol(out, buf_cstr(&name), width);
	buf_fini(&name);
}

void strip_name(struct strip *s, unsigned int look, const char *safe,
		size_t width)
{
	size_t end = s->columns + width;
	struct buf cut = { 0 };

	cut_name(&cut, safe, width);
	strip_put(s, look, buf_cstr(&cut));
	buf_fini(&cut);
	strip_pad(s, end);
}

void strip_text(const struct strip *s, struct buf *out)
{
	for (size_t i = 0; i < s->pieces.n; i++)
		buf_str(out, (const char *)s->text.p + s->pieces.v[i].start);
}

void strip_show(struct strip *s, const struct screen *screen, int row)
{
	const char *text[PIECES_MAX];
	unsigned int look[PIECES_MAX];

	if (s->look)
		strip_pad(s, s->room);
	for (size_t i = 0; i < s->pieces.n; i++) {
		text[i] = (const char *)s->text.p + s->pieces.v[i].start;
		look[i] = s->pieces.v[i].look | s->look;
	}
	screen->ops->row(screen->ctx, row, s->pieces.n, text, look);
}
