// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens an ELF file and reads its headers and build ID: see image.h.  The file is
 * mapped, never copied.
 */
#include <string.h>
#include <unistd.h>

#include "image/image_internal.h"

/*
 * Reads ELF, program and section headers of both classes (gABI chapters 4 and
 * 5) and notes with libelf.  Only little-endian files are supported, because
 * other tables are read in place.
 */

static int read_header(struct image *img, struct error *err)
{
	const uint8_t *id = img->bytes.p;

	if (img->bytes.n < EI_NIDENT || memcmp(id, ELFMAG, SELFMAG))
		return error_set(err, ERR_FORMAT, "%s: not an ELF file",
				 img->name);
	if (id[EI_DATA] != ELFDATA2LSB)
		return error_set(err, ERR_UNSUPPORTED,
				 "%s: not a little-endian ELF file (byte 5)",
				 img->name);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(err, ERR_UNSUPPORTED,
				 "libelf is too old: %s", elf_errmsg(-1));
	/* elf_memory takes char * but does not write through it. */
	img->elf = elf_memory((char *)(uintptr_t)id, img->bytes.n);
	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF ||
	    !gelf_getehdr(img->elf, &img->ehdr))
		return error_set(err, ERR_FORMAT,
				 "%s: damaged ELF header at offset 0: %s",
				 img->name, elf_errmsg(-1));
	return 0;
}

static int add_segment(struct image *img, const GElf_Phdr *ph)
{
	struct image_segment s = { ph->p_offset, ph->p_vaddr, ph->p_filesz,
				   ph->p_memsz, (ph->p_flags & PF_X) != 0 };

	/* A segment that wraps around cannot be loaded. */
	if (s.offset + s.filesz < s.offset || s.vaddr + s.memsz < s.vaddr ||
	    s.filesz > s.memsz)
		return 0;
	return vec_push(&img->segments, s);
}

/* Linux starts no program with more (fs/binfmt_elf.c, load_elf_phdrs).  The limit
 * bounds what searches of all segments cost. */
enum { PROGRAM_HEADERS_MAX = 65536 / sizeof(Elf64_Phdr) };

