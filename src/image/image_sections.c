// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sections of an ELF image and their decompressed bytes (gABI chapter 4,
 * "Compressed Sections").  A section that is damaged is a missing section.
 */
#include <string.h>

#include "image/image_internal.h"

static struct span inflate_section(struct image *img, struct image_sect *s,
				   struct span raw)
{
	struct inflate_job job;

	if (!inflate_job_init(img, s, raw, &job))
		return (struct span){ NULL, 0 };
	inflate_job_run(&job);
	return inflate_job_done(&job);
}

bool image_sect_is_compressed(const struct image_sect *s)
{
	return (s->flags & SHF_COMPRESSED) || !strncmp(s->name, ".zdebug_", 8);
}

struct span image_sect_raw(const struct image *img, const struct image_sect *s)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !s->size ||
	    s->offset > img->bytes.n || s->size > img->bytes.n - s->offset)
		return (struct span){ NULL, 0 };
	return (struct span){ img->bytes.p + s->offset, (size_t)s->size };
}

struct span image_sect_data(struct image *img, struct image_sect *s)
{
	if (s->tried)
		return s->data;
	s->tried = true;
	s->data = image_sect_raw(img, s);
	if (s->data.n && image_sect_is_compressed(s))
		s->data = inflate_section(img, s, s->data);
	image_relocate(img, s);
	return s->data;
}

struct image_sect *image_find_sect(const struct image *img, const char *name)
{
	size_t i;

	for (i = 0; i < img->sects.n; i++)
		if (!strcmp(img->sects.v[i].name, name))
			return &img->sects.v[i];
	return NULL;
}

struct image_sect *image_find_type(const struct image *img, uint32_t type)
{
	size_t i;

	for (i = 0; i < img->sects.n; i++)
		if (img->sects.v[i].type == type)
			return &img->sects.v[i];
	return NULL;
}

/* .debug_info may be there as .zdebug_info. */
struct image_sect *image_find_debug_sect(const struct image *img,
					 const char *name)
{
	struct image_sect *s = image_find_sect(img, name);
	char old[64];

	if (s || strncmp(name, ".debug_", 7) || strlen(name) >= 60)
		return s;
	old[0] = '.';
	old[1] = 'z';
	strcpy(old + 2, name + 1);
	return image_find_sect(img, old);
}

struct span image_section(struct image *img, const char *name)
{
	struct image_sect *s = image_find_debug_sect(img, name);

	return s ? image_sect_data(img, s) : (struct span){ NULL, 0 };
}

const char *image_problem(const struct image *img)
{
	return img->problem;
}

struct span image_section_next(struct image *img, const char *name, size_t *at)
{
	while (*at < img->sects.n) {
		struct image_sect *s = &img->sects.v[(*at)++];

		if (!strcmp(s->name, name))
			return image_sect_data(img, s);
	}
	return (struct span){ NULL, 0 };
}

bool image_has_dwarf(const struct image *img)
{
	const struct image_sect *s = image_find_debug_sect(img, ".debug_info");

	return s && s->size && s->type != SHT_NOBITS;
}

bool image_section_range(const struct image *img, const char *name,
			 uint64_t *vaddr, uint64_t *size)
{
	const struct image_sect *s = image_find_sect(img, name);

	if (!s || !(s->flags & SHF_ALLOC) || s->addr + s->size < s->addr)
		return false;
	*vaddr = s->addr;
	*size = s->size;
	return true;
}
