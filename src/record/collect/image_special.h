/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_SPECIAL_H
#define TALLY_RECORD_COLLECT_IMAGE_SPECIAL_H
/* Images that are not files, and which part of a file a mapping shows. */
#include "record/collect/images.h"

/* Returns the image of this name and number, made if necessary, or UINT32_MAX when
 * out of memory. */
uint32_t image_special(struct images *im, const char *path, uint8_t kind,
		       uint64_t number);

/* Copies tally's own vdso, which is the same for all programs of its word size. */
void image_vdso_init(struct images *im);
/* Returns the vdso of a process.  32-bit programs have a different one from 64-bit
 * programs. */
uint32_t image_vdso(struct images *im, const struct map_owner *who,
		    const struct mapping *m);

/* Returns the segment of the image that `m` shows (m->delta: file offset - address),
 * or NULL.  `maps` holds the other mappings of the process, or is NULL. */
const struct image_segment *image_segment_of(const struct images *im,
					     uint32_t image,
					     const struct mapset *maps,
					     const struct map *m);

#endif