static int read_segments(struct image *img, struct error *err)
{
	size_t n, i;
	int rc = 0;

	if (elf_getphdrnum(img->elf, &n) < 0)
		n = 0;
	if (n > PROGRAM_HEADERS_MAX)
		return error_set(err, ERR_FORMAT,
			"%s: %zu program headers at offset %llu; programs have at most %d",
			img->name, n, (unsigned long long)img->ehdr.e_phoff,
			PROGRAM_HEADERS_MAX);
	for (i = 0; i < n && !rc; i++) {
		GElf_Phdr ph;

		if (i > INT32_MAX || !gelf_getphdr(img->elf, (int)i, &ph))
			return error_set(err, ERR_FORMAT,
				"%s: damaged program headers at offset %llu",
				img->name,
				(unsigned long long)img->ehdr.e_phoff);
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

/* Returns true if these notes contain the build ID. */
static bool note_build_id(struct image *img, uint64_t at, uint64_t n,
			  uint64_t align)
{
	size_t off = 0, name, desc;
	Elf_Data *d;
	GElf_Nhdr h;

	if (at > img->bytes.n || n > img->bytes.n - at)
		return false;
	d = elf_getdata_rawchunk(img->elf, (int64_t)at, (size_t)n,
				 align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (d && (off = gelf_getnote(d, off, &h, &name, &desc)) > 0) {
		const uint8_t *p = d->d_buf;

		if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 ||
		    memcmp(p + name, "GNU", 4) || !h.n_descsz ||
		    h.n_descsz > BUILD_ID_MAX)
			continue;
		img->build_id.len = (uint8_t)h.n_descsz;
		memcpy(img->build_id.bytes, p + desc, h.n_descsz);
		return true;
	}
	return false;
}

/* Reads the build ID from note sections, then from note segments.  Section
 * headers come first, because a debug file may have moved its sections.
 * Hostile sections overlap, so at most as many bytes as the file has are
 * read. */
static void read_build_id(struct image *img)
{
	uint64_t left = img->bytes.n;
	size_t i;

	for (i = 0; i < img->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[i];

		if (s->type != SHT_NOTE || s->size > left)
			continue;
		left -= s->size;
		if (note_build_id(img, s->offset, s->size, s->align))
			return;
	}
	for (i = 0; i < img->notes.n; i++) {
		const GElf_Phdr *ph = &img->notes.v[i];

		if (ph->p_filesz > left)
			continue;
		left -= ph->p_filesz;
		if (note_build_id(img, ph->p_offset, ph->p_filesz,
				  ph->p_align))
			return;
	}
}

static int add_section(struct image *img, Elf_Scn *scn)
{
	struct image_sect s = { .name = "" };
	GElf_Shdr sh;

	if (scn && gelf_getshdr(scn, &sh)) {
		s.name_at = sh.sh_name;
		s.addr = sh.sh_addr;
		s.offset = sh.sh_offset;
		s.size = sh.sh_size;
		s.flags = sh.sh_flags;
		s.type = sh.sh_type;
		s.link = sh.sh_link;
		s.info = sh.sh_info;
		s.align = sh.sh_addralign;
	}
	return vec_push(&img->sects, s);
}

/* Names the sections without elf_strptr, because libelf decompresses a
 * compressed name table unasked. */
static void name_sections(struct image *img)
{
	struct span names = { NULL, 0 };
	size_t strings, i;

	if (!elf_getshdrstrndx(img->elf, &strings) && strings < img->sects.n)
		names = image_sect_raw(img, &img->sects.v[strings]);
	/* With a NUL at the end, every offset inside is a valid string. */
	while (names.n && names.p[names.n - 1])
		names.n--;
	for (i = 0; i < img->sects.n; i++)
		if (img->sects.v[i].name_at < names.n)
			img->sects.v[i].name = (const char *)names.p +
					       img->sects.v[i].name_at;
}

static int read_sections(struct image *img, struct error *err)
{
	Elf_Scn *scn = NULL;
	int rc = 0;
	size_t n;

	if (!elf_getshdrnum(img->elf, &n) && n) {
		/* elf_nextscn starts after section 0. */
		rc = add_section(img, elf_getscn(img->elf, 0));
		while (!rc && (scn = elf_nextscn(img->elf, scn)))
			rc = add_section(img, scn);
	}
	if (!rc) {
		name_sections(img);
		read_build_id(img);
		if (img->ehdr.e_type == ET_REL)
			rc = image_layout_sections(img);
	}
	return rc ? error_set(err, ERR_NOMEM, "%s: out of memory", img->name)
		  : 0;
}

int image_open_owned(struct io_map map, uint8_t *copy, struct span bytes,
		     const char *name, struct image **out, struct error *err)
{
	struct image *img = calloc(1, sizeof(*img));
	int rc = 0;

	*out = NULL;
	if (img) {
		img->map = map;
		img->copy = copy;
		img->bytes = bytes;
		img->name = strdup(name);
	}
	if (!img || !img->name) {
		if (img)
			image_close(img);
		else
			io_unmap(&map), free(copy);
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	}
	rc = read_header(img, err) ?:
	     read_segments(img, err) ?:
	     read_sections(img, err);
	if (rc < 0) {
		image_close(img);
		return rc;
	}
	*out = img;
	return 0;
}

int image_open_fd(int fd, const char *name, struct image **out,
		  struct error *err)
{
	struct io_map map;
	int rc = io_map_fd(fd, name, &map, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	return image_open_owned(map, NULL, (struct span){ map.p, map.n }, name,
				out, err);
}

int image_open_file(const char *path, struct image **out, struct error *err)
{
	int fd = io_open_file(path, err), rc;

	*out = NULL;
	if (fd < 0)
		return fd;
	rc = image_open_fd(fd, path, out, err);
	close(fd);
	return rc;
}

bool image_file_is(const char *path, const struct build_id *id)
{
	struct image *img;
	bool is;

	if (image_open_file(path, &img, NULL) < 0)
		return false;
	is = build_id_equal(&img->build_id, id);
	image_close(img);
	return is;
}

int image_open_bytes(const void *p, size_t n, const char *name,
		     struct image **out, struct error *err)
{
	uint8_t *copy = malloc(n ? n : 1);

	*out = NULL;
	if (!copy)
		return error_set(err, ERR_NOMEM, "%s: out of memory", name);
	if (n)
		memcpy(copy, p, n);
	return image_open_owned((struct io_map){ 0 }, copy,
				(struct span){ copy, n }, name, out, err);
}

void image_close(struct image *img)
{
	size_t i;

	if (!img)
		return;
	for (i = 0; i < img->sects.n; i++)
		free(img->sects.v[i].owned);
	vec_fini(&img->sects);
	vec_fini(&img->segments);
	vec_fini(&img->notes);
	vec_fini(&img->code);
	cfi_index_free(img->cfi);
	plt_free(img->plt);
	elf_end(img->elf);
	io_unmap(&img->map);
	free(img->copy);
	free(img->name);
	free(img);
}
