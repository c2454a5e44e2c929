/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMBOLIZE_H
#define TALLY_SYMBOLIZE_SYMBOLIZE_H
/*
 * From (image, vaddr) to names: function, chain of inlined functions, file,
 * line, column (DWARF 2 to 5; ELF symbol tables; Go's .gopclntab; kallsyms).
 *
 * Work follows the units that are hit: unit headers are indexed once, a unit's
 * lines and functions are read when an address in it is asked for, and a batch
 * of sorted addresses sweeps each unit once.
 *
 * Memory is bounded by what is asked, not by the file: a batch of 64 or more
 * addresses keeps of its units only what covers them; units that are kept for
 * later batches have 32 MB, the least recently used go first (one unit alone may
 * be larger); mapped pages are let go of after every 8 MB touched, by each of
 * two threads.  What stays is about 400 bytes for each unit, 50 for each ELF
 * symbol, the abbreviations of units that were hit, and names that were given
 * out.  That is less than 64 MB, and 1 KB for each address of a batch, with a
 * vmlinux of 630 MB.  Only sections that are compressed are held whole.
 *
 * An address is looked up as it is: for a frame that was called, the caller
 * passes an address inside the call instruction (return address - 1).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/image.h"
#include "symbolize/dwarf/sym_result.h"

struct symbolizer;

struct sym_options {
	bool no_debug_files;	/* look only into the image itself */
	/* Folders of debug files, with ':' between them (debug_dirs.h).  NULL:
	 * /usr/lib/debug. */
	const char *debug_dirs;
	/* How debug files are opened (in another root, or from memory): NULL
	 * where there is none.  Without it: image_open_file. */
	struct image *(*open_file)(void *ctx, const char *path);
	void *ctx;
};

/* Reads the image and, where it has no DWARF, its separate debug file (build-id
 * or debuglink).  The image must outlive the symbolizer.  Missing debug
 * information is not an error: see symbolizer_sources. */
int symbolizer_open(struct image *img, const struct sym_options *opts,
		    struct symbolizer **out, struct error *err);
void symbolizer_close(struct symbolizer *s);

/* Calls cb once for each of the n vaddrs, which are sorted ascending (equal ones
 * allowed).  0, -ERR_STOPPED or -ERR_NOMEM. */
int symbolizer_resolve(struct symbolizer *s, const uint64_t *vaddrs, size_t n,
		       sym_cb *cb, void *ctx, struct error *err);

/* The ELF symbol that covers vaddr and its range, as in sym_result; false where
 * none does.  Reads no DWARF. */
bool symbolizer_extent(struct symbolizer *s, uint64_t vaddr, const char **name,
		       uint64_t *start, uint64_t *size);

/* What names can come from, and what would help where it is missing.  Every
 * string is "" when there is nothing to say. */
struct sym_sources {
	bool symtab, dynsym, dwarf;
	bool debugdata;		/* the .symtab is that of .gnu_debugdata */
	bool unwind;		/* functions without name got their extent from
				 * call frame information */
	bool go;		/* functions and lines are in Go's own table */
	const char *debug_file;	/* "" when DWARF is in the image itself */
	const char *missing;	/* the separate debug file, where there is no
				 * DWARF: /usr/lib/debug/.build-id/ab/cd….debug */
	const char *missing_alt;	/* the alternate file (dwz) that the
				 * DWARF takes names from */
	const char *missing_dwo;	/* the first split file (.dwo) missing */
	size_t missing_dwo_units;	/* units that miss theirs, of those that
				 * were asked about so far */
	const char *damage;	/* first damage found in the DWARF */
	const char *unreadable;	/* why a section could not be read: it is
				 * compressed in a way we cannot */
};
struct sym_sources symbolizer_sources(const struct symbolizer *s);
/* Whether functions may have this name though no symbol says so: they start threads
 * or programs, and are told by what they do. */
bool symbolize_names_start(const char *name);

#endif
