/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_TUI_MEMORY_SCREEN_H
#define TALLY_TESTS_TUI_MEMORY_SCREEN_H
/*
 * A screen in memory that plays keys to the interactive view.  Every row that is
 * drawn is checked: not wider than the screen, and nothing in it that a terminal
 * would take for more than text.
 */
#include <stdbool.h>

#include "tui/screen.h"

/* In a string of keys. */
#define K_DOWN "\x01"
#define K_UP "\x03"
#define K_RIGHT "\x05"
#define K_LEFT "\x07"
#define K_ENTER "\n"
#define K_TAB "\t"
#define K_ESC "\x1b"
#define K_BACK "\x7f"
#define K_END "\x0e"
#define K_HOME "\x0f"
#define K_NARROW "\x10"	/* the screen becomes 40 columns wide… */
#define K_TINY "\x11"	/* … 4 rows of 12 */
#define K_WIDE "\x12"	/* … 50 rows of 132 */
#define K_NEWS "\x13"

enum { MEMORY_ROWS = 60, MEMORY_BYTES = 1024 };

struct memory_screen {
	struct screen screen;
	int rows, columns;
	char row[MEMORY_ROWS][MEMORY_BYTES];
	char look[MEMORY_ROWS][MEMORY_BYTES];	/* by byte of row: its bits */
	const char *keys;
	size_t at, n;
	bool bad;		/* a row broke the rules: see `why` */
	char why[256];
};

/* Plays all keys, then leaves; the screen stays as it was before that. */
void memory_screen_init(struct memory_screen *m, int rows, int columns,
			const char *keys, size_t n);
/* The row that has all of the text, or -1. */
int memory_screen_find(const struct memory_screen *m, const char *text);
/* The row that is reversed below the title, or -1. */
int memory_screen_chosen(const struct memory_screen *m);

#endif
