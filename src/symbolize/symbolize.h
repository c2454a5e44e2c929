/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMBOLIZE_H
#define TALLY_SYMBOLIZE_SYMBOLIZE_H
/*
 * Converts (image, vaddr) to names: function, chain of inlined functions, file,
 * line, column (DWARF 2 to 5; ELF symbol tables; Go's .gopclntab; kallsyms).
 *
 * The work depends on the units that are hit.  Unit headers are indexed once.
 * A unit's lines and functions are read at the first lookup in it.  A batch of
 * sorted addresses sweeps each unit once.
 *
 * Memory is bounded by the lookups, not by the file:
 * - A batch of 64 or more addresses keeps only the parts of its units that
 *   cover them.
 * - Units kept for later batches use 32 MB; the least recently used are dropped
 *   first (a single unit may be larger).
 * - Mapped pages are released after every 8 MB touched, by each of two threads.
 *
 * The remaining memory is about 400 bytes for each unit, 50 for each ELF
 * symbol, the abbreviations of units that were hit, and returned names.  That
 * is less than 64 MB plus 1 KB for each address of a batch, with a vmlinux of
 * 630 MB.  Only compressed sections are held as a whole.
 *
 * An address is looked up unchanged: for a frame that was called, pass an
 * address inside the call instruction (return address - 1).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"
#include "symbolize/dwarf/sym_result.h"

struct symbolizer;
struct symbol_cache;

/* What results contain.  Each takes less time than the one before. */
enum sym_detail {
	SYM_LINES,	/* functions, inlined functions, and the addresses' lines */
	SYM_INLINED,	/* no lines of addresses; functions have files, and calls of
			 * inlined functions have lines */
	SYM_SYMBOLS,	/* functions of symbol tables only; SYM_INLINED if the image
			 * has no full symbol table */
};

struct sym_options {
	bool no_debug_files;	/* use only the image itself */
	enum sym_detail detail;
	/* Folders of debug files, separated by ':' (debug_dirs.h).  NULL:
	 * /usr/lib/debug. */
	const char *debug_dirs;
	/* Opens debug files (in another root, or from memory); returns NULL if
	 * there is none.  NULL: image_open_file. */
	struct image *(*open_file)(void *ctx, const char *path);
	void *ctx;
	/* Where results are kept for later processes (symbol_cache.h), or NULL.
	 * Not used with open_file. */
	const struct symbol_cache *cache;
};

/* Opens a symbolizer, which the caller closes.  Reads the image and, if it has
 * no DWARF, its separate debug file (build ID or debuglink).  The image must
 * outlive the symbolizer.  Missing debug information is not an error: see
 * symbolizer_sources. */
int symbolizer_open(struct image *img, const struct sym_options *opts,
		    struct symbolizer **out, struct error *err);
void symbolizer_close(struct symbolizer *s);

/* Calls cb once for each of the n vaddrs, which must be in ascending order
 * (duplicates allowed).  Returns 0, -ERR_STOPPED or -ERR_NOMEM. */
int symbolizer_resolve(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx, struct error *err);

/* Finds the ELF symbol that covers vaddr and its range, as in sym_result.
 * Returns false if there is none.  Reads no DWARF. */
bool symbolizer_extent(struct symbolizer *s, uint64_t vaddr, const char **name,
		       uint64_t *start, uint64_t *size);

/* The sources of names, and the missing files that would help.  Every string is
 * "" if there is nothing to say. */
struct sym_sources {
	bool symtab, dynsym, dwarf;
	bool debugdata;		/* symtab is that of .gnu_debugdata */
	bool unwind;		/* call frame information gave the extents of
				 * functions without names */
	bool go;		/* functions and lines are in .gopclntab */
	const char *debug_file;	/* "" if the DWARF is in the image itself */
	const char *missing;	/* separate debug file, if there is no DWARF:
				 * /usr/lib/debug/.build-id/ab/cd….debug */
	const char *missing_alt;	/* alternate file (dwz) to which the DWARF
					 * refers for names */
	const char *missing_dwo;	/* first missing split file (.dwo) */
	size_t missing_dwo_units;	/* units without their .dwo file, among the
					 * units looked up so far */
	const char *damage;	/* first damage in the DWARF */
	const char *unreadable;	/* why a section could not be read: unsupported
				 * compression */
};
struct sym_sources symbolizer_sources(const struct symbolizer *s);
/* Returns whether this name may belong to a function without a symbol: one that
 * starts threads or programs and is identified by its code (starts.h). */
bool symbolize_names_start(const char *name);

#endif
