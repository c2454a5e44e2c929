/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DWARF_DEBUG_FILE_H
#define TALLY_SYMBOLIZE_DWARF_DEBUG_FILE_H
/* Finds the files that hold debug information (private to src/symbolize):
 * separate debug files, dwz's alternate files, split DWARF. */
#include "base/buf.h"
#include "image/image.h"

/* Where to search.  Strings are borrowed. */
struct debug_search {
	const char *dirs;	/* see debug_dirs.h; NULL: no search */
	const char *binary;	/* name of the image */
	const char *debug;	/* name of its debug file, or NULL */
	struct image *(*open_file)(void *ctx, const char *path);
	void *ctx;
	/* Called for each path that is tried, and for folders whose files are
	 * tried; may be NULL. */
	void (*looked)(void *ctx, const char *path);
	void *looked_ctx;
};

/* Opens the image at path, which the caller closes.  Returns NULL on
 * failure. */
struct image *debug_open(const struct debug_search *s, const char *path);

/* Opens the separate debug file of img.  Returns 0 and sets *out to the opened
 * file and *path to its name (malloc'ed).  If there is none, *out is NULL and
 * *path the name it should have ("" if that is unknown).  Returns -ERR_NOMEM if
 * out of memory. */
int debug_file_open(struct image *img, const struct debug_search *s,
		    struct image **out, char **path);

/* Opens the alternate file that img names (.gnu_debugaltlink, or .debug_sup of
 * DWARF 5 §7.3.6) in the same way.  *path is NULL if img names none. */
int debug_alt_open(struct image *img, const struct debug_search *s,
		   struct image **out, char **path);

/* Write the i-th possible path of a .dwo file, or of the .dwp file, to `out`.
 * Return false if there are no more. */
bool debug_dwo_path(const struct debug_search *s, unsigned i, const char *dir,
		    const char *name, struct buf *out);
bool debug_dwp_path(const struct debug_search *s, unsigned i, struct buf *out);

/* Returns the separate debug file of an image, by build ID or debuglink; NULL
 * if there is none.  The caller closes it. debug_dirs: see debug_dirs.h. */
struct image *symbolize_debug_file(struct image *img, const char *debug_dirs);
/* Sets *id to the build ID of the alternate file (dwz) to which the debug
 * information of img refers.  Returns false if there is none. */
bool symbolize_alternate(struct image *img, struct build_id *id);

#endif
