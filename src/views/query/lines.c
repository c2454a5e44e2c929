// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers for text output: lines, durations, times and cutting. */
#include "views/query/lines.h"

#include <string.h>
#include <time.h>

#include "base/text.h"

void line_pad(struct buf *out, size_t n)
{
	uint8_t *room = buf_room(out, n);

	if (room) {
		memset(room, ' ', n);
		out->n += n;
	}
}

static void put_word(struct buf *out, const char *word, size_t n, size_t limit)
{
	struct buf copy = { 0 };

	if (!limit) {
		buf_bytes(out, word, n);
		return;
	}
	buf_bytes(&copy, word, n);
	text_cut(out, buf_cstr(&copy), limit);
	buf_close(&copy, out);
}

static size_t word_columns(const char *word, size_t n, struct buf *out)
{
	struct buf copy = { 0 };
	size_t columns;

	buf_bytes(&copy, word, n);
	columns = text_columns(buf_cstr(&copy));
	buf_close(&copy, out);
	return columns;
}

void line_comment(struct buf *out, const char *text, int columns)
{
	size_t width = columns >= 20 ? (size_t)columns : 80;
	size_t at = 1;

	buf_u8(out, '#');
	for (;;) {
		size_t n, w;

		text += strspn(text, " ");
		n = strcspn(text, " ");
		if (!n)
			break;
		w = word_columns(text, n, out);
		if (at > 4 && at + 1 + w > width) {
			buf_str(out, "\n#  ");
			at = 4;
		}
		buf_u8(out, ' ');
		put_word(out, text, n, columns ? width - at - 1 : 0);
		at += 1 + (columns && w > width - at - 1 ? width - at - 1 : w);
		text += n;
	}
	buf_u8(out, '\n');
}

/* Returns the number of bytes of the character at s, which is safe text. */
static size_t char_bytes(const char *s)
{
	size_t n = 1;

	while (((uint8_t)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

void line_cut_left(struct buf *out, const char *s, size_t columns)
{
	size_t all = text_columns(s);

	if (all <= columns) {
		buf_str(out, s);
		return;
	}
	if (!columns)
		return;
	while (*s && all > columns - 1) {
		size_t n = char_bytes(s);

		all -= word_columns(s, n, out);
		s += n;
	}
	buf_str(out, "\xe2\x80\xa6");
	buf_str(out, s);
}

void line_cut_symbol(struct buf *out, const char *s, size_t columns)
{
	if (strstr(s, "::"))
		line_cut_left(out, s, columns);
	else
		text_cut(out, s, columns);
}

void line_duration(struct buf *out, uint64_t ns)
{
	double s = (double)ns / 1e9;

	if (ns < 1000000)
		buf_printf(out, "%.0f us", s * 1e6);
	else if (s < 1)
		buf_printf(out, "%.0f ms", s * 1e3);
	else if (s < 120)
		buf_printf(out, "%.2f s", s);
	else if (s < 7200)
		buf_printf(out, "%.0f min %02.0f s", (double)(ns / 60000000000),
			   (double)(ns / 1000000000 % 60));
	else
		buf_printf(out, "%.0f h %02.0f min",
			   (double)(ns / 3600000000000),
			   (double)(ns / 60000000000 % 60));
}

void line_time(struct buf *out, uint64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		buf_str(out, text);
}

double line_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
