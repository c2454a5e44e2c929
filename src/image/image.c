// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens an ELF file and reads its load segments: see image.h.  The file is
 * mapped, never copied.
 */
#include "image/image.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/search.h"
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

const char *image_name(const struct image *img)
{
	return img->name;
}

bool image_is_64(const struct image *img)
{
	return img->ehdr.e_ident[EI_CLASS] == ELFCLASS64;
}

uint16_t image_machine(const struct image *img)
{
	return img->ehdr.e_machine;
}

uint64_t image_entry(const struct image *img)
{
	return img->ehdr.e_entry;
}

uint16_t image_type(const struct image *img)
{
	return img->ehdr.e_type;
}

const struct io_identity *image_identity(const struct image *img)
{
	return img->map.p ? &img->map.file : NULL;
}

struct span image_file_bytes(const struct image *img)
{
	return img->bytes;
}

void image_release_span(const struct image *img, const void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t lo = (uintptr_t)p, hi = lo + n;
	uintptr_t map = (uintptr_t)img->map.p;

	/* Only pages of the mapped file can be read again. */
	if (!map || lo < map || hi > map + img->map.n)
		return;
	lo = lo / page * page;
	hi = (hi + page - 1) / page * page;
	if (lo < hi)
		madvise((void *)lo, hi - lo, MADV_DONTNEED);
}

void image_release(const struct image *img)
{
	image_release_span(img, img->map.p, img->map.n);
}

struct build_id image_build_id(const struct image *img)
{
	return img->build_id;
}

size_t image_segments(const struct image *img, const struct image_segment **out)
{
	*out = img->segments.v;
	return img->segments.n;
}

/*
 * The only place that converts file offsets to addresses (gABI chapter 5,
 * Program Loading).  Linkers may map one page of the file into two segments,
 * and p_vaddr need not equal p_offset; so the PT_LOAD that contains the offset
 * decides.
 */
bool image_vaddr_of_offset(const struct image *img, uint64_t offset,
			   uint64_t *vaddr)
{
	const struct image_segment *found = NULL;
	size_t i;

	for (i = 0; i < img->segments.n; i++) {
		const struct image_segment *s = &img->segments.v[i];

		if (offset < s->offset || offset - s->offset >= s->filesz)
			continue;
		if (!found || (s->exec && !found->exec))
			found = s;
	}
	if (!found)
		return false;
	*vaddr = offset - found->offset + found->vaddr;
	return true;
}

struct span image_bytes(const struct image *img, uint64_t vaddr, size_t n)
{
	size_t i;

	for (i = 0; i < img->segments.n; i++) {
		const struct image_segment *s = &img->segments.v[i];
		uint64_t at, left;

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->filesz)
			continue;
		at = s->offset + (vaddr - s->vaddr);
		if (at >= img->bytes.n)
			continue;
		left = s->filesz - (vaddr - s->vaddr);
		if (left > img->bytes.n - at)
			left = img->bytes.n - at;
		return (struct span){ img->bytes.p + at,
				      left < n ? (size_t)left : n };
	}
	return (struct span){ NULL, 0 };
}

static bool is_code(const struct image_sect *s)
{
	return (s->flags & (SHF_ALLOC | SHF_EXECINSTR)) ==
		       (SHF_ALLOC | SHF_EXECINSTR) &&
	       s->addr + s->size > s->addr;
}

static int code_by_address(const void *a, const void *b)
{
	const struct image_place *x = a, *y = b;

	return ascending(x->vaddr, y->vaddr) ?: ascending(x->size, y->size);
}

/* Sorts the code sections, once; a relocatable file may have many. */
static void sort_code(struct image *img)
{
	img->code_sorted = true;
	for (size_t i = 0; i < img->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[i];
		struct image_place p = { s->addr, s->size };

		if (is_code(s) && vec_push(&img->code, p) < 0)
			break;
	}
	vec_sort(&img->code, code_by_address);
}

bool image_code_end(struct image *img, uint64_t vaddr, uint64_t *end)
{
	const struct image_place *v;
	size_t at, n;

	if (!img->code_sorted)
		sort_code(img);
	v = img->code.v;
	n = img->code.n;
	if (!n || v[0].vaddr > vaddr)
		return false;
	last_where(at, n, v[at].vaddr <= vaddr);
	*end = v[at].vaddr + v[at].size;
	return vaddr < *end;
}

bool image_is_code(struct image *img, uint64_t vaddr, uint64_t n)
{
	uint16_t type = image_type(img);
	uint64_t end;

	if (type != ET_EXEC && type != ET_DYN && type != ET_REL)
		return false;
	if (image_code_end(img, vaddr, &end))
		return n <= end - vaddr;
	for (size_t i = 0; !img->code.n && i < img->segments.n; i++) {
		const struct image_segment *s = &img->segments.v[i];

		if (s->exec && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->filesz)
			return n <= s->filesz - (vaddr - s->vaddr);
	}
	return false;
}

static const struct image_segment *first_code(const struct image *img)
{
	for (size_t i = 0; i < img->segments.n; i++)
		if (img->segments.v[i].exec && img->segments.v[i].memsz)
			return &img->segments.v[i];
	return NULL;
}

uint64_t image_shift(const struct image *img, const struct image *debug)
{
	const struct image_segment *a = first_code(img), *b = first_code(debug);

	/* Relocation keeps the size of a segment. */
	return a && b && a->memsz == b->memsz ? a->vaddr - b->vaddr : 0;
}

bool image_code_range(const struct image *img, uint64_t *lo, uint64_t *hi)
{
	uint64_t segs_lo = UINT64_MAX, segs_hi = 0;
	size_t i;

	*lo = UINT64_MAX;
	*hi = 0;
	for (i = 0; i < img->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[i];
		uint64_t end = s->addr + s->size;

		if (!is_code(s))
			continue;
		*lo = s->addr < *lo ? s->addr : *lo;
		*hi = end > *hi ? end : *hi;
	}
	for (i = 0; *lo >= *hi && i < img->segments.n; i++) {
		const struct image_segment *s = &img->segments.v[i];

		if (!s->exec || !s->memsz)
			continue;
		segs_lo = s->vaddr < segs_lo ? s->vaddr : segs_lo;
		segs_hi = s->vaddr + s->memsz > segs_hi ? s->vaddr + s->memsz
							: segs_hi;
	}
	if (*lo >= *hi) {
		*lo = segs_lo;
		*hi = segs_hi;
	}
	return *lo < *hi;
}
