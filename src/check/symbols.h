/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CHECK_SYMBOLS_H
#define TALLY_CHECK_SYMBOLS_H
/* The symbols of a profile by address. */
#include "profile/model.h"

struct symbol_index {
	struct prof_symbol *v;
	size_t n;
};

int symbol_index_init(struct symbol_index *x, const struct profile *p);
void symbol_index_fini(struct symbol_index *x);
/* The one that covers an address, or NULL. */
const struct prof_symbol *symbol_index_find(const struct symbol_index *x,
					    uint32_t image, uint64_t vaddr);

#endif
