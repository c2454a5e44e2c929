// SPDX-License-Identifier: GPL-2.0-or-later
/* image: segments, offsets and bytes against the dynamic linker's own view;
 * hand-made ELF files for layouts that this machine's linker does not make. */
#include <stddef.h>
#include <stdint.h>
#include "../checks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

/* An ELF file with program headers only. */
struct tiny {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[4];
	uint8_t rest[0x3000];
};

static void tiny_init(struct tiny *t, unsigned nph)
{
	memset(t, 0, sizeof(*t));
	memcpy(t->eh.e_ident, ELFMAG, SELFMAG);
	t->eh.e_ident[EI_CLASS] = ELFCLASS64;
	t->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	t->eh.e_ident[EI_VERSION] = EV_CURRENT;
	t->eh.e_type = ET_DYN;
	t->eh.e_machine = EM_X86_64;
	t->eh.e_version = EV_CURRENT;
	t->eh.e_phoff = offsetof(struct tiny, ph);
	t->eh.e_ehsize = sizeof(t->eh);
	t->eh.e_phentsize = sizeof(Elf64_Phdr);
	t->eh.e_phnum = (uint16_t)nph;
}

static Elf64_Phdr load(uint64_t off, uint64_t vaddr, uint64_t filesz,
		       uint64_t memsz, uint32_t flags)
{
	return (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = flags,
			     .p_offset = off, .p_vaddr = vaddr,
			     .p_filesz = filesz, .p_memsz = memsz,
			     .p_align = 0x1000 };
}

static struct image *open_tiny(const struct tiny *t)
{
	struct image *img;
	struct error err;

	if (image_open_bytes(t, sizeof(*t), "tiny", &img, &err) < 0)
		fail_msg("%s", err.msg);
	return img;
}

/* gABI: the PT_LOAD that holds the offset decides, not p_vaddr - p_offset of the
 * first one; lld and mold give pages to two segments. */
static void test_offset_to_vaddr(void **state)
{
	struct tiny t;
	struct image *img;
	uint64_t v;

	(void)state;
	tiny_init(&t, 3);
	t.ph[0] = load(0, 0x200000, 0x7f0, 0x7f0, PF_R);
	t.ph[1] = load(0x7f0, 0x2017f0, 0x400, 0x400, PF_R | PF_X);
	t.ph[2] = load(0xbf0, 0x202bf0, 0x100, 0x900, PF_R | PF_W);
	img = open_tiny(&t);
	assert_true(image_vaddr_of_offset(img, 0x10, &v));
	assert_int_equal(v, 0x200010);
	assert_true(image_vaddr_of_offset(img, 0x7ef, &v));
	assert_int_equal(v, 0x2007ef);
	assert_true(image_vaddr_of_offset(img, 0x7f0, &v));
	assert_int_equal(v, 0x2017f0);
	assert_true(image_vaddr_of_offset(img, 0xbef, &v));
	assert_int_equal(v, 0x201bef);
	assert_true(image_vaddr_of_offset(img, 0xbf0, &v));
	assert_int_equal(v, 0x202bf0);
	assert_false(image_vaddr_of_offset(img, 0xcf0, &v));	/* bss */
	assert_false(image_vaddr_of_offset(img, UINT64_MAX, &v));
	image_close(img);
}

static void test_executable_segment_wins(void **state)
{
	struct tiny t;
	struct image *img;
	uint64_t v;

	(void)state;
	tiny_init(&t, 3);
	t.ph[0] = load(0, 0, 0x2000, 0x2000, PF_R);
	t.ph[1] = load(0x1000, 0x401000, 0x800, 0x800, PF_R | PF_X);
	t.ph[2] = load(0x1000, 0x601000, 0x800, 0x800, PF_R | PF_W);
	img = open_tiny(&t);
	assert_true(image_vaddr_of_offset(img, 0x1004, &v));
	assert_int_equal(v, 0x401004);
	assert_true(image_vaddr_of_offset(img, 0x1900, &v));
	assert_int_equal(v, 0x1900);
	image_close(img);
}

