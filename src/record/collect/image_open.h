/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_OPEN_H
#define TALLY_RECORD_COLLECT_IMAGE_OPEN_H
/* Finding the file behind a mapping, which may be in another mount namespace,
 * renamed, replaced or deleted. */
#include "record/collect/images.h"

enum { PATH_SPACE = 4096 + 64 };

/* Opens a plain file only; -errno when it cannot. */
int open_plain(const char *path, struct stat *st);
/* Takes over what the recorder needs of an ELF file: segments, and the build-id
 * if the kernel told none.  False when it is no ELF file. */
bool image_take(struct recorded_image *r, int fd);
/* Looks for the file of r->path; sets r's segments, build-id, fd, flags and
 * reason. */
void image_open(struct images *im, struct recorded_image *r,
		const struct map_owner *who, const struct mapping *m);
/* Opens it again: too many files to keep all open.  An fd or -1. */
int image_reopen(const struct recorded_image *r);
/* Was it written to since it was opened? */
bool image_is_rewritten(const struct recorded_image *r, int fd);

#endif
