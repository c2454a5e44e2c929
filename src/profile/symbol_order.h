/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_PROFILE_SYMBOL_ORDER_H
#define TALLY_PROFILE_SYMBOL_ORDER_H
/* Symbols of a profile, or some of them, by image and address. */
#include "profile/model.h"

/* All of a profile's, sorted; the caller frees them.  0 or -ERR_NOMEM. */
int symbols_copy(const struct profile *p, struct prof_symbol **out);
void symbols_sort(struct prof_symbol *v, size_t n);
/* The one of sorted symbols that covers an address, or NULL. */
const struct prof_symbol *symbols_find(const struct prof_symbol *v, size_t n,
				       uint32_t image, uint64_t vaddr);

#endif
