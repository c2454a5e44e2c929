/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_OPEN_H
#define TALLY_RECORD_COLLECT_IMAGE_OPEN_H
/* Finds the file behind a mapping, which may be in another mount namespace, renamed,
 * replaced or deleted. */
#include "record/collect/images.h"

/* Reads what the recorder needs of an ELF file: segments, and the build ID if the
 * kernel reported none.  Returns false, and the reason in *err (may be NULL), for other
 * files. */
bool image_take(struct recorded_image *r, int fd, struct error *err);
/* Looks for the file of r->path.  Sets r's segments, build ID, fd, flags and reason. */
void image_open(struct images *im, struct recorded_image *r,
		const struct map_owner *who, const struct mapping *m);
/* Opens a file again that was closed because too many were open.  Returns the
 * descriptor or -1. */
int image_reopen(const struct recorded_image *r);
/* Returns whether the file was written to since it was opened. */
bool image_is_rewritten(const struct recorded_image *r, int fd);

#endif
