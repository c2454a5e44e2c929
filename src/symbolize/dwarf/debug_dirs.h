/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DEBUG_DIRS_H
#define TALLY_SYMBOLIZE_DWARF_DEBUG_DIRS_H
/*
 * Folders of debug files (private to src/symbolize): a list "A:B:C", like gdb's
 * debug-file-directory.  Each folder may have the layout of /usr/lib/debug, of
 * the debuginfod client's cache, or of the programs' root folder, or may
 * contain the files directly.
 */
#include "base/buf.h"
#include "image/image.h"

struct debug_dir {
	const char *p;		/* not NUL-terminated: print with "%.*s" */
	int n;
};

/* Returns the i-th folder of a list in *out; returns false after the last
 * one. */
bool debug_dir_at(const char *list, unsigned int i, struct debug_dir *out);

/* Returns the last folder of a list, the usual place, which messages name. */
bool debug_dir_last(const char *list, struct debug_dir *out);

/* Writes the i-th possible path of a build ID's file in a folder to `out`.
 * Returns false if there are no more. */
bool debug_dir_by_id(struct debug_dir dir, unsigned int i,
		     const struct build_id *id, struct buf *out);
/* Does the same by the path of the program. */
bool debug_dir_by_path(struct debug_dir dir, unsigned int i, const char *path,
		       struct buf *out);

/* Calls try_file for the files directly in the folder (or for the folder, if it
 * is a file) until try_file returns false.  The number of files is bounded. */
typedef bool debug_try_file(void *ctx, const char *path);
void debug_dir_each(struct debug_dir dir, debug_try_file *try_file, void *ctx);

#endif
