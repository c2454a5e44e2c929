// SPDX-License-Identifier: GPL-2.0-or-later
/* A screen in memory: see memory_screen.h. */
#include "memory_screen.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void size(void *ctx, int *rows, int *columns)
{
	const struct memory_screen *m = ctx;

	*rows = m->rows;
	*columns = m->columns;
}

static void complain(struct memory_screen *m, int at, const char *what,
		     const char *text)
{
	if (!m->bad)
		snprintf(m->why, sizeof(m->why), "row %d %s: %.150s", at, what,
			 text);
	m->bad = true;
}

static void check(struct memory_screen *m, int at, const char *text)
{
	struct buf safe = { 0 };

	text_safe(&safe, text);
	if (strcmp(buf_cstr(&safe), text) != 0)
		complain(m, at, "is not safe", buf_cstr(&safe));
	buf_fini(&safe);
}

static void row(void *ctx, int at, size_t n, const char *const *text,
		const unsigned int *look)
{
	struct memory_screen *m = ctx;
	size_t used = 0;

	if (at < 0 || at >= MEMORY_ROWS) {
		complain(m, at, "is none", "");
		return;
	}
	memset(m->row[at], 0, MEMORY_BYTES);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(text[i]);

		check(m, at, text[i]);
		if (used + len >= MEMORY_BYTES) {
			complain(m, at, "is long", "");
			return;
		}
		memcpy(m->row[at] + used, text[i], len);
		memset(m->look[at] + used, (int)look[i], len);
		used += len;
	}
	/* a tiny screen is drawn as if it had 10 columns */
	if (text_columns(m->row[at]) > (size_t)(m->columns < 10 ? 10
							 : m->columns))
		complain(m, at, "is too wide", m->row[at]);
}

static void show(void *ctx, int cursor_row, int cursor_column)
{
	(void)ctx;
	(void)cursor_row;
	(void)cursor_column;
}

static void resize(struct memory_screen *m, int rows, int columns)
{
	m->rows = rows;
	m->columns = columns;
	memset(m->row, 0, sizeof(m->row));
}

static uint32_t translate(struct memory_screen *m, char c)
{
	switch (c) {
	case '\x01': return SCREEN_DOWN;
	case '\x03': return SCREEN_UP;
	case '\x05': return SCREEN_RIGHT;
	case '\x07': return SCREEN_LEFT;
	case '\n': return SCREEN_ENTER;
	case '\t': return SCREEN_TAB;
	case '\x1b': return SCREEN_ESCAPE;
	case '\x7f': return SCREEN_BACKSPACE;
	case '\x0e': return SCREEN_END;
	case '\x0f': return SCREEN_HOME;
	case '\x10': resize(m, 20, 40); return SCREEN_RESIZE;
	case '\x11': resize(m, 4, 12); return SCREEN_RESIZE;
	case '\x12': resize(m, 50, 132); return SCREEN_RESIZE;
	case '\x13': return SCREEN_NEWS;
	}
	return (uint8_t)c;
}

static struct screen_event key(void *ctx)
{
	struct memory_screen *m = ctx;
	struct screen_event e = { .key = SCREEN_CLOSED };

	if (m->at < m->n)
		e.key = translate(m, m->keys[m->at++]);
	return e;
}

void memory_screen_init(struct memory_screen *m, int rows, int columns,
			const char *keys, size_t n)
{
	static const struct screen_ops ops = { .size = size, .row = row,
					       .show = show, .key = key };

	memset(m, 0, sizeof(*m));
	m->screen = (struct screen){ &ops, m };
	m->rows = rows;
	m->columns = columns;
	m->keys = keys;
	m->n = n;
}

int memory_screen_find(const struct memory_screen *m, const char *text)
{
	for (int i = 0; i < m->rows && i < MEMORY_ROWS; i++)
		if (strstr(m->row[i], text))
			return i;
	return -1;
}

int memory_screen_chosen(const struct memory_screen *m)
{
	for (int i = 1; i < m->rows && i < MEMORY_ROWS; i++)
		if (m->row[i][0] && m->look[i][0] & STYLE_REVERSE)
			return i;
	return -1;
}
