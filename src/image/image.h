/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_IMAGE_H
#define TALLY_IMAGE_IMAGE_H
/*
 * An ELF file: load segments, build-id, sections, code bytes (System V gABI,
 * chapter 4 and 5).  The one place where file offsets become addresses.
 *
 * Everything in the file is hostile.  Opening fails with ERR_FORMAT and the
 * offset when the ELF header or tables are unusable; a damaged section is a
 * missing section.
 *
 * "vaddr" is always the ELF virtual address (st_value, p_vaddr), never the
 * address in a process.  Sections of a relocatable file (.o, .ko) have none; they
 * are laid out from 0, code first: see image_relocate.c.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

enum { BUILD_ID_MAX = 32 };

struct build_id {
	uint8_t len;		/* 0 = none */
	uint8_t bytes[BUILD_ID_MAX];
};

/* Two files without one are equal, too: ask for len where that matters. */
static inline bool build_id_equal(const struct build_id *a,
				  const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

struct span {			/* bytes that somebody else owns */
	const uint8_t *p;
	size_t n;
};

struct image_segment {		/* a PT_LOAD */
	uint64_t offset, vaddr, filesz, memsz;
	bool exec;
};

struct image_symbol {
	uint64_t vaddr, size;	/* size 0: the symbol table does not say */
	const char *name;	/* borrowed from the image, version suffix kept */
	uint8_t bind, type;	/* STB_*, STT_* */
	bool old_version;	/* .dynsym: nothing is linked with it today */
	const char *file;	/* source file of a local one (STT_FILE), or "" */
};

struct image;

/* `name` is only for messages.  The fd stays the caller's and may be closed. */
int image_open_fd(int fd, const char *name, struct image **out,
		  struct error *err);
int image_open_file(const char *path, struct image **out, struct error *err);
/* The bytes are copied (vdso, fuzzing). */
int image_open_bytes(const void *p, size_t n, const char *name,
		     struct image **out, struct error *err);
void image_close(struct image *img);

const char *image_name(const struct image *img);
bool image_is_64(const struct image *img);
uint16_t image_machine(const struct image *img);	/* EM_* */
uint16_t image_type(const struct image *img);		/* ET_* */
uint64_t image_entry(const struct image *img);		/* 0: none */
struct build_id image_build_id(const struct image *img);
/* The whole file. */
struct span image_file_bytes(const struct image *img);

size_t image_segments(const struct image *img,
		      const struct image_segment **out);
/* File offset -> vaddr through the PT_LOADs; executable segments win where
 * several hold the offset.  False when none does. */
bool image_vaddr_of_offset(const struct image *img, uint64_t offset,
			   uint64_t *vaddr);
/* Bytes at vaddr as the file holds them; shorter than n at the end of a
 * segment; n = 0 where there are none (bss, no segment). */
struct span image_bytes(const struct image *img, uint64_t vaddr, size_t n);

/* The end of the code section that holds vaddr; false when none does. */
bool image_code_end(struct image *img, uint64_t vaddr, uint64_t *end);
/* The lowest and the highest address of the executable sections (segments where
 * there are no sections): code outside of it was thrown away by the linker. */
bool image_code_range(const struct image *img, uint64_t *lo, uint64_t *hi);
/* What to add to addresses in an image's debug file for those in the image: not 0
 * when the image was moved to other addresses later (prelink(8)). */
uint64_t image_shift(const struct image *img, const struct image *debug);

/* Lets go of memory that holds bytes of the file, all or a span of them; they are
 * read again when they are next used. */
void image_release(const struct image *img);
void image_release_span(const struct image *img, const void *p, size_t n);

/* A section's bytes, decompressed (SHF_COMPRESSED zlib or zstd, .zdebug_*) and,
 * in a relocatable file, relocated; kept by the image.  n = 0 when there is none
 * or it cannot be read: see image_problem. */
struct span image_section(struct image *img, const char *name);
/* The next section of that name from number *at on, and moves *at behind it:
 * objects may have several (COMDAT groups).  n = 0 behind the last one. */
struct span image_section_next(struct image *img, const char *name, size_t *at);
/* Makes several sections ready at once, by two threads where that is faster; most
 * important first. */
void image_prefetch(struct image *img, const char *const *names, size_t n);
/* Why the first section that could not be read is so; "" when none failed. */
const char *image_problem(const struct image *img);
/* Whether there is a .debug_info with content, without reading it. */
bool image_has_dwarf(const struct image *img);
/* True and its vaddr range when the section exists and is loaded. */
bool image_section_range(const struct image *img, const char *name,
			 uint64_t *vaddr, uint64_t *size);

/* The value of a symbol of .dynsym that is defined here, also of data; 0: there is none.
 * Sets its *size, unless NULL.  Of 64-bit files only. */
uint64_t image_exported(struct image *img, const char *name, uint64_t *size);

/* Function-like symbols of one table: STT_FUNC, STT_GNU_IFUNC, and STT_NOTYPE in
 * executable sections.  Stops when the callback returns false. */
enum image_symtab {
	IMAGE_SYMTAB,		/* .symtab */
	IMAGE_DYNSYM,		/* .dynsym; PT_DYNAMIC's without section headers */
};
typedef bool image_symbol_cb(void *ctx, const struct image_symbol *sym);
void image_each_symbol(struct image *img, enum image_symtab which,
		       image_symbol_cb *cb, void *ctx);

/* Whether there is a .symtab with content; *dynsym: whether there is a .dynsym. */
bool image_has_symtab(struct image *img, bool *dynsym);

/* The small ELF file in .gnu_debugdata (xz): its .symtab has the functions that
 * the image's .dynsym has not.  *out is NULL when there is none, it is damaged, or
 * tally was built without liblzma (see image_problem); only memory that runs out
 * is an error. */
int image_open_debugdata(struct image *img, struct image **out);

/* A stub in .plt, .plt.sec, .plt.got or .iplt, through which a function of
 * another image is called. */
struct image_stub {
	uint64_t start, size;
	const char *target;	/* the function's name, borrowed; "" when only
				 * the loader knows (IRELATIVE) or when it is not
				 * a stub but the common part */
	uint64_t resolver;	/* IRELATIVE: the function that decides, else 0 */
	const char *section;	/* ".plt"… */
};
/* The stub at vaddr, by the slot it jumps through (x86-64, i386, AArch64);
 * false outside of these sections and on other machines. */
bool image_find_stub(struct image *img, uint64_t vaddr, struct image_stub *out);

/* The .gnu_debuglink file name and its CRC; NULL when there is none. */
const char *image_debuglink(struct image *img, uint32_t *crc);

#endif
