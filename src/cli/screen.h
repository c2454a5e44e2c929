/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_SCREEN_H
#define TALLY_CLI_SCREEN_H
/*
 * The terminal as a screen (tui/screen.h), by ncurses.  The terminal is restored
 * however the program ends, even by a signal or a crash.  While the program is
 * stopped (SIGTSTP), the shell has the terminal; the screen is redrawn afterwards.
 */
#include <stdbool.h>

#include "base/error.h"
#include "tui/screen.h"

/* Returns whether terminfo(5) knows that the terminal can only print, or does not
 * know the terminal. */
bool screen_only_prints(void);
/* Returns the reason why this terminal cannot show a screen, or NULL if it can. */
const char *screen_lacks(void);
/* Opens the screen, which screen_close closes.  ERR_UNSUPPORTED gives the reason
 * why this terminal cannot show one. */
int screen_open(bool color, struct screen *out, struct error *err);
void screen_close(void);
/* Returns whether ncurses is running.  If an allocation fails then, ncurses
 * crashes, or ends the process with a message of its own. */
bool screen_is_busy(void);
/* Restores the terminal if a screen is open; safe in signal handlers. */
void screen_restore(void);

#endif
