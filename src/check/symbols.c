// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols by address: see symbols.h. */
#include "check/symbols.h"

#include <stdlib.h>

#include "base/error.h"
#include "profile/symbol_order.h"

int symbol_index_init(struct symbol_index *x, const struct profile *p)
{
	x->n = p->symbols.n;
	return symbols_copy(p, &x->v);
}

void symbol_index_fini(struct symbol_index *x)
{
	free(x->v);
	*x = (struct symbol_index){ NULL, 0 };
}

const struct prof_symbol *symbol_index_find(const struct symbol_index *x,
					    uint32_t image, uint64_t vaddr)
{
	return symbols_find(x->v, x->n, image, vaddr);
}
