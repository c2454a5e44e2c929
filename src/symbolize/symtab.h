/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_SYMTAB_H
#define TALLY_SYMBOLIZE_SYMTAB_H
/* ELF function symbols by address (private to src/symbolize). */
#include "image/image.h"
#include "symbolize/range_index.h"

struct symtab_entry {
	const char *name;	/* borrowed from the image */
	uint64_t rank;		/* of aliases the highest is the name */
};

struct symtab {
	VEC(struct symtab_entry) entries;
	struct range_index sized;	/* id: in entries */
	struct range_index unsized;	/* up to the next symbol */
};

/* Reads the symbols of `names`, an image or its debug file; 0 or -ERR_NOMEM. */
int symtab_open(struct symtab *t, struct image *names);
void symtab_fini(struct symtab *t);
/* The name and range of the symbol that covers addr, "" and 0 if none does. */
const char *symtab_find(const struct symtab *t, uint64_t addr, uint64_t *start,
			uint64_t *size);

#endif
