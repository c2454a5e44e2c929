/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_PATH_H
#define TALLY_BASE_PATH_H
/* Paths as text; no file is looked at. */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends a path without its "//", "/./" and "dir/../". */
void path_normal(const char *path, struct buf *out);
/* Returns how many trailing components of two paths are equal: 2 for a/b/c.h,
 * x/b/c.h. */
size_t path_common_end(const char *a, const char *b);
/* Returns the last n components of a path. */
const char *path_end(const char *path, size_t n);
/* Returns whether `path` ends with `end`, whole components only. */
bool path_ends_with(const char *path, const char *end);
/* Returns the last component of a path; names in [brackets] are returned
 * unchanged. */
const char *path_base(const char *path);

#endif
