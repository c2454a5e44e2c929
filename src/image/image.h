/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMAGE_IMAGE_H
#define TALLY_IMAGE_IMAGE_H
/*
 * An ELF file: load segments, build ID, sections, code bytes (System V gABI,
 * chapters 4 and 5).  The only place that converts file offsets to addresses.
 *
 * All contents of the file are untrusted.  Opening fails with ERR_FORMAT and
 * the offset if the ELF header or tables are unusable; a damaged section is
 * treated as missing.
 *
 * "vaddr" is always the ELF virtual address (st_value, p_vaddr), never an
 * address in a process.  Sections of a relocatable file (.o, .ko) have no
 * addresses; they are laid out from 0, code first: see image_relocate.c.
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

/* Two images without a build ID compare equal; test len if that matters. */
static inline bool build_id_equal(const struct build_id *a,
				  const struct build_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

struct span {			/* borrowed bytes */
	const uint8_t *p;
	size_t n;
};

struct image_segment {		/* a PT_LOAD */
	uint64_t offset, vaddr, filesz, memsz;
	bool exec;
};

struct image_symbol {
	uint64_t vaddr, size;	/* size 0: unknown */
	const char *name;	/* borrowed from the image, version suffix kept; in
				 * damaged files "" */
	uint8_t bind, type;	/* STB_*, STT_* */
	bool old_version;	/* .dynsym: superseded symbol version */
	const char *file;	/* source file of a local symbol (STT_FILE), or "" */
};

struct image;

/* Opens an image.  `name` is only used in messages.  The caller keeps the fd
 * and may close it. */
int image_open_fd(int fd, const char *name, struct image **out,
		  struct error *err);
int image_open_file(const char *path, struct image **out, struct error *err);
/* Returns whether the file at path is an image with this build ID. */
bool image_file_is(const char *path, const struct build_id *id);
/* Opens a copy of the bytes (vdso, fuzzing). */
int image_open_bytes(const void *p, size_t n, const char *name,
		     struct image **out, struct error *err);
void image_close(struct image *img);

const char *image_name(const struct image *img);
bool image_is_64(const struct image *img);
uint16_t image_machine(const struct image *img);	/* EM_* */
uint16_t image_type(const struct image *img);		/* ET_* */
uint64_t image_entry(const struct image *img);		/* 0: none */
struct build_id image_build_id(const struct image *img);
struct io_identity;
/* Returns the identity of the file at the time it was opened; NULL if the image is a copy
 * of bytes. */
const struct io_identity *image_identity(const struct image *img);
/* Returns the bytes of the whole file. */
struct span image_file_bytes(const struct image *img);

size_t image_segments(const struct image *img,
		      const struct image_segment **out);
/* Converts a file offset to a vaddr through the PT_LOADs; if several contain
 * the offset, executable ones take precedence.  Returns false if none does. */
bool image_vaddr_of_offset(const struct image *img, uint64_t offset,
			   uint64_t *vaddr);
/* Returns the bytes at vaddr in the file: fewer than n at the end of a segment,
 * n = 0 if there are none (bss, no segment). */
struct span image_bytes(const struct image *img, uint64_t vaddr, size_t n);

/* Returns the end of the code section that contains vaddr; false if there is
 * none. */
bool image_code_end(struct image *img, uint64_t vaddr, uint64_t *end);
/* Returns whether all n bytes at vaddr are in an executable section (segment if there
 * are no sections) of a program, a library or an object file.  A core dump has none. */
bool image_is_code(struct image *img, uint64_t vaddr, uint64_t n);
/* Returns the lowest and highest address of the executable sections (segments
 * if there are no sections).  Code outside this range was discarded by the
 * linker. */
bool image_code_range(const struct image *img, uint64_t *lo, uint64_t *hi);
/* Returns the difference between addresses of the image and addresses of its
 * debug file.  It is not 0 if the image was relocated later (prelink(8)). */
uint64_t image_shift(const struct image *img, const struct image *debug);

/* Releases memory that holds bytes of the file, all or a span of them.  They
 * are read again on the next use. */
void image_release(const struct image *img);
void image_release_span(const struct image *img, const void *p, size_t n);

/* Returns a section's bytes, decompressed (SHF_COMPRESSED zlib or zstd,
 * .zdebug_*) and, in a relocatable file, relocated; owned by the image.
 * Returns n = 0 if there is no such section or it cannot be read (see
 * image_problem). */
struct span image_section(struct image *img, const char *name);
/* Returns the next section with that name from number *at on, and moves *at
 * after it.  Objects may have several such sections (COMDAT groups).  Returns n
 * = 0 after the last one. */
struct span image_section_next(struct image *img, const char *name, size_t *at);
/* Reads several sections, listed in order of importance; uses two threads if
 * that is faster. */
void image_prefetch(struct image *img, const char *const *names, size_t n);
/* Returns the reason why a section could not be read, for the first such
 * section; "" if none failed. */
const char *image_problem(const struct image *img);
/* Returns whether the image has a non-empty .debug_info, without reading it. */
bool image_has_dwarf(const struct image *img);
/* Returns true and the vaddr range if the section exists and is loaded. */
bool image_section_range(const struct image *img, const char *name,
			 uint64_t *vaddr, uint64_t *size);

/* Returns the value of a function or data symbol defined in .dynsym, or 0 if
 * there is none.  Sets *size unless NULL.  64-bit files only. */
uint64_t image_exported(struct image *img, const char *name, uint64_t *size);

/* Returns the value of an entry of the dynamic section (DT_HASH …), found by program
 * headers because section headers may be missing; 0 if there is none. */
uint64_t image_dynamic(const struct image *img, uint64_t tag);

/* Iterates over function-like symbols of one table: STT_FUNC, STT_GNU_IFUNC,
 * and STT_NOTYPE in executable sections.  Stops when the callback returns
 * false. */
enum image_symtab {
	IMAGE_SYMTAB,		/* .symtab */
	IMAGE_DYNSYM,		/* .dynsym; PT_DYNAMIC's without section headers */
};
typedef bool image_symbol_cb(void *ctx, const struct image_symbol *sym);
void image_each_symbol(struct image *img, enum image_symtab which,
		       image_symbol_cb *cb, void *ctx);

/* Returns whether the image has a non-empty .symtab.  Sets *dynsym to whether
 * it has a .dynsym. */
bool image_has_symtab(struct image *img, bool *dynsym);

/* Opens the small ELF file in .gnu_debugdata (xz), whose .symtab has the
 * functions that are missing from the image's .dynsym.  *out is NULL if there
 * is none, if it is damaged, or if tally was built without liblzma (see
 * image_problem).  Fails only if out of memory. */
int image_open_debugdata(struct image *img, struct image **out);

/* A stub in .plt, .plt.sec, .plt.got or .iplt that calls a function of another
 * image. */
struct image_stub {
	uint64_t start, size;
	const char *target;	/* the function's name, borrowed; "" if only the
				 * loader knows it (IRELATIVE) or if this is the
				 * common part of all stubs */
	uint64_t resolver;	/* IRELATIVE: the function that selects the target,
				 * else 0 */
	const char *section;	/* ".plt"… */
};
/* Finds the stub at vaddr by the slot it jumps through (x86-64, i386, AArch64).
 * Returns false outside these sections and on other architectures. */
bool image_find_stub(struct image *img, uint64_t vaddr, struct image_stub *out);

/* Returns the .gnu_debuglink file name and its CRC; NULL if there is none. */
const char *image_debuglink(struct image *img, uint32_t *crc);

#endif
