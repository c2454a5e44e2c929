// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens an ELF file and answers for its load segments: see image.h.  The file is
 * mapped, never copied.
 */
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/image_internal.h"

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
	rc = image_read_header(img, err);
	if (!rc)
		rc = image_read_segments(img, err);
	if (!rc)
		rc = image_read_sections(img, err);
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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc;

	*out = NULL;
	if (fd < 0)
		return error_errno(err, errno, "%s: cannot open", path);
	rc = image_open_fd(fd, path, out, err);
	close(fd);
	return rc;
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

struct span image_file_bytes(const struct image *img)
{
	return img->bytes;
}

void image_release_span(const struct image *img, const void *p, size_t n)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t lo = (uintptr_t)p, hi = lo + n;
	uintptr_t map = (uintptr_t)img->map.p;

	/* Only pages of the mapped file come back. */
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
 * The one place where file offsets become addresses (gABI chapter 5, Program
 * Loading).  Linkers may give one page of the file to two segments and p_vaddr
 * need not equal p_offset, so the PT_LOAD that holds the offset decides.
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

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* The code sections, sorted once: a relocatable file may have many. */
static void sort_code(struct image *img)
{
	img->code_sorted = true;
	for (size_t i = 0; i < img->sects.n; i++) {
		const struct image_sect *s = &img->sects.v[i];
		struct image_place p = { s->addr, s->size };

		if (is_code(s) && vec_push(&img->code, p) < 0)
			break;
	}
	if (img->code.n)
		qsort(img->code.v, img->code.n, sizeof(*img->code.v),
		      code_by_address);
}

bool image_code_end(struct image *img, uint64_t vaddr, uint64_t *end)
{
	const struct image_place *v;
	size_t lo = 0, n;

	if (!img->code_sorted)
		sort_code(img);
	v = img->code.v;
	n = img->code.n;
	if (!n || v[0].vaddr > vaddr)
		return false;
	while (n > 1) {
		size_t half = n / 2;

		if (v[lo + half].vaddr <= vaddr)
			lo += half;
		n -= half;
	}
	*end = v[lo].vaddr + v[lo].size;
	return vaddr < *end;
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

	/* What moves keeps its size. */
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
