/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_TERMINAL_H
#define TALLY_CLI_TERMINAL_H
/* The user's terminal: width, colour, pager and progress line. */
#include <sys/types.h>

#include "cmd/command.h"

struct terminal {
	struct cmd_io io;	/* first member; commands see only this */
	pid_t pager;		/* process ID; 0: none */
	uint64_t shown_ns;	/* time when the progress line was last drawn */
	bool line;		/* a progress line is on the screen */
};

/* Detects the abilities of the terminal and fills in t->io. */
void terminal_init(struct terminal *t);
/* Writes pending output and waits for the pager.  Returns 0, or an errno if output
 * could not be written.  A reader that has exited is no error. */
int terminal_fini(struct terminal *t);

#endif
