/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_ROWS_H
#define TALLY_UNWIND_ROWS_H
/*
 * Converts a table's rows to the kernel module's format (tally/kmod.h:
 * tally_page): how to unwind frames in 64 KB of code.  Code that the module
 * cannot unwind has TALLY_ROW_NONE: code without call frame information, and
 * expressions other than those of .plt.
 */
#include "base/vec.h"
#include "tally/kmod.h"
#include "unwind/unwind.h"

struct unwind_rows {
	VEC(uint16_t) starts, word;	/* arrays of equal length */
	VEC(uint32_t) words;
	VEC(struct tally_rule) rules;
};

/* Stores the start and number of the table's pages, and its TALLY_TABLE_*
 * flags.  Returns false if the module cannot use the table (no code, or
 * i386). */
bool unwind_rows_table(const struct unwind_table *t, struct tally_table *out);
/* A page has eight parts of 8 KB.  Returns the bit of the part with this address. */
unsigned unwind_rows_part(uint16_t low);
/* Stores the rows of the parts *parts of page `page`, which are compiled as needed.  Adds
 * those to *parts that walks have compiled already.  The other parts have
 * TALLY_ROW_NONE.  *out must be zero initially; old rows are replaced.  Returns 0,
 * -ERR_NOMEM, or -ERR_UNSUPPORTED if the rows exceed the limits of a module page. */
int unwind_rows_make(struct unwind_table *t, uint32_t page, uint8_t *parts,
		     struct unwind_rows *out);
/* Returns the word of one address as unwind_rows_make stores it, but with number 0 for any
 * rule; TALLY_ROW_END without memory. */
uint32_t unwind_rows_word(struct unwind_table *t, uint64_t vaddr);
/* Sets the word of one address, as returned by unwind_rows_learned.  Returns 0,
 * -ERR_NOMEM or -ERR_UNSUPPORTED. */
int unwind_rows_set(struct unwind_rows *r, uint16_t addr, uint32_t word);
/* Returns the word of an address. */
uint32_t unwind_rows_get(const struct unwind_rows *r, uint16_t addr);
void unwind_rows_free(struct unwind_rows *r);

/* Returns what a walk found out about the frame pc[at] of its result if the
 * rows had no answer.  The result is a word for unwind_rows_set at *addr (in
 * the walk's address space), or TALLY_ROW_NONE.  `s` must have marks. */
uint32_t unwind_rows_learned(const struct unwind_cache *c, uint32_t generation,
			     const struct unwind_stack *s, size_t at,
			     uint64_t *addr);

#endif
