/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_COLLECT_IMAGE_SPECIAL_H
#define TALLY_RECORD_COLLECT_IMAGE_SPECIAL_H
/* Images that are no files, and which part of a file a mapping shows. */
#include "record/collect/images.h"

/* The image of this name and number, made when needed; UINT32_MAX when out of
 * memory. */
uint32_t image_special(struct images *im, const char *path, uint8_t kind,
		       uint64_t number);

/* Takes a copy of our own vdso: the kernel gives all programs of our kind the
 * same. */
void image_vdso_init(struct images *im);
/* The vdso of a process; 32-bit programs have another than 64-bit ones. */
uint32_t image_vdso(struct images *im, const struct map_owner *who,
		    const struct mapping *m);

/* Which segment of the image `m` shows (m->delta: file offset - address), or
 * NULL.  `maps`: the other mappings of the process, or NULL. */
const struct image_segment *image_segment_of(const struct images *im,
					     uint32_t image,
					     const struct mapset *maps,
					     const struct map *m);

#endif
