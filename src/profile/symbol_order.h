/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOL_ORDER_H
#define TALLY_PROFILE_SYMBOL_ORDER_H
/* Sorts symbols of a profile, or some of them, by image and address. */
#include "profile/model.h"

/* Copies all symbols of a profile, sorted.  The caller frees them.  Returns 0
 * or -ERR_NOMEM. */
int symbols_copy(const struct profile *p, struct prof_symbol **out);
void symbols_sort(struct prof_symbol *v, size_t n);
/* Returns the symbol in a sorted array that covers an address, or NULL. */
const struct prof_symbol *symbols_find(const struct prof_symbol *v, size_t n,
				       uint32_t image, uint64_t vaddr);

#endif
