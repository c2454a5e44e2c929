/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMTAB_H
#define TALLY_SYMBOLIZE_SYMTAB_H
/*
 * Looks up ELF function symbols by address (private to src/symbolize).
 *
 * The name comes from the first of these that covers the address:
 *	1. a symbol with a size: .symtab of the image, of its debug file, or of
 *	   .gnu_debugdata (then together with .dynsym); .dynsym if these have
 *	   none;
 *	2. a procedure linkage stub: NAME@plt; ".plt" for code shared by stubs;
 *	3. a symbol without a size (assembly): up to the next symbol or the end of
 *	   its section, and not past the start of a function known from call
 *	   frame information;
 *	4. the extent of a function known only from call frame information: it
 *	   has no name.
 *
 * Among symbols that cover an address, those with the highest start win.  Among
 * names with one start (aliases, identical code folded by the linker) the
 * choice is always the same:
 *	1. visible outside (global, weak) before local;
 *	2. functions before labels (STT_NOTYPE);
 *	3. versions that the linker uses today (foo@@V2) before old ones (foo@V1);
 *	4. fewest leading underscores (`write`, not `__write`), not counting those
 *	   of mangled names;
 *	5. global before weak;
 *	6. the shortest, then the first by byte value.
 *
 * The version (@@V2) is not part of the name.
 */
#include <stddef.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/image.h"
#include "symbolize/dwarf/range_index.h"

/* Storage for strings, which never move and live as long as the arena. */
struct arena {
	VEC(char *) blocks;
	char *p;
	size_t left;
};

struct symtab_entry {
	const char *name;	/* borrowed from the image */
	uint64_t bits;		/* its rank among aliases, as far as it does not depend
				 * on the name; the upper bits hold the number of the
				 * source file */
};

struct symtab_table {
	VEC(struct symtab_entry) entries;
	VEC(const char *) files;	/* source files of local symbols, borrowed */
	struct range_index sized;	/* id: index in entries */
	struct range_index unsized;	/* up to the next symbol */
};

struct symtab {
	struct image *img;
	struct image *mini;	/* from .gnu_debugdata, or NULL */
	struct symtab_table main;
	struct symtab_table dynsym;	/* read if main has no symbol */
	bool has_symtab, has_dynsym;
	bool ask_dynsym, nomem;
	bool used_cfi;		/* call frame information gave the extent of a
				 * function */
	struct u64map stub_names;	/* start -> index in `made` */
	VEC(const char *) made;
	struct arena strings;
	size_t made_bytes;
};

struct symtab_hit {
	const char *name;	/* "" if only the extent is known */
	const char *file;	/* source file of a local symbol, or "" */
	uint64_t start, size;	/* size 0: nothing found */
	/* The number in the list above; 0: nothing found */
	enum { SYMTAB_SIZED = 1, SYMTAB_STUB, SYMTAB_UNSIZED, SYMTAB_CFI } from;
};

/* Reads the symbols of an image; `debug` is its debug file or NULL.  Returns 0
 * or -ERR_NOMEM. */
int symtab_open(struct symtab *t, struct image *img, struct image *debug);
void symtab_fini(struct symtab *t);
/* Finds the symbol or function that covers addr.  Returns 0 or -ERR_NOMEM. */
int symtab_find(struct symtab *t, uint64_t addr, struct symtab_hit *hit);
/* Returns the end of a range from addr on, at most `end`, that has the same hit, which
 * symtab_find returned for addr. */
uint64_t symtab_same_until(struct symtab *t, uint64_t addr,
			   const struct symtab_hit *hit, uint64_t end);

#endif
