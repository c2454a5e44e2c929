/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_FETCH_DEBUG_H
#define TALLY_CMD_FETCH_DEBUG_H
/* Requests files from debuginfod servers for commands. */
#include "cmd/command.h"
#include "profile/reader.h"
#include "symbolize/debuginfod.h"

/* Sets the callbacks of d to the command's connection to the user. */
void cmd_debuginfod(struct cmd_io *io, struct debuginfod *d);

struct fetch_options {
	const char *debug_dirs;	/* as in symbolize_options */
	unsigned int seconds;	/* time limit */
	bool quiet;		/* report no files, only errors */
};

/*
 * Fetches what a symbolized recording lacks into libdebuginfod's cache: the debug
 * files of its images, dwz's alternate files, and programs that are gone or were
 * replaced.  Images with the most samples without names come first.  Ctrl-C ends
 * the requests, not the command.
 *
 * Sets files[image] to the descriptor of a fetched program, which the caller closes;
 * the others stay as they are.  A file that no server has is reported, not an
 * error.  Errors: no server is set up, no libdebuginfod, out of memory.
 */
int cmd_fetch_debug(struct cmd_io *io, struct reader *r, const char *path,
		    const struct fetch_options *o, int *files, struct error *err);

#endif
