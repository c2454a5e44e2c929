/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_DEBUG_DIRS_H
#define TALLY_CMD_DEBUG_DIRS_H
/* --debug-dir: folders that commands search for debug files. */
#include "base/buf.h"
#include "cmd/command.h"

/* The row of an option table; the value is a struct opt_strs.  `when`: when the folders
 * are searched, such as "For recordings without symbols: ", or "". */
#define DEBUG_DIR_ROW(when, at) \
	{ OPT_STRS, 0, "debug-dir", "DIR", when \
	  "Also search DIR for debug files: in the layout of /usr/lib/debug or " \
	  "of debuginfod's cache, at the path of the program, or directly in " \
	  "DIR. May be repeated.", at }

/* Appends the list of folders for sym_options.debug_dirs: the named ones (NULL: none),
 * which must exist, then the cache of debuginfod's client and /usr/lib/debug. */
int cmd_debug_dirs(const struct opt_strs *named, struct buf *out,
		   struct error *err);

#endif
