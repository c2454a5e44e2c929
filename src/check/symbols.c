// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols by address: see symbols.h. */
#include "check/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int by_address(const void *a, const void *b)
{
	const struct prof_symbol *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

int symbol_index_init(struct symbol_index *x, const struct profile *p)
{
	*x = (struct symbol_index){ malloc((p->symbols.n + 1) *
					   sizeof(*x->v)), p->symbols.n };
	if (!x->v)
		return -ERR_NOMEM;
	if (x->n) {
		memcpy(x->v, p->symbols.v, x->n * sizeof(*x->v));
		qsort(x->v, x->n, sizeof(*x->v), by_address);
	}
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
	struct prof_symbol want = { .image = image, .vaddr = vaddr };
	size_t lo = 0, n = x->n;

	while (n > 1) {
		size_t half = n / 2;

		if (by_address(&x->v[lo + half], &want) <= 0)
			lo += half;
		n -= half;
	}
	if (!x->n || x->v[lo].image != image || vaddr < x->v[lo].vaddr ||
	    vaddr - x->v[lo].vaddr >= x->v[lo].size)
		return NULL;
	return &x->v[lo];
}
