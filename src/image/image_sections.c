// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives the contents of sections, ready to be read: see image.h. */
#include "base/cursor.h"
#include "image/image_internal.h"

struct span image_sect_data(struct image *img, struct image_sect *s)
{
	image_sect_load(img, s);
	image_relocate(img, s);
	return s->data;
}

struct span image_section(struct image *img, const char *name)
{
	struct image_sect *s = image_find_debug_sect(img, name);

	return s ? image_sect_data(img, s) : (struct span){ NULL, 0 };
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

const char *image_debuglink(struct image *img, uint32_t *crc)
{
	struct span s = image_section(img, ".gnu_debuglink");
	struct cursor c = cursor_of(s.p, s.n);
	const char *name = cursor_cstr(&c);

	*crc = 0;
	cursor_skip(&c, -cursor_offset(&c) & 3);
	*crc = cursor_u32(&c);
	return !c.bad && name && *name && !strchr(name, '/') ? name : NULL;
}
