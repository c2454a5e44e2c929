/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_DEBUG_FILE_H
#define TALLY_SYMBOLIZE_DEBUG_FILE_H
/* Finds the separate debug file of an image (private to src/symbolize). */
#include "image/image.h"

/* 0 with *out the opened file and *path its name (malloc'ed), or *out NULL and
 * *path the name that it should have ("" allocated when that is unknown);
 * -ERR_NOMEM. */
int debug_file_open(struct image *img, const char *debug_dir,
		    struct image **out, char **path);

#endif
