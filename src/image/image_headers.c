// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF, program and section headers of both classes (gABI chapters 4 and 5), notes.
 * Little-endian files only: bytes are read as they are.
 */
#include <string.h>

#include "base/cursor.h"
#include "image/image_internal.h"

static uint64_t word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

int image_read_header(struct image *img, struct error *err)
{
	const uint8_t *id = img->bytes.p;
	Elf64_Ehdr *h = &img->ehdr;
	struct cursor c;
	bool is64;

	if (img->bytes.n < EI_NIDENT || memcmp(id, ELFMAG, SELFMAG))
		return error_set(err, ERR_FORMAT, "%s: not an ELF file",
				 img->name);
	if (id[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: not a little-endian ELF file (byte 5)",
				 img->name);
	is64 = id[EI_CLASS] == ELFCLASS64;
	c = cursor_of(id, img->bytes.n);
	memcpy(h->e_ident, cursor_take(&c, EI_NIDENT), EI_NIDENT);
	h->e_type = cursor_u16(&c);
	h->e_machine = cursor_u16(&c);
	h->e_version = cursor_u32(&c);
	h->e_entry = word(&c, is64);
	h->e_phoff = word(&c, is64);
	h->e_shoff = word(&c, is64);
	h->e_flags = cursor_u32(&c);
	h->e_ehsize = cursor_u16(&c);
	h->e_phentsize = cursor_u16(&c);
	h->e_phnum = cursor_u16(&c);
	h->e_shentsize = cursor_u16(&c);
	h->e_shnum = cursor_u16(&c);
	h->e_shstrndx = cursor_u16(&c);
	if (c.bad || (!is64 && id[EI_CLASS] != ELFCLASS32) ||
	    id[EI_VERSION] != EV_CURRENT)
		return error_set(err, ERR_FORMAT,
				 "%s: damaged ELF header at offset 0",
				 img->name);
	return 0;
}

/* n entries of a table, or nothing when they are not all in the file. */
static struct cursor table(const struct image *img, uint64_t off, uint64_t n,
			   size_t size)
{
	if (off > img->bytes.n || n > (img->bytes.n - off) / size)
		return cursor_of(NULL, 0);
	return cursor_of(img->bytes.p + off, (size_t)n * size);
}

static void section_header(struct cursor *c, bool is64, Elf64_Shdr *sh)
{
	sh->sh_name = cursor_u32(c);
	sh->sh_type = cursor_u32(c);
	sh->sh_flags = word(c, is64);
	sh->sh_addr = word(c, is64);
	sh->sh_offset = word(c, is64);
	sh->sh_size = word(c, is64);
	sh->sh_link = cursor_u32(c);
	sh->sh_info = cursor_u32(c);
	sh->sh_addralign = word(c, is64);
	sh->sh_entsize = word(c, is64);
}

static size_t section_header_size(const struct image *img)
{
	return image_is_64(img) ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

/* Section 0 holds the numbers that are too large for the ELF header. */
static Elf64_Shdr first_section(const struct image *img)
{
	size_t size = section_header_size(img);
	struct cursor c = table(img, img->ehdr.e_shoff, 1, size);
	Elf64_Shdr sh = { 0 };

	if (img->ehdr.e_shoff && img->ehdr.e_shentsize == size &&
	    cursor_left(&c))
		section_header(&c, image_is_64(img), &sh);
	return sh;
}

static void segment_header(struct cursor *c, bool is64, Elf64_Phdr *ph)
{
	ph->p_type = cursor_u32(c);
	if (is64)
		ph->p_flags = cursor_u32(c);
	ph->p_offset = word(c, is64);
	ph->p_vaddr = word(c, is64);
	ph->p_paddr = word(c, is64);
	ph->p_filesz = word(c, is64);
	ph->p_memsz = word(c, is64);
	if (!is64)
		ph->p_flags = cursor_u32(c);
	ph->p_align = word(c, is64);
}

static int add_segment(struct image *img, const Elf64_Phdr *ph)
{
	struct image_segment s = { ph->p_offset, ph->p_vaddr, ph->p_filesz,
				   ph->p_memsz, (ph->p_flags & PF_X) != 0 };

	/* A segment that wraps around cannot be loaded. */
	if (s.offset + s.filesz < s.offset || s.vaddr + s.memsz < s.vaddr ||
	    s.filesz > s.memsz)
		return 0;
	return vec_push(&img->segments, s);
}

static bool note_build_id(struct image *img, struct span notes, uint64_t align)
{
	struct cursor c = cursor_of(notes.p, notes.n);
	uint32_t pad = align == 8 ? 7 : 3;

	while (cursor_left(&c)) {
		uint32_t nname = cursor_u32(&c), n = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_take(&c, nname), *desc;

		cursor_skip(&c, -cursor_offset(&c) & pad);
		desc = cursor_take(&c, n);
		if (c.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && nname == 4 &&
		    !memcmp(name, "GNU", 4) && n && n <= BUILD_ID_MAX) {
			img->build_id.len = (uint8_t)n;
			memcpy(img->build_id.bytes, desc, n);
			return true;
		}
		if ((-cursor_offset(&c) & pad) > cursor_left(&c))
			return false;
		cursor_skip(&c, -cursor_offset(&c) & pad);
	}
	return false;
}

/* Where there are sections they are right: a debug file may have moved them.
 * Hostile ones overlap: not more bytes than the file has are looked at. */
static void read_build_id(struct image *img)
{
	uint64_t left = img->bytes.n;
	size_t i;

	for (i = 0; i < img->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[i];

		if (s->type != SHT_NOTE || s->size > left)
			continue;
		left -= s->size;
		if (note_build_id(img, image_sect_raw(img, s), s->align))
			return;
	}
	for (i = 0; i < img->notes.n; i++) {
		const Elf64_Phdr *ph = &img->notes.v[i];
		struct cursor c = table(img, ph->p_offset, ph->p_filesz, 1);

		if (cursor_left(&c) > left)
			continue;
		left -= cursor_left(&c);
		if (note_build_id(img, (struct span){ c.p, cursor_left(&c) },
				  ph->p_align))
			return;
	}
}

int image_read_segments(struct image *img, struct error *err)
{
	bool is64 = image_is_64(img);
	size_t size = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t n = img->ehdr.e_phnum, i;
	struct cursor c;
	int rc = 0;

	if (n == PN_XNUM)
		n = first_section(img).sh_info;
	c = table(img, img->ehdr.e_phoff, n, size);
	if (n && (!cursor_left(&c) || img->ehdr.e_phentsize != size))
		return error_set(err, ERR_FORMAT,
				 "%s: damaged program headers at offset %llu",
				 img->name,
				 (unsigned long long)img->ehdr.e_phoff);
	for (i = 0; i < n && !rc; i++) {
		Elf64_Phdr ph;

		segment_header(&c, is64, &ph);
		if (ph.p_type == PT_DYNAMIC)
			img->dynamic = (struct image_place){ ph.p_vaddr,
							     ph.p_filesz };
		else if (ph.p_type == PT_GNU_EH_FRAME)
			img->eh_hdr = (struct image_place){ ph.p_vaddr,
							    ph.p_filesz };
		else if (ph.p_type == PT_NOTE)
			rc = vec_push(&img->notes, ph);
		else if (ph.p_type == PT_LOAD)
			rc = add_segment(img, &ph);
	}
	return rc ? error_set(err, ERR_NOMEM, "%s: out of memory", img->name)
		  : 0;
}

int image_read_sections(struct image *img, struct error *err)
{
	size_t size = section_header_size(img), i;
	Elf64_Shdr first = first_section(img), sh;
	uint64_t n = img->ehdr.e_shnum ? img->ehdr.e_shnum : first.sh_size;
	uint32_t strings = img->ehdr.e_shstrndx;
	struct span names = { NULL, 0 };
	struct cursor c;

	if (!img->ehdr.e_shoff || img->ehdr.e_shentsize != size)
		n = 0;
	c = table(img, img->ehdr.e_shoff, n, size);
	if (cursor_left(&c) && vec_reserve(&img->sects, n) < 0)
		return error_set(err, ERR_NOMEM, "%s: out of memory",
				 img->name);
	while (cursor_left(&c)) {
		struct image_sect s = { .name = "" };

		section_header(&c, image_is_64(img), &sh);
		s.name_at = sh.sh_name;
		s.addr = sh.sh_addr;
		s.offset = sh.sh_offset;
		s.size = sh.sh_size;
		s.flags = sh.sh_flags;
		s.type = sh.sh_type;
		s.link = sh.sh_link;
		s.info = sh.sh_info;
		s.align = sh.sh_addralign;
		img->sects.v[img->sects.n++] = s;
	}
	if (strings == SHN_XINDEX)
		strings = first.sh_link;
	if (strings < img->sects.n)
		names = image_sect_raw(img, &img->sects.v[strings]);
	/* With a NUL at the end every offset inside is a string. */
	while (names.n && names.p[names.n - 1])
		names.n--;
	for (i = 0; i < img->sects.n; i++)
		if (img->sects.v[i].name_at < names.n)
			img->sects.v[i].name = (const char *)names.p +
					       img->sects.v[i].name_at;
	read_build_id(img);
	if (img->ehdr.e_type == ET_REL && image_layout_sections(img) < 0)
		return error_set(err, ERR_NOMEM, "%s: out of memory",
				 img->name);
	return 0;
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
