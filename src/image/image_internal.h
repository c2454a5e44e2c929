/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_IMAGE_INTERNAL_H
#define TALLY_IMAGE_IMAGE_INTERNAL_H
/* What the files of this folder share; nobody else includes this. */
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

/* Sections that are kept decompressed may not fill all memory. */
#define IMAGE_MAX_INFLATED (16ull << 30)

/* One section to inflate: init takes memory, run may be in any thread, done gives
 * the data (empty when it was damaged). */
struct inflate_job {
	struct image_sect *s;
	const uint8_t *in;
	size_t nin;
	uint64_t size;
	bool good;
};
/* False when the section is not zlib's, or damaged. */
bool inflate_job_init(struct image *img, struct image_sect *s, struct span raw,
		      struct inflate_job *job);
void inflate_job_run(struct inflate_job *job);
struct span inflate_job_done(struct inflate_job *job);

bool image_sect_is_compressed(const struct image_sect *s);
/* The bytes as they are in the file. */
struct span image_sect_raw(struct image_sect *s);
struct image_sect *image_find_debug_sect(const struct image *img,
					 const char *name);
int image_read_sections(struct image *img, struct error *err);
/* The data of one section, decompressed and cached. */
struct span image_sect_data(struct image *img, struct image_sect *s);
struct image_sect *image_find_sect(const struct image *img, const char *name);

#endif
