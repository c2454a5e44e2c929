// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols by address: see symbols.h. */
#include "check/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/symbol_order.h"

int symbol_index_init(struct symbol_index *x, const struct profile *p)
{
	*x = (struct symbol_index){ malloc((p->symbols.n + 1) *
					   sizeof(*x->v)), p->symbols.n };
	if (!x->v)
		return -ERR_NOMEM;
	if (x->n)
		memcpy(x->v, p->symbols.v, x->n * sizeof(*x->v));
	symbols_sort(x->v, x->n);
	return 0;
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
