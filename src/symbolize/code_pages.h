/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_SYMBOLIZE_CODE_PAGES_H
#define TALLY_SYMBOLIZE_CODE_PAGES_H
/*
 * Finds generated code by address and order.  Programs put new code where old code was,
 * so an address may have belonged to several pieces of code, one after the other.
 *
 * Each piece is listed in all pages that it touches:
 *
 *	code_pages_add(&p, addr, size, time, number);
 *	...
 *	at = code_pages_after(&p, addr, time);
 *	while (at && (e = code_pages_at(&p, addr, --at)) != NULL)
 *		... piece e->code, the last one first ...
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum {
	CODE_PAGES_MAX = 1 << 22,
	CODE_PAGES_LOOK = 1 << 14,	/* maximum pieces of a page to examine */
	CODE_PAGE_BITS = 12,
};
#define CODE_ADDRESS_MAX (1ull << 63)

struct code_page {
	uint64_t page, order;
	uint32_t code;
};

struct code_pages {
	VEC(struct code_page) v;
	size_t sorted;		/* number of entries already sorted */
};

/* Returns where the page of an address ends. */
static inline uint64_t code_page_end(uint64_t addr)
{
	return ((addr >> CODE_PAGE_BITS) + 1) << CODE_PAGE_BITS;
}

void code_pages_fini(struct code_pages *p);
/* Returns whether there is room for a piece: its address and size are in range, and the
 * limit of pages is not reached. */
bool code_pages_fits(const struct code_pages *p, uint64_t addr, uint64_t size);
/* Adds a piece that fits.  Returns 0 or -ERR_NOMEM. */
int code_pages_add(struct code_pages *p, uint64_t addr, uint64_t size, uint64_t order,
		   uint32_t code);
/* Returns the position after all pieces of the address's page up to that order. */
size_t code_pages_after(struct code_pages *p, uint64_t addr, uint64_t order);
/* Returns the entry at a position, or NULL if it is not of the address's page. */
const struct code_page *code_pages_at(const struct code_pages *p, uint64_t addr,
				      size_t at);

#endif
