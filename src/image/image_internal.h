/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_IMAGE_INTERNAL_H
#define TALLY_IMAGE_IMAGE_INTERNAL_H
/* Shared by the files of this folder; not included elsewhere. */
#include <gelf.h>

#include "base/io.h"
#include "base/vec.h"
#include "image/image.h"

struct image_sect {
	const char *name;	/* in the image's section name table */
	uint64_t addr, offset, size, flags;
	uint32_t type, name_at;
	bool tried;		/* reading `data` was attempted */
	bool relocated;
	uint32_t link, info;
	uint32_t relocs;	/* its SHT_RELA in a relocatable file, or 0 */
	uint64_t align;
	struct span data;	/* n = 0: missing or damaged */
	uint8_t *owned;		/* decompressed or relocated bytes */
};

struct image_place {
	uint64_t vaddr, size;
};

struct image {
	char *name;
	struct io_map map;	/* the file, or ... */
	uint8_t *copy;		/* ... a copy of the caller's bytes */
	struct span bytes;
	Elf *elf;
	GElf_Ehdr ehdr;
	struct build_id build_id;
	VEC(struct image_segment) segments;
	VEC(GElf_Phdr) notes;		/* PT_NOTE */
	struct image_place dynamic;	/* PT_DYNAMIC */
	struct image_place eh_hdr;	/* PT_GNU_EH_FRAME */
	struct cfi_index *cfi;		/* NULL until first used (cfi.c) */
	struct plt *plt;		/* NULL until first used (plt.c) */
	VEC(struct image_sect) sects;	/* by section number */
	VEC(struct image_place) code;	/* code sections by address, sorted when ... */
	bool code_sorted;		/* ... first used */
	uint64_t relocated;	/* work done by image_relocate: see there */
	uint64_t inflated;	/* bytes of decompressed sections kept */
	char problem[160];	/* reason why the first unreadable section failed */
};

/*
 * Each file calls only those above it here: image.c, image_inflate.c, image_symbols.c,
 * image_relocate.c, image_sections.c, cfi.c and plt.c, image_open.c, image_debugdata.c.
 */

/* image.c: sections by name (.debug_info may be .zdebug_info) or type, or NULL. */
struct image_sect *image_find_sect(const struct image *img, const char *name);
struct image_sect *image_find_debug_sect(const struct image *img, const char *name);
struct image_sect *image_find_type(const struct image *img, uint32_t type);
/* Returns the bytes as stored in the file. */
struct span image_sect_raw(const struct image *img, const struct image_sect *s);
/* Sets what image_problem returns.  The first problem causes the others. */
void image_set_problem(struct image *img, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* image_inflate.c: returns the data of one section, decompressed and cached, but not
 * relocated. */
struct span image_sect_load(struct image *img, struct image_sect *s);
/* Decompressed sections must not fill all memory. */
#define IMAGE_MAX_INFLATED (16ull << 30)
/* Returns how many more bytes of sections may be created from this file. */
uint64_t image_inflate_room(const struct image *img);

/* image_symbols.c: a symbol table, for callers that need more than functions. */
struct symbol_table {
	struct span syms, names;
	struct span shndx;	/* SHT_SYMTAB_SHNDX: section numbers >= 0xff00 */
	struct span versions;	/* SHT_GNU_versym */
	size_t n;
	bool is64;
};
bool symbol_table_open(struct image *img, struct image_sect *s,
		       struct symbol_table *t);
void symbol_table_get(const struct symbol_table *t, size_t i, Elf64_Sym *out);
/* Returns the symbol's name, or "". */
const char *symbol_table_name(const struct symbol_table *t,
			      const Elf64_Sym *sym);
/* Returns the section that defines symbol i; NULL if it is undefined or
 * absolute. */
const struct image_sect *symbol_table_section(const struct image *img,
					      const struct symbol_table *t,
					      size_t i, uint32_t shndx);

/* image_relocate.c: relocatable files (ET_REL). */
/* Assigns consecutive addresses to the sections and creates segments for them.
 */
int image_layout_sections(struct image *img);
struct reloc {
	uint64_t offset, type, sym;
	int64_t addend;
	bool in_place;		/* SHT_REL: the addend is in the section */
};
struct reloc_table {
	struct span bytes;
	size_t n, size;
	bool rela, is64;
};
void reloc_table_init(struct reloc_table *t, struct span bytes, bool rela,
		      bool is64);
void reloc_read(const struct reloc_table *t, size_t i, struct reloc *r);
/* Applies the relocations of a section that was read, if it has any, once. */
void image_relocate(struct image *img, struct image_sect *s);

/* image_sections.c: returns the data of one section, decompressed, relocated and
 * cached. */
struct span image_sect_data(struct image *img, struct image_sect *s);

void cfi_index_free(struct cfi_index *x);
void plt_free(struct plt *p);

/* image_open.c: opens an image.  Takes ownership of map and copy, also on failure. */
int image_open_owned(struct io_map map, uint8_t *copy, struct span bytes,
		     const char *name, struct image **out, struct error *err);

#endif