static void test_bytes(void **state)
{
	struct tiny t;
	struct image *img;
	struct span s;

	(void)state;
	tiny_init(&t, 2);
	t.ph[0] = load(0x1000, 0x5000, 0x10, 0x100, PF_R | PF_X);
	/* a segment that the file is too short for */
	t.ph[1] = load(sizeof(t) - 8, 0x9000, 0x100, 0x100, PF_R);
	memset((uint8_t *)&t + 0x1000, 0xab, 0x10);
	img = open_tiny(&t);
	s = image_bytes(img, 0x5004, 4);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.p[3], 0xab);
	assert_int_equal(image_bytes(img, 0x500c, 100).n, 4);
	assert_int_equal(image_bytes(img, 0x5010, 1).n, 0);	/* bss */
	assert_int_equal(image_bytes(img, 0x4fff, 1).n, 0);
	assert_int_equal(image_bytes(img, 0x9000, 100).n, 8);
	assert_int_equal(image_bytes(img, 0x9008, 1).n, 0);
	image_close(img);
}

static void test_wrapping_segment_is_ignored(void **state)
{
	const struct image_segment *segs;
	struct tiny t;
	struct image *img;

	(void)state;
	tiny_init(&t, 2);
	t.ph[0] = load(UINT64_MAX - 4, 0x1000, 0x100, 0x100, PF_X);
	t.ph[1] = load(0, UINT64_MAX - 4, 0x100, 0x100, PF_X);
	img = open_tiny(&t);
	assert_int_equal(image_segments(img, &segs), 0);
	image_close(img);
}

static void test_not_elf(void **state)
{
	struct image *img;
	struct error err;
	struct tiny t;
	size_t n;

	(void)state;
	assert_int_equal(image_open_bytes("#!/bin/sh\n", 10, "script", &img,
					  &err), -ERR_FORMAT);
	assert_non_null(strstr(err.msg, "script"));
	assert_null(img);
	assert_int_equal(image_open_bytes("", 0, "empty", &img, &err),
			 -ERR_FORMAT);
	assert_int_equal(image_open_file("/nonexistent/x", &img, &err),
			 -ERR_NOTFOUND);
	tiny_init(&t, 2);
	t.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	assert_int_equal(image_open_bytes(&t, sizeof(t), "big", &img, &err),
			 -ERR_UNSUPPORTED);
	tiny_init(&t, 2);
	for (n = 0; n < sizeof(t.eh); n++)	/* cut in the header */
		assert_true(image_open_bytes(&t, n, "cut", &img, &err) < 0);
}

