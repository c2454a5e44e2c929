// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the headers of an open ELF file say: its kind, segments, sections and ranges of
 * code: see image.h.  The base of this folder; image_open.c fills it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/search.h"
#include "image/image_internal.h"

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

struct image_sect *image_find_debug_sect(const struct image *img, const char *name)
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

struct span image_sect_raw(const struct image *img, const struct image_sect *s)
{
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !s->size ||
	    s->offset > img->bytes.n || s->size > img->bytes.n - s->offset)
		return (struct span){ NULL, 0 };
	return (struct span){ img->bytes.p + s->offset, (size_t)s->size };
}

void image_set_problem(struct image *img, const char *fmt, ...)
{
	va_list ap;

	if (*img->problem)
		return;
	va_start(ap, fmt);
	vsnprintf(img->problem, sizeof(img->problem), fmt, ap);
	va_end(ap);
}

const char *image_problem(const struct image *img)
{
	return img->problem;
}
