/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_SCREEN_H
#define TALLY_CLI_SCREEN_H
/*
 * The terminal as a screen (tui/screen.h), by ncurses.  However the program ends
 * while it is open — also by a signal or a crash — the terminal is put back as it
 * was; stopped (SIGTSTP) it is the shell's, and drawn anew afterwards.
 */
#include <stdbool.h>

#include "base/error.h"
#include "tui/screen.h"

/* Whether this terminal can show one; NULL: it can, else why not. */
const char *screen_lacks(void);
int screen_open(bool color, struct screen *out, struct error *err);
void screen_close(void);
/* Whether ncurses is at work: when an allocation fails then, it ends the process, with
 * words of its own, or crashes. */
bool screen_is_busy(void);
/* Puts the terminal back where it is open; for handlers of signals. */
void screen_restore(void);

#endif
