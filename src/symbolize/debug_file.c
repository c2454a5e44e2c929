// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Separate debug files, in the order that gdb documents ("Debugging Information
 * in Separate Files"): by build-id, then by .gnu_debuglink with its CRC.
 */
#include "symbolize/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/io.h"

static bool same_id(const struct image *a, const struct build_id *id)
{
	struct build_id b = image_build_id(a);

	return b.len == id->len && !memcmp(b.bytes, id->bytes, id->len);
}

/* A debug file of other code would name wrong functions. */
static struct image *open_by_id(const char *path, const struct build_id *id)
{
	struct image *img;

	if (image_open_file(path, &img, NULL) < 0)
		return NULL;
	if (same_id(img, id))
		return img;
	image_close(img);
	return NULL;
}

static bool crc_matches(const char *path, uint32_t crc)
{
	struct io_map map;
	uLong c = crc32(0, NULL, 0);
	size_t at = 0;

	if (io_map_file(path, &map, NULL) < 0)
		return false;
	while (at < map.n) {
		size_t n = map.n - at > 1u << 30 ? 1u << 30 : map.n - at;

		c = crc32(c, map.p + at, (uInt)n);
		at += n;
	}
	io_unmap(&map);
	return c == crc;
}

static struct image *open_by_link(const char *path, uint32_t crc,
				  const struct build_id *id)
{
	struct image *img;

	/* The build-id says the same for less work where both have one. */
	if (image_open_file(path, &img, NULL) < 0)
		return NULL;
	if (id->len && image_build_id(img).len ? same_id(img, id)
					       : crc_matches(path, crc))
		return img;
	image_close(img);
	return NULL;
}

static void id_path(struct buf *b, const char *debug_dir,
		    const struct build_id *id)
{
	unsigned i;

	buf_reset(b);
	buf_printf(b, "%s/.build-id/%02x/", debug_dir, id->bytes[0]);
	for (i = 1; i < id->len; i++)
		buf_printf(b, "%02x", id->bytes[i]);
	buf_str(b, ".debug");
}

/* Same folder, .debug/ in it, the same folder below debug_dir. */
static struct image *find_by_link(struct image *img, const char *debug_dir,
				  const struct build_id *id, struct buf *b)
{
	uint32_t crc;
	const char *link = image_debuglink(img, &crc), *slash;
	char *real = link ? realpath(image_name(img), NULL) : NULL;
	struct image *found = NULL;
	int i, n;

	if (!real)
		return NULL;
	slash = strrchr(real, '/');
	n = slash ? (int)(slash - real) : 0;
	for (i = 0; i < 3 && !found; i++) {
		buf_reset(b);
		buf_printf(b, "%s%.*s/%s%s", i == 2 ? debug_dir : "", n, real,
			   i == 1 ? ".debug/" : "", link);
		if (strcmp(buf_cstr(b), real))
			found = open_by_link(buf_cstr(b), crc, id);
	}
	free(real);
	return found;
}

int debug_file_open(struct image *img, const char *debug_dir,
		    struct image **out, char **path)
{
	struct build_id id = image_build_id(img);
	struct buf b = { 0 };

	*out = NULL;
	*path = NULL;
	if (id.len) {
		id_path(&b, debug_dir, &id);
		*out = open_by_id(buf_cstr(&b), &id);
	}
	if (!*out)
		*out = find_by_link(img, debug_dir, &id, &b);
	if (!*out) {
		buf_reset(&b);
		if (id.len)
			id_path(&b, debug_dir, &id);
	}
	*path = b.failed ? NULL : strdup(buf_cstr(&b));
	buf_fini(&b);
	if (*path)
		return 0;
	image_close(*out);
	*out = NULL;
	return -ERR_NOMEM;
}
