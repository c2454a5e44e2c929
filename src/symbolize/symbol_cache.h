/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMBOL_CACHE_H
#define TALLY_SYMBOLIZE_SYMBOL_CACHE_H
/*
 * Results of symbolizers, kept in a folder for later processes, so that a recorder that
 * writes a file every minute reads each function's symbols and debug information once.
 *
 * The folder has one file for each image (symbol_cache.c describes it).  An image is
 * known by its build ID *and* by the identity of its file (io_identify): any user can
 * write a program with the build ID of another one, whose names would then be shown for
 * that one.  A file also lists each path where debug information was looked for, and
 * what was there.  It is not used once any of these changed.
 *
 * What is stored are ranges of addresses with equal results: of symbols, and of the
 * frames that DWARF gives.  The caller adds whole functions.
 *
 * Files are written completely or not at all.  One that is damaged, or of another format,
 * counts as missing: their hash is tested once after each start of the machine.  The
 * folder must be the user's own.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"
#include "symbolize/dwarf/sym_result.h"

struct symbol_cache;

/* Opens a folder, which is made if it does not exist.  `max_bytes` limits the size of all
 * its files: those that were not used for the longest time are removed.  Nothing is added
 * while the disk has less than `free_bytes`.  Several threads and processes may use a
 * folder at the same time. */
int symbol_cache_open(const char *path, uint64_t max_bytes, uint64_t free_bytes,
		      struct symbol_cache **out, struct error *err);
void symbol_cache_close(struct symbol_cache *c);

/* The results of one image. */
struct cached_image;

/* What symbolizer_sources says of an image without Go's tables.  All strings live until cached_image_close. */
struct cached_sources {
	bool symtab, dynsym, dwarf, debugdata;
	const char *debug_file, *missing;
};

/* Returns the stored results of an image, which may be empty.  Returns NULL for images
 * that are not cached, and if out of memory.  `kind` selects one of several sets of
 * results for an image (symbolize.h: sym_detail and where to search). */
struct cached_image *cached_image_open(const struct symbol_cache *c,
				       const struct image *img, const char *kind);
/* Returns the sources; NULL if nothing is known. */
const struct cached_sources *cached_image_sources(const struct cached_image *k);

/* The number of no result. */
#define CACHED_NONE UINT32_MAX

struct cached_symbol {		/* as in symtab_hit */
	const char *name, *file;
	uint64_t start, size;	/* size 0: no symbol */
	bool cfi;		/* call frame information gave the extent */
};

/* Return the number of the symbol or of the frames at an address, or CACHED_NONE if that
 * is not known.  Equal numbers are equal results. */
uint32_t cached_symbol_at(const struct cached_image *k, uint64_t vaddr);
uint32_t cached_frames_at(const struct cached_image *k, uint64_t vaddr);
/* Returns the lowest address above this one whose symbol is known; UINT64_MAX if there is
 * none. */
uint64_t cached_symbol_after(const struct cached_image *k, uint64_t vaddr);
/* Returns whether n new addresses should be added: enough for the file to be written
 * again, or it was not for a while.  frames: whether the image has frames. */
bool cached_image_takes(const struct cached_image *k, bool frames, size_t n);
/* Returns whether frames are known of any address in [lo, hi). */
bool cached_frames_between(const struct cached_image *k, uint64_t lo, uint64_t hi);
struct cached_symbol cached_symbol(const struct cached_image *k, uint32_t symbol);
/* Returns the number of frames, which may be 0, and writes the first `max` of them,
 * innermost first. */
size_t cached_frames(const struct cached_image *k, uint32_t frames, struct sym_frame *out,
		     size_t max);

/* Return the number of a result, which is stored if it is a new one; CACHED_NONE if out
 * of memory, or if the image has too many. */
uint32_t cached_store_symbol(struct cached_image *k, const struct cached_symbol *s);
uint32_t cached_store_frames(struct cached_image *k, const struct sym_frame *f, size_t n);
/* Set where a stored result applies: at [lo, hi), which must not have one yet.  It is
 * found after cached_image_sort.  Return 0 or -ERR_NOMEM, also if the image has too
 * many. */
int cached_place_symbol(struct cached_image *k, uint64_t lo, uint64_t hi, uint32_t symbol);
int cached_place_frames(struct cached_image *k, uint64_t lo, uint64_t hi, uint32_t frames);
void cached_image_sort(struct cached_image *k);
/* Adds a path on whose contents, or absence, the results depend. */
void cached_add_input(void *image, const char *path);

/* Stores the image's results if any were added, and closes it.  `s` NULL: only closes it.
 * Failures to write are ignored: the results are then read again next time. */
void cached_image_close(struct cached_image *k, const struct cached_sources *s);

#endif
