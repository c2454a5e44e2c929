// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds separate debug files, in the order that gdb documents ("Debugging
 * Information in Separate Files"): by build ID, then by .gnu_debuglink with its
 * CRC.
 */
#include "symbolize/dwarf/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "symbolize/dwarf/debug_dirs.h"
#include "symbolize/dwarf/debug_file.h"

static void looked_at(const struct debug_search *s, const char *path)
{
	if (s->looked)
		s->looked(s->looked_ctx, path);
}

struct image *debug_open(const struct debug_search *s, const char *path)
{
	struct image *img;

	looked_at(s, path);
	if (s->open_file)
		return s->open_file(s->ctx, path);
	return image_open_file(path, &img, NULL) < 0 ? NULL : img;
}

static bool same_id(const struct image *a, const struct build_id *id)
{
	struct build_id b = image_build_id(a);

	return b.len == id->len && !memcmp(b.bytes, id->bytes, id->len);
}

/* Opens a file only if it has the build ID, because a debug file of other code
 * would give wrong names. */
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

	/* If both files have a build ID, comparing it replaces the CRC and is
	 * cheaper. */
	if (!img || (id->len && image_build_id(img).len
			     ? same_id(img, id) : crc_matches(img, crc)))
		return img;
	image_close(img);
	return NULL;
}

/* Returns the length of a path's folder, without the slash before the name. */
static int folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash - path) : 0;
}

/* Searches the same folder, .debug/ in it, and the same folder below each debug
 * folder. */
static struct image *find_by_link(struct image *img,
				  const struct debug_search *s,
				  const struct build_id *id, struct buf *b)
{
	uint32_t crc;
	const char *link = image_debuglink(img, &crc);
	char *real = link ? realpath(image_name(img), NULL) : NULL;
	struct debug_dir dir = { "", 0 };
	struct image *found = NULL;
	unsigned i;

	for (i = 0; real && !found; i++) {
		if (i >= 2 && !debug_dir_at(s->dirs, i - 2, &dir))
			break;
		buf_reset(b);
		buf_printf(b, "%.*s%.*s/%s%s", dir.n, dir.p,
			   folder_length(real), real, i == 1 ? ".debug/" : "",
			   link);
		if (strcmp(buf_cstr(b), real))
			found = open_by_link(s, buf_cstr(b), crc, id);
	}
	free(real);
	return found;
}

/* Searches each debug folder by build ID. */
static struct image *find_by_id(const struct debug_search *s,
				const struct build_id *id, struct buf *b)
{
	struct image *found = NULL;
	struct debug_dir dir;

	for (unsigned i = 0; !found && debug_dir_at(s->dirs, i, &dir); i++)
		for (unsigned k = 0; !found && debug_dir_by_id(dir, k, id, b);
		     k++)
			found = open_by_id(s, buf_cstr(b), id);
	return found;
}

/* Opens an unstripped file, or its debug file, of any name.  The image itself
 * is excluded, because it has the same build ID. */
static struct image *open_fuller(const struct debug_search *s, const char *path,
				 const struct build_id *id)
{
	struct image *img = open_by_id(s, path, id);
	bool dynsym;

	if (!img || image_has_dwarf(img) || image_has_symtab(img, &dynsym))
		return img;
	image_close(img);
	return NULL;
}

struct named_search {
	const struct debug_search *s;
	const struct build_id *id;
	struct image *found;
	struct buf *path;
};

static bool try_file(void *ctx, const char *path)
{
	struct named_search *n = ctx;

	n->found = open_fuller(n->s, path, n->id);
	if (n->found) {
		buf_reset(n->path);
		buf_str(n->path, path);
	}
	return !n->found;
}

/* Searches folders named by the user, where files may have any name. */
static struct image *find_by_name(struct image *img,
				  const struct debug_search *s,
				  const struct build_id *id, struct buf *b)
{
	struct named_search n = { s, id, NULL, b };
	char *real = id->len ? realpath(image_name(img), NULL) : NULL;
	const char *name = real ? real : image_name(img);
	struct debug_dir dir;

	for (unsigned i = 0; id->len && !n.found &&
			     debug_dir_at(s->dirs, i, &dir); i++) {
		if (dir.n == 14 && !memcmp(dir.p, "/usr/lib/debug", 14))
			continue;
		for (unsigned k = 0; !n.found &&
				     debug_dir_by_path(dir, k, name, b); k++)
			n.found = open_fuller(s, buf_cstr(b), id);
		if (!n.found && !s->open_file) {
			buf_reset(b);
			buf_printf(b, "%.*s", dir.n, dir.p);
			looked_at(s, buf_cstr(b));
			debug_dir_each(dir, try_file, &n);
		}
	}
	free(real);
	return n.found;
}