/* A PT_NOTE as "Program Headers" and "Note Section" of the gABI describe it. */
static void test_build_id(void **state)
{
	static const uint8_t want[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct { Elf64_Nhdr h; char name[4]; uint8_t id[8]; } note = {
		{ 4, 8, NT_GNU_BUILD_ID }, "GNU", { 1, 2, 3, 4, 5, 6, 7, 8 }
	};
	struct build_id id;
	struct tiny t;
	struct image *img;

	(void)state;
	tiny_init(&t, 1);
	t.ph[0] = load(0x1000, 0x1000, sizeof(note), sizeof(note), PF_R);
	t.ph[0].p_type = PT_NOTE;
	t.ph[0].p_align = 4;
	memcpy((uint8_t *)&t + 0x1000, &note, sizeof(note));
	img = open_tiny(&t);
	id = image_build_id(img);
	assert_int_equal(id.len, 8);
	assert_memory_equal(id.bytes, want, 8);
	image_close(img);
	t.eh.e_phnum = 0;
	img = open_tiny(&t);
	assert_int_equal(image_build_id(img).len, 0);
	image_close(img);
}

/* Linux starts a program with at most 64 KiB of them (fs/binfmt_elf.c,
 * load_elf_phdrs). */
static void test_too_many_program_headers(void **state)
{
	enum { MOST = 65536 / sizeof(Elf64_Phdr), ROOM = 3 * 65536 };
	uint8_t *file = calloc(1, ROOM);
	struct image *img;
	struct error err;
	struct tiny t;

	(void)state;
	assert_non_null(file);
	tiny_init(&t, MOST);
	memcpy(file, &t.eh, sizeof(t.eh));
	assert_int_equal(image_open_bytes(file, ROOM, "many", &img, &err), 0);
	image_close(img);
	tiny_init(&t, MOST + 1);
	memcpy(file, &t.eh, sizeof(t.eh));
	assert_int_equal(image_open_bytes(file, ROOM, "many", &img, &err),
			 -ERR_FORMAT);
	assert_non_null(strstr(err.msg, "1171 program headers at offset 64"));
	free(file);
}

/* Every line of /proc/self/maps that is code: offset -> vaddr must agree with
 * the load address that the dynamic linker reports. */
static int check_module(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *name = *info->dlpi_name ? info->dlpi_name
					    : "/proc/self/exe";
	char line[4352], file[4096], real[4096];
	unsigned *checked = ctx;
	struct image *img;
	FILE *maps = NULL;

	(void)size;
	if (image_open_file(name, &img, NULL) < 0)
		return 0;	/* the vdso */
	if (!realpath(name, real) || !(maps = fopen("/proc/self/maps", "r")))
		fail_msg("no /proc");
	while (fgets(line, sizeof(line), maps)) {
		unsigned long lo, hi, off, at = 64;
		uint64_t v;
		char perm[5];

		if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %4095s", &lo, &hi,
			   perm, &off, file) != 5 || perm[2] != 'x' ||
		    strcmp(file, real))
			continue;
		/* The first page may begin with the end of another segment (lld). */
		for (int i = 0; i < info->dlpi_phnum; i++)
			if (info->dlpi_phdr[i].p_flags & PF_X &&
			    info->dlpi_phdr[i].p_offset > off + at &&
			    info->dlpi_phdr[i].p_offset < off + (hi - lo))
				at = info->dlpi_phdr[i].p_offset - off;
		assert_true(image_vaddr_of_offset(img, off + at, &v));
		assert_int_equal(v + info->dlpi_addr, lo + at);
		assert_memory_equal(image_bytes(img, v, 64).p,
				    (void *)(lo + at), 64);
		++*checked;
	}
	fclose(maps);
	image_close(img);
	return 0;
}

static void test_own_modules(void **state)
{
	unsigned checked = 0;

	(void)state;
	dl_iterate_phdr(check_module, &checked);
	assert_true(checked >= 2);
}

static const char *const exports[] = { "malloc", "fopen", "qsort" };

struct find {
	const char *name;
	uint64_t vaddr;
};

static bool find_symbol(void *ctx, const struct image_symbol *s)
{
	struct find *f = ctx;
	size_t n = strlen(f->name);

	if (strncmp(s->name, f->name, n) ||
	    (s->name[n] && s->name[n] != '@'))
		return true;
	f->vaddr = s->vaddr;
	return false;
}

static void test_symbols_of_libc(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(exports) / sizeof(*exports); i++) {
		struct find f = { exports[i], 0 };
		void *at = dlsym(RTLD_DEFAULT, f.name);
		struct image *img;
		struct link_map *map;
		Dl_info info;

		if (!dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) ||
		    image_open_file(info.dli_fname, &img, NULL) < 0)
			continue;	/* intercepted by a sanitizer */
		image_each_symbol(img, IMAGE_DYNSYM, find_symbol, &f);
		if (f.vaddr)
			assert_int_equal(f.vaddr + map->l_addr, (uint64_t)at);
		image_close(img);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_offset_to_vaddr),
		cmocka_unit_test(test_executable_segment_wins),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_wrapping_segment_is_ignored),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_too_many_program_headers),
		cmocka_unit_test(test_own_modules),
		cmocka_unit_test(test_symbols_of_libc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
