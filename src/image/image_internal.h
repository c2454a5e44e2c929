/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_IMAGE_INTERNAL_H
#define TALLY_IMAGE_IMAGE_INTERNAL_H
/* What image.c, image_sections.c and image_symbols.c share; nobody else includes
 * this. */
#include <gelf.h>

#include "base/io.h"
#include "base/vec.h"
#include "image/image.h"

struct image_sect {
	const char *name;	/* in the image's section name table */
	Elf_Scn *scn;
	uint64_t addr, size, flags;
	uint32_t type;
	bool tried;		/* data was asked for before */
	struct span data;	/* n = 0: missing or damaged */
	uint8_t *owned;		/* decompressed bytes */
};

struct image {
	char *name;
	struct io_map map;	/* the file, or ... */
	uint8_t *copy;		/* ... our copy of the caller's bytes */
	struct span bytes;
	Elf *elf;
	GElf_Ehdr ehdr;
	struct build_id build_id;
	VEC(struct image_segment) segments;
	VEC(struct image_sect) sects;	/* by section number */
	uint64_t inflated;	/* bytes of decompressed sections kept */
};

int image_read_sections(struct image *img, struct error *err);
/* The data of one section, decompressed and cached. */
struct span image_sect_data(struct image *img, struct image_sect *s);
struct image_sect *image_find_sect(const struct image *img, const char *name);

#endif