/* Returns the path, or closes the image if out of memory. */
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

	struct debug_dir usual;

	*out = find_by_id(s, &id, &b);
	if (!*out)
		*out = find_by_link(img, s, &id, &b);
	if (!*out)
		*out = find_by_name(img, s, &id, &b);
	if (!*out) {
		buf_reset(&b);
		if (debug_dir_last(s->dirs, &usual))
			debug_dir_by_id(usual, 0, &id, &b);
	}
	return give_path(&b, out, path);
}

/* Reads a .debug_sup section: which of the two files this is, the path of the
 * other one, and their common id. */
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

/* Returns the path of the alternate file and sets its build ID; NULL if there
 * is none. */
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

bool symbolize_alternate(struct image *img, struct build_id *id)
{
	*id = (struct build_id){ 0 };
	return read_link(img, id) != NULL;
}

struct image *symbolize_debug_file(struct image *img, const char *debug_dirs)
{
	const struct debug_search search = {
		.dirs = debug_dirs ? debug_dirs : "/usr/lib/debug",
		.binary = image_name(img),
	};
	struct image *out = NULL;
	char *path = NULL;

	if (debug_file_open(img, &search, &out, &path) < 0)
		out = NULL;
	free(path);
	return out;
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

/* Writes the i-th possible path of an alternate file: the link relative to the
 * file that contains it; the same below each debug folder; by build ID. */
static bool alt_path(const struct debug_search *s, const char *from,
		     unsigned i, const char *link, const struct build_id *id,
		     struct buf *b)
{
	static const char usual[] = "/usr/lib/debug/";
	struct debug_dir dir;

	buf_reset(b);
	if (i == 0) {
		if (*link != '/' && folder_length(from))
			buf_printf(b, "%.*s/", folder_length(from), from);
		buf_str(b, link);
		return true;
	}
	if (!debug_dir_at(s->dirs, (i - 1) / 3, &dir))
		return false;
	if ((i - 1) % 3)
		return debug_dir_by_id(dir, (i - 1) % 3 - 1, id, b);
	if (strncmp(link, usual, sizeof(usual) - 1))
		return debug_dir_by_id(dir, 0, id, b);
	buf_printf(b, "%.*s/%s", dir.n, dir.p, link + sizeof(usual) - 1);
	return true;
}

int debug_alt_open(struct image *img, const struct debug_search *s,
		   struct image **out, char **path)
{
	struct build_id id = { 0 };
	const char *link = s->dirs ? read_link(img, &id) : NULL;
	struct buf b = { 0 };
	unsigned i;
	char *from;

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

/* Order: the path at compile time, the folder of the binary, the debug
 * folders. */
bool debug_dwo_path(const struct debug_search *s, unsigned i, const char *dir,
		    const char *name, struct buf *out)
{
	const char *base = strrchr(name, '/');
	const char *sep = *name == '/' || !*dir ? "" : "/";
	struct debug_dir below;

	if (*name == '/')
		dir = "";
	buf_reset(out);
	if (i == 0)
		buf_printf(out, "%s%s%s", dir, sep, name);
	else if (i == 1)
		buf_printf(out, "%.*s%s%s", folder_length(s->binary), s->binary,
			   folder_length(s->binary) ? "/" : "",
			   base ? base + 1 : name);
	else if (i == 2)
		buf_printf(out, "%.*s%s%s", folder_length(s->binary), s->binary,
			   folder_length(s->binary) ? "/" : "",
			   *name == '/' ? name + 1 : name);
	else if (!debug_dir_at(s->dirs, (i - 3) / 2, &below))
		return false;
	else if (i % 2)
		buf_printf(out, "%.*s/%s%s%s", below.n, below.p, dir, sep,
			   name);
	else
		buf_printf(out, "%.*s/%s", below.n, below.p,
			   base ? base + 1 : name);
	return true;
}

/* Order: the folder of the binary, the folder of its debug file, the debug
 * folders. */
bool debug_dwp_path(const struct debug_search *s, unsigned i, struct buf *out)
{
	struct debug_dir below = { "", 0 };
	const char *base;
	char *real;

	buf_reset(out);
	if (i == 0) {
		buf_printf(out, "%s.dwp", s->binary);
		return true;
	}
	if (i == 1) {
		buf_printf(out, "%s.dwp", s->debug ? s->debug : s->binary);
		return true;
	}
	if (i > 2 && !debug_dir_at(s->dirs, (i - 3) / 2, &below))
		return false;
	real = realpath(s->binary, NULL);
	base = strrchr(real ? real : s->binary, '/');
	if (i % 2 || !base || i == 2)
		buf_printf(out, "%.*s%s.dwp", below.n, below.p,
			   real ? real : s->binary);
	else
		buf_printf(out, "%.*s%s.dwp", below.n, below.p, base);
	free(real);
	return true;
}
