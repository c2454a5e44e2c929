// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sections of an ELF image and their decompressed bytes (gABI chapter 4,
 * "Compressed Sections").  A section that is damaged is a missing section.
 */
#include <string.h>
#include <zlib.h>

#include "image/image_internal.h"

/* Deflate cannot do better than 1032:1; a header that promises more lies.  The
 * total keeps a file of many small sections from filling memory. */
enum { MAX_RATIO = 1032 };
static const uint64_t max_inflated = 16ull << 30;

int image_read_sections(struct image *img, struct error *err)
{
	size_t names, n, i;

	if (elf_getshdrnum(img->elf, &n) < 0 || n == 0)
		return 0;
	if (elf_getshdrstrndx(img->elf, &names) < 0)
		names = 0;
	if (vec_reserve(&img->sects, n) < 0)
		return error_set(err, ERR_NOMEM, "%s: out of memory",
				 img->name);
	for (i = 0; i < n; i++) {
		struct image_sect s = { .name = "" };
		const char *name;
		GElf_Shdr sh;

		s.scn = elf_getscn(img->elf, i);
		if (s.scn && gelf_getshdr(s.scn, &sh)) {
			name = elf_strptr(img->elf, names, sh.sh_name);
			s.name = name ? name : "";
			s.addr = sh.sh_addr;
			s.size = sh.sh_size;
			s.flags = sh.sh_flags;
			s.type = sh.sh_type;
		}
		img->sects.v[img->sects.n++] = s;
	}
	return 0;
}

static struct span inflate_bytes(struct image *img, struct image_sect *s,
				 const uint8_t *in, size_t nin, uint64_t size)
{
	struct span none = { NULL, 0 };
	z_stream z = { 0 };
	uint64_t done = 0;
	size_t used = 0;
	int rc = Z_OK;

	if (!size || size / MAX_RATIO > nin || size > SIZE_MAX / 2 ||
	    img->inflated + size > max_inflated)
		return none;
	s->owned = malloc((size_t)size);
	if (!s->owned || inflateInit(&z) != Z_OK)
		return none;
	while (rc == Z_OK && done < size) {
		uInt in_step = nin - used > 1u << 30 ? 1u << 30
						     : (uInt)(nin - used);
		uInt out_step = size - done > 1u << 30 ? 1u << 30
						       : (uInt)(size - done);

		z.next_in = (Bytef *)(uintptr_t)(in + used);
		z.avail_in = in_step;
		z.next_out = s->owned + done;
		z.avail_out = out_step;
		rc = inflate(&z, Z_NO_FLUSH);
		used += in_step - z.avail_in;
		done += out_step - z.avail_out;
	}
	inflateEnd(&z);
	if (done != size || (rc != Z_OK && rc != Z_STREAM_END))
		return none;
	img->inflated += size;
	return (struct span){ s->owned, (size_t)size };
}

/* Old GNU style: "ZLIB" and the big-endian size before the deflate stream. */
static struct span inflate_zdebug(struct image *img, struct image_sect *s,
				  struct span raw)
{
	uint64_t size = 0;
	int i;

	if (raw.n < 12 || memcmp(raw.p, "ZLIB", 4))
		return (struct span){ NULL, 0 };
	for (i = 4; i < 12; i++)
		size = size << 8 | raw.p[i];
	return inflate_bytes(img, s, raw.p + 12, raw.n - 12, size);
}

/* Other methods (zstd) are left to libelf, which may or may not know them. */
static struct span inflate_by_libelf(struct image *img, struct image_sect *s,
				     uint64_t size)
{
	Elf_Data *d;

	if (size > max_inflated - img->inflated ||
	    elf_compress(s->scn, 0, 0) < 0)
		return (struct span){ NULL, 0 };
	d = elf_getdata(s->scn, NULL);
	if (!d || !d->d_buf)
		return (struct span){ NULL, 0 };
	img->inflated += d->d_size;
	return (struct span){ d->d_buf, d->d_size };
}

static struct span inflate_section(struct image *img, struct image_sect *s,
				   struct span raw)
{
	size_t head = image_is_64(img) ? sizeof(Elf64_Chdr)
				       : sizeof(Elf32_Chdr);
	GElf_Chdr ch;

	if (raw.n < head || !gelf_getchdr(s->scn, &ch))
		return (struct span){ NULL, 0 };
	if (ch.ch_type == ELFCOMPRESS_ZLIB)
		return inflate_bytes(img, s, raw.p + head, raw.n - head,
				     ch.ch_size);
	return inflate_by_libelf(img, s, ch.ch_size);
}

struct span image_sect_data(struct image *img, struct image_sect *s)
{
	Elf_Data *d;

	if (s->tried)
		return s->data;
	s->tried = true;
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !s->scn)
		return s->data;
	d = elf_rawdata(s->scn, NULL);
	if (!d || !d->d_buf || !d->d_size)
		return s->data;
	s->data = (struct span){ d->d_buf, d->d_size };
	if (s->flags & SHF_COMPRESSED)
		s->data = inflate_section(img, s, s->data);
	else if (!strncmp(s->name, ".zdebug_", 8))
		s->data = inflate_zdebug(img, s, s->data);
	if (!s->data.n) {
		free(s->owned);
		s->owned = NULL;
	}
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

struct span image_section(struct image *img, const char *name)
{
	struct image_sect *s = image_find_sect(img, name);
	char old[64];

	/* .debug_info may be there as .zdebug_info. */
	if (!s && !strncmp(name, ".debug_", 7) && strlen(name) < 60) {
		old[0] = '.';
		old[1] = 'z';
		strcpy(old + 2, name + 1);
		s = image_find_sect(img, old);
	}
	return s ? image_sect_data(img, s) : (struct span){ NULL, 0 };
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
