/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_TERMINAL_H
#define TALLY_CLI_TERMINAL_H
/* How tally talks to the person at the terminal: width, colour, pager, the line
 * that shows progress. */
#include <sys/types.h>

#include "cmd/command.h"

struct terminal {
	struct cmd_io io;	/* first: commands see only this */
	pid_t pager;		/* 0: none */
	uint64_t shown_ns;	/* when the progress line was last drawn */
	bool line;		/* a progress line is on the screen */
};

void terminal_init(struct terminal *t);
/* Writes what is pending and waits for the pager.  0, or an errno when output
 * could not be written (a reader that has gone is no error). */
int terminal_fini(struct terminal *t);

#endif
