/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TUI_SCREEN_H
#define TALLY_TUI_SCREEN_H
/*
 * The screen that the interactive view draws on and reads keys from: a terminal
 * (cli/screen.c), or memory in tests.
 */
#include <stddef.h>
#include <stdint.h>

/* Text styles, as bits. */
enum {
	STYLE_PLAIN = 0,
	STYLE_BOLD = 1,
	STYLE_DIM = 2,
	STYLE_REVERSE = 4,
	/* colours, if the screen has them */
	STYLE_HOT = 8,
	STYLE_WARM = 16,
	STYLE_WARN = 32,
	STYLE_LINK = 64,
};

/* A key is a Unicode character, or one of these. */
enum {
	SCREEN_UP = 0x110000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_TAB,
	SCREEN_BACK_TAB,
	SCREEN_F1,
	SCREEN_RESIZE,
	SCREEN_CLICK,		/* event.row, event.column */
	SCREEN_DOUBLE_CLICK,
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
	SCREEN_CLOSED,		/* the terminal is gone */
	SCREEN_NEWS,		/* the watched descriptor is readable */
	SCREEN_OTHER,		/* any other key */
};

struct screen_event {
	uint32_t key;
	int row, column;
};

struct screen_ops {
	void (*size)(void *ctx, int *rows, int *columns);
	/* Draws one whole row: `n` pieces of safe text from column 0 on.
	 * Together they are at most as wide as the screen; the rest is
	 * blank. */
	void (*row)(void *ctx, int row, size_t n, const char *const *text,
		    const unsigned int *look);
	void (*show)(void *ctx, int cursor_row, int cursor_column);
	struct screen_event (*key)(void *ctx);	/* waits for an event */
	/* Makes `key` also return SCREEN_NEWS when a descriptor is readable and no
	 * key was pressed; -1: none. */
	void (*watch)(void *ctx, int fd);
};

struct screen {
	const struct screen_ops *ops;
	void *ctx;
};

#endif
