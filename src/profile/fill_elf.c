// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols of ELF files and of the vdso.  A file that is not the recorded one gives
 * no names: wrong names are worse than none. */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/fill_internal.h"

struct context {
	struct fill *f;
	const struct fill_part *part;
	int rc;
};

static bool on_result(void *ctx, size_t i, const struct sym_result *r)
{
	struct context *c = ctx;

	c->rc = fill_result(c->f, c->part, i, r);
	return c->rc == 0;
}

static const char *path_of(const struct fill *f, uint32_t image)
{
	return profile_cstr(f->p, f->p->images.v[image].path);
}

static void id_hex(const struct build_id *id, char out[2 * BUILD_ID_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < id->len && i < BUILD_ID_MAX; i++) {
		out[2 * i] = digits[id->bytes[i] >> 4];
		out[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	out[2 * i] = '\0';
	if (!i)
		strcpy(out, "none");
}

/* Whether img is what was recorded; a note if not. */
static bool is_recorded(struct fill *f, uint32_t image, const struct image *img)
{
	struct build_id want = f->p->images.v[image].build_id;
	struct build_id got = image_build_id(img);
	char w[2 * BUILD_ID_MAX + 1], g[2 * BUILD_ID_MAX + 1];

	if (want.len == got.len && !memcmp(want.bytes, got.bytes, want.len))
		return true;
	id_hex(&want, w);
	id_hex(&got, g);
	fill_note(f, image, "%s changed since recording: build-id %s, wanted %s",
		  path_of(f, image), g, w);
	return false;
}

/* Without build-id only the time can tell that a path leads to another file. */
static bool is_newer(struct fill *f, uint32_t image, int fd)
{
	struct profile *p = f->p;
	uint64_t changed, start = p->runs.n ? p->runs.v[0].start_wall_ns : 0;
	struct stat st;

	if (p->images.v[image].build_id.len || !start || fstat(fd, &st) < 0)
		return false;
	changed = (uint64_t)st.st_mtim.tv_sec * 1000000000u +
		  (uint64_t)st.st_mtim.tv_nsec;
	if (changed <= start)
		return false;
	fill_note(f, image, "%s was written after the recording began and has "
		  "no build-id to compare: link with -Wl,--build-id",
		  path_of(f, image));
	return true;
}

/* Opens the file of an image, or gives a note. */
static struct image *open_elf(struct fill *f, uint32_t image)
{
	const char *path = path_of(f, image);
	struct image *img = NULL;
	struct error err;
	int fd;

	if (f->o->open_image) {
		fd = f->o->open_image(f->o->ctx, image);
		if (fd < 0) {
			fill_note(f, image, "%s could not be opened while "
				  "recording", path);
			return NULL;
		}
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0) {
			fill_note(f, image, "%s cannot be opened: %m", path);
			return NULL;
		}
		if (is_newer(f, image, fd)) {
			close(fd);
			return NULL;
		}
	}
	if (image_open_fd(fd, path, &img, &err) < 0)
		fill_note(f, image, "%s", err.msg);
	close(fd);
	if (img && !is_recorded(f, image, img)) {
		image_close(img);
		img = NULL;
	}
	return img;
}

/* Says what is missing and what would help. */
static void note_sources(struct fill *f, uint32_t image,
			 const struct sym_sources *s)
{
	const char *path = path_of(f, image);
	const char *have = s->symtab ? "no line numbers"
			 : s->dynsym ? "only exported functions have names"
				     : "no function names";
	uint32_t id = 0;

	if (*s->damage) {
		fill_note(f, image, "damaged debug information: %s",
			  s->damage);
	} else if (!s->dwarf && *s->missing) {
		fill_note(f, image, "%s: missing %s (Debian: install what "
			  "find-dbgsym-packages %s names)", have, s->missing,
			  path);
	} else if (!s->dwarf) {
		fill_note(f, image, "%s: compile with -g and do not strip",
			  have);
	}
	if (s->dwarf)
		id = *s->debug_file ? profile_str(f->p, s->debug_file)
				    : f->p->images.v[image].path;
	if (id != PROF_NONE)
		f->p->images.v[image].debug_file = id;
}

/* Symbolizes with img and closes it. */
static int fill_from(struct fill *f, const struct fill_part *part,
		     struct image *img)
{
	struct sym_options so = { .debug_dir = f->o->debug_dir };
	struct context c = { f, part, 0 };
	uint32_t first = (uint32_t)f->p->symbols.n;
	struct symbolizer *s;
	struct sym_sources src;
	int rc;

	rc = symbolizer_open(img, &so, &s, f->err);
	if (rc < 0) {
		image_close(img);
		return rc;
	}
	rc = symbolizer_resolve(s, f->vaddrs + part->at, part->n, on_result,
				&c, f->err);
	if (c.rc)
		rc = fill_nomem(f);
	if (!rc) {
		src = symbolizer_sources(s);
		note_sources(f, part->image, &src);
		rc = fill_keep_code(f, img, first);
	}
	symbolizer_close(s);
	image_close(img);
	return rc;
}

int fill_elf(struct fill *f, const struct fill_part *part)
{
	struct image *img;

	/* Its locations are file offsets and were never checked. */
	if (f->p->images.v[part->image].flags & PROF_IMAGE_UNREADABLE) {
		fill_note(f, part->image, "%s could not be opened while "
			  "recording", path_of(f, part->image));
		return 0;
	}
	img = open_elf(f, part->image);
	return img ? fill_from(f, part, img) : 0;
}

/* The bytes of the vdso of this process: it ends with its section headers. */
static size_t vdso_size(const uint8_t *p)
{
	const ElfW(Ehdr) *e = (const void *)p;
	const ElfW(Phdr) *ph = (const void *)(p + e->e_phoff);
	size_t end = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
	unsigned i;

	for (i = 0; i < e->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD &&
		    ph[i].p_offset + ph[i].p_filesz > end)
			end = ph[i].p_offset + ph[i].p_filesz;
	return end;
}

int fill_vdso(struct fill *f, const struct fill_part *part)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	struct image *img;
	struct error err;

	if (!p) {
		fill_note(f, part->image, "this process has no vdso to take "
			  "names from");
		return 0;
	}
	if (image_open_bytes(p, vdso_size(p), path_of(f, part->image), &img,
			     &err) < 0) {
		fill_note(f, part->image, "%s", err.msg);
		return 0;
	}
	if (!is_recorded(f, part->image, img)) {
		image_close(img);
		return 0;
	}
	return fill_from(f, part, img);
}
