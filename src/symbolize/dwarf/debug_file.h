/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DEBUG_FILE_H
#define TALLY_SYMBOLIZE_DWARF_DEBUG_FILE_H
/* Finds the files that debug information is spread over (private to
 * src/symbolize): separate debug files, dwz's alternate files, split DWARF. */
#include "base/buf.h"
#include "image/image.h"

/* Where to look.  Strings are borrowed. */
struct debug_search {
	const char *dirs;	/* see debug_dirs.h; NULL: look nowhere */
	const char *binary;	/* the image's own name */
	const char *debug;	/* the name of its debug file, or NULL */
	struct image *(*open_file)(void *ctx, const char *path);
	void *ctx;
};

/* The image at path, or NULL. */
struct image *debug_open(const struct debug_search *s, const char *path);

/* 0 with *out the opened file and *path its name (malloc'ed), or *out NULL and
 * *path the name that it should have ("" allocated when that is unknown);
 * -ERR_NOMEM. */
int debug_file_open(struct image *img, const struct debug_search *s,
		    struct image **out, char **path);

/* The alternate file that img names (.gnu_debugaltlink, or .debug_sup of DWARF
 * 5 §7.3.6), in the same way; *path is NULL where img names none. */
int debug_alt_open(struct image *img, const struct debug_search *s,
		   struct image **out, char **path);

/* The places where a .dwo file, or the .dwp file, may be: writes the i-th into
 * out; false when there are no more. */
bool debug_dwo_path(const struct debug_search *s, unsigned i, const char *dir,
		    const char *name, struct buf *out);
bool debug_dwp_path(const struct debug_search *s, unsigned i, struct buf *out);

/* The separate debug file of an image, by build-id or debuglink, or NULL.
 * debug_dirs: see debug_dirs.h. */
struct image *symbolize_debug_file(struct image *img, const char *debug_dirs);

#endif
