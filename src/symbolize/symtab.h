/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMTAB_H
#define TALLY_SYMBOLIZE_SYMTAB_H
/*
 * ELF function symbols by address (private to src/symbolize).
 *
 * Where names come from, the first that covers the address:
 *	1. a symbol with a size: .symtab of the image, of its debug file, or of
 *	   .gnu_debugdata (then together with .dynsym); .dynsym where these have
 *	   none;
 *	2. a procedure linkage stub: NAME@plt; ".plt" for what stubs share;
 *	3. a symbol without a size (assembly): up to the next symbol or the end of
 *	   its section, and not past the beginning of a function that call frame
 *	   information knows;
 *	4. the extent of a function that only call frame information knows: it has
 *	   no name.
 *
 * Of symbols that cover an address, those that begin last count.  Of names of one
 * beginning (aliases, identical code folded by the linker) the choice is always
 * the same:
 *	1. visible outside (global, weak) before local;
 *	2. functions before labels (STT_NOTYPE);
 *	3. versions that are linked with today (foo@@V2) before old ones (foo@V1);
 *	4. fewest leading underscores (`write`, not `__write`), those of mangled
 *	   names not counted;
 *	5. global before weak;
 *	6. the shortest, then the first by byte value.
 * The version (@@V2) is not part of the name.
 */
#include <stddef.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/image.h"
#include "symbolize/dwarf/range_index.h"

/* Strings that live until the arena goes; they never move. */
struct arena {
	VEC(char *) blocks;
	char *p;
	size_t left;
};

struct symtab_entry {
	const char *name;	/* borrowed from the image */
	uint64_t rank;		/* of aliases the highest is the name; above it
				 * the number of the source file */
};

struct symtab_table {
	VEC(struct symtab_entry) entries;
	VEC(const char *) files;	/* of local symbols, borrowed */
	struct range_index sized;	/* id: in entries */
	struct range_index unsized;	/* up to the next symbol */
};

struct symtab {
	struct image *img;
	struct image *mini;	/* from .gnu_debugdata, or NULL */
	struct symtab_table main;
	struct symtab_table dynsym;	/* read when main does not know */
	bool has_symtab, has_dynsym;
	bool ask_dynsym, nomem;
	bool used_cfi;		/* for the extent of a function */
	struct u64map stub_names;	/* by start: in made */
	VEC(const char *) made;
	struct arena strings;
	size_t made_bytes;
};

struct symtab_hit {
	const char *name;	/* "" when nothing but the extent is known */
	const char *file;	/* source file of a local symbol, or "" */
	uint64_t start, size;	/* size 0: nothing is known */
};

/* Reads the symbols of an image; `debug` is its debug file or NULL.  0 or
 * -ERR_NOMEM. */
int symtab_open(struct symtab *t, struct image *img, struct image *debug);
void symtab_fini(struct symtab *t);
/* What covers addr; 0 or -ERR_NOMEM. */
int symtab_find(struct symtab *t, uint64_t addr, struct symtab_hit *hit);

#endif
