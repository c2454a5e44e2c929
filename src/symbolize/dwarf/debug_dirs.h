/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DEBUG_DIRS_H
#define TALLY_SYMBOLIZE_DWARF_DEBUG_DIRS_H
/*
 * Folders of debug files (private to src/symbolize): a list "A:B:C", as gdb's
 * debug-file-directory.  Each may be laid out as /usr/lib/debug is, as the cache
 * of debuginfod's client, as the root folder of the programs, or hold the files
 * as they are.
 */
#include "base/buf.h"
#include "image/image.h"

struct debug_dir {
	const char *p;		/* not terminated: print with "%.*s" */
	int n;
};

/* The i-th folder of a list; false behind the last one. */
bool debug_dir_at(const char *list, unsigned int i, struct debug_dir *out);

/* The last one: the usual place, which messages name. */
bool debug_dir_last(const char *list, struct debug_dir *out);

/* Where a folder has what belongs to a build-id: writes the i-th place into out;
 * false when there are no more. */
bool debug_dir_by_id(struct debug_dir dir, unsigned int i,
		     const struct build_id *id, struct buf *out);
/* The same by the path of the program. */
bool debug_dir_by_path(struct debug_dir dir, unsigned int i, const char *path,
		       struct buf *out);

/* Calls try_file for the files right in the folder (or for the folder, if that is
 * a file) until it returns false; a bounded number of them. */
typedef bool debug_try_file(void *ctx, const char *path);
void debug_dir_each(struct debug_dir dir, debug_try_file *try_file, void *ctx);

#endif
