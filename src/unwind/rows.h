/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_UNWIND_ROWS_H
#define TALLY_UNWIND_ROWS_H
/*
 * A table's rows as the kernel module takes them (tally/kmod.h: tally_page): how
 * frames are left in 64 KB of code.  What the module does not follow (expressions
 * but those of .plt, code without call frame information) has TALLY_ROW_NONE.
 */
#include "base/vec.h"
#include "tally/kmod.h"
#include "unwind/unwind.h"

struct unwind_rows {
	VEC(uint16_t) starts, word;	/* of equal length */
	VEC(uint32_t) words;
	VEC(struct tally_rule) rules;
};

/* Where the table's pages begin, how many there are, and TALLY_TABLE_* that
 * describe it.  False: it has none that the module takes (no code, or i386). */
bool unwind_rows_table(const struct unwind_table *t, struct tally_table *out);
/* Page number `page` of that; compiles it as needed.  Start with zeroes; the rows
 * before are replaced.  0, -ERR_NOMEM, or -ERR_UNSUPPORTED: more than a page of the
 * module's can have. */
int unwind_rows_make(struct unwind_table *t, uint32_t page,
		     struct unwind_rows *out);
/* Gives one address what unwind_rows_learned said of it.  0, -ERR_NOMEM or
 * -ERR_UNSUPPORTED. */
int unwind_rows_set(struct unwind_rows *r, uint16_t addr, uint32_t word);
/* The word of an address. */
uint32_t unwind_rows_get(const struct unwind_rows *r, uint16_t addr);
void unwind_rows_free(struct unwind_rows *r);

/* What a walk has found out about the frame pc[at] of its result, for which the
 * rows had no answer: a word for unwind_rows_set at *addr (in the address space of
 * the walk), or TALLY_ROW_NONE.  `s` has marks. */
uint32_t unwind_rows_learned(const struct unwind_cache *c, uint32_t generation,
			     const struct unwind_stack *s, size_t at,
			     uint64_t *addr);

#endif
