/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_IMAGE_OPEN_H
#define TALLY_RECORD_IMAGE_OPEN_H
/* Finding the file behind a mapping, which may be in another mount namespace,
 * renamed, replaced or deleted. */
#include <sys/stat.h>

#include "record/images.h"

enum { PATH_SPACE = 4096 + 64 };

bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Opens a plain file only; -1 when it cannot. */
int open_plain(const char *path, struct stat *st);
/* Is the opened file the one that was mapped? */
bool is_mapped_file(const struct record_mmap *m, int fd,
		    const struct stat *st);
/* Takes over what the recorder needs of an ELF file: segments and build-id. */
void image_take(struct recorded_image *r, int fd);
/* Looks for the file of r->path; sets r's segments, build-id, fd and flags. */
void image_open(struct images *im, struct recorded_image *r,
		struct map_owner who, const struct record_mmap *m);

#endif
