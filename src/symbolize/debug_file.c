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

#include "base/cursor.h"

struct image *debug_open(const struct debug_search *s, const char *path)
{
	struct image *img;

	if (s->open_file)
		return s->open_file(s->ctx, path);
	return image_open_file(path, &img, NULL) < 0 ? NULL : img;
}

static bool same_id(const struct image *a, const struct build_id *id)
{
	struct build_id b = image_build_id(a);

	return b.len == id->len && !memcmp(b.bytes, id->bytes, id->len);
}

/* A debug file of other code would name wrong functions. */
static struct image *open_by_id(const struct debug_search *s, const char *path,
				const struct build_id *id)
{
	struct image *img = debug_open(s, path);

	if (!img || same_id(img, id))
		return img;
	image_close(img);
	return NULL;
}

static bool crc_matches(const struct image *img, uint32_t crc)
{
	struct span file = image_file_bytes(img);
	uLong c = crc32(0, NULL, 0);
	size_t at = 0;

	while (at < file.n) {
		size_t n = file.n - at > 1u << 30 ? 1u << 30 : file.n - at;

		c = crc32(c, file.p + at, (uInt)n);
		at += n;
	}
	return c == crc;
}

static struct image *open_by_link(const struct debug_search *s,
				  const char *path, uint32_t crc,
				  const struct build_id *id)
{
	struct image *img = debug_open(s, path);

	/* The build-id says the same for less work where both have one. */
	if (!img || (id->len && image_build_id(img).len
			     ? same_id(img, id) : crc_matches(img, crc)))
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

/* The length of a path's folder, without the slash before the name. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

/* Same folder, .debug/ in it, the same folder below debug_dir. */
static struct image *find_by_link(struct image *img,
				  const struct debug_search *s,
				  const struct build_id *id, struct buf *b)
{
	uint32_t crc;
	const char *link = image_debuglink(img, &crc);
	char *real = link ? realpath(image_name(img), NULL) : NULL;
	struct image *found = NULL;
	int i;

	for (i = 0; real && i < 3 && !found; i++) {
		buf_reset(b);
		buf_printf(b, "%s%.*s/%s%s", i == 2 ? s->dir : "",
			   folder_length(real), real, i == 1 ? ".debug/" : "",
			   link);
		if (strcmp(buf_cstr(b), real))
			found = open_by_link(s, buf_cstr(b), crc, id);
	}
	free(real);
	return found;
}

/* Hands out a path, or gives the image back. */
static int give_path(struct buf *b, struct image **out, char **path)
{
	*path = b->failed ? NULL : strdup(buf_cstr(b));
	buf_fini(b);
	if (*path)
		return 0;
	image_close(*out);
	*out = NULL;
	return -ERR_NOMEM;
}

int debug_file_open(struct image *img, const struct debug_search *s,
		    struct image **out, char **path)
{
	struct build_id id = image_build_id(img);
	struct buf b = { 0 };

	*out = NULL;
	if (id.len) {
		id_path(&b, s->dir, &id);
		*out = open_by_id(s, buf_cstr(&b), &id);
	}
	if (!*out)
		*out = find_by_link(img, s, &id, &b);
	if (!*out) {
		buf_reset(&b);
		if (id.len)
			id_path(&b, s->dir, &id);
	}
	return give_path(&b, out, path);
}

/* A .debug_sup section: which of the two files this is, the other one's path and
 * what both agree on. */
static bool read_sup(struct image *img, bool supplementary, const char **link,
		     struct build_id *id)
{
	struct span s = image_section(img, ".debug_sup");
	struct cursor c = cursor_of(s.p, s.n);
	bool good = cursor_u16(&c) == 5 && !!cursor_u8(&c) == supplementary;
	uint64_t n;

	*link = cursor_cstr(&c);
	n = cursor_uleb(&c);
	if (!good || c.bad || !n || n > BUILD_ID_MAX || n > cursor_left(&c))
		return false;
	id->len = (uint8_t)n;
	memcpy(id->bytes, cursor_take(&c, n), (size_t)n);
	return true;
}

/* The path and the build-id of the alternate file, or NULL. */
static const char *read_link(struct image *img, struct build_id *id)
{
	struct span s = image_section(img, ".gnu_debugaltlink");
	struct cursor c = cursor_of(s.p, s.n);
	const char *link = cursor_cstr(&c);
	size_t n = cursor_left(&c);

	if (!s.n)
		return read_sup(img, false, &link, id) && *link ? link : NULL;
	if (!link || !*link || !n || n > BUILD_ID_MAX)
		return NULL;
	id->len = (uint8_t)n;
	memcpy(id->bytes, c.p, n);
	return link;
}

static struct image *open_alt(const struct debug_search *s, const char *path,
			      const struct build_id *id)
{
	struct image *img = debug_open(s, path);
	struct build_id sup;
	const char *link;

	if (!img || same_id(img, id) ||
	    (read_sup(img, true, &link, &sup) && sup.len == id->len &&
	     !memcmp(sup.bytes, id->bytes, sup.len)))
		return img;
	image_close(img);
	return NULL;
}

/* The i-th place of an alternate file: what the link says, seen from the file
 * that has it; the same below another debug folder; by build-id. */
static bool alt_path(const struct debug_search *s, const char *from, int i,
		     const char *link, const struct build_id *id, struct buf *b)
{
	static const char usual[] = "/usr/lib/debug/";

	buf_reset(b);
	if (i == 0) {
		if (*link != '/' && folder_length(from))
			buf_printf(b, "%.*s/", folder_length(from), from);
		buf_str(b, link);
	} else if (i == 1) {
		if (!strncmp(link, usual, sizeof(usual) - 1))
			buf_printf(b, "%s/%s", s->dir, link + sizeof(usual) - 1);
		else
			id_path(b, s->dir, id);
	} else if (i == 2) {
		id_path(b, s->dir, id);
	} else {
		return false;
	}
	return true;
}

int debug_alt_open(struct image *img, const struct debug_search *s,
		   struct image **out, char **path)
{
	struct build_id id = { 0 };
	const char *link = s->dir ? read_link(img, &id) : NULL;
	struct buf b = { 0 };
	char *from;
	int i;

	*out = NULL;
	*path = NULL;
	if (!link)
		return 0;
	from = realpath(image_name(img), NULL);
	for (i = 0; !*out && alt_path(s, from ? from : image_name(img), i, link,
				      &id, &b); i++)
		*out = open_alt(s, buf_cstr(&b), &id);
	if (!*out)
		alt_path(s, from ? from : image_name(img), 0, link, &id, &b);
	free(from);
	return give_path(&b, out, path);
}

/* As it was compiled; below the debug folder; beside the binary. */
bool debug_dwo_path(const struct debug_search *s, unsigned i, const char *dir,
		    const char *name, struct buf *out)
{
	const char *base = strrchr(name, '/');
	const char *sep = *name == '/' || !*dir ? "" : "/";

	if (*name == '/')
		dir = "";
	buf_reset(out);
	if (i == 0)
		buf_printf(out, "%s%s%s", dir, sep, name);
	else if (i == 1)
		buf_printf(out, "%s/%s%s%s", s->dir, dir, sep, name);
	else if (i == 2)
		buf_printf(out, "%.*s%s%s", folder_length(s->binary), s->binary,
			   folder_length(s->binary) ? "/" : "",
			   base ? base + 1 : name);
	else if (i == 3 && *name != '/')
		buf_printf(out, "%.*s%s%s", folder_length(s->binary), s->binary,
			   folder_length(s->binary) ? "/" : "", name);
	else
		return false;
	return true;
}

/* Beside the binary, beside its debug file, below the debug folder. */
bool debug_dwp_path(const struct debug_search *s, unsigned i, struct buf *out)
{
	char *real;

	buf_reset(out);
	if (i == 0) {
		buf_printf(out, "%s.dwp", s->binary);
	} else if (i == 1) {
		buf_printf(out, "%s.dwp", s->debug ? s->debug : s->binary);
	} else if (i < 4) {
		real = realpath(s->binary, NULL);
		buf_printf(out, "%s%s.dwp", i == 3 ? s->dir : "",
			   real ? real : s->binary);
		free(real);
	} else {
		return false;
	}
	return true;
}
