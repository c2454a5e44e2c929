// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts symbols by image and address. */
#include "profile/symbol_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

static int by_address(const void *a, const void *b)
{
	const struct prof_symbol *x = a, *y = b;

	return ascending(x->image, y->image) ?: ascending(x->vaddr, y->vaddr);
}

void symbols_sort(struct prof_symbol *v, size_t n)
{
	sort_rows(v, n, by_address);
}

int symbols_copy(const struct profile *p, struct prof_symbol **out)
{
	size_t n = p->symbols.n;

	*out = malloc((n + 1) * sizeof(**out));
	if (!*out)
		return -ERR_NOMEM;
	if (n)
		memcpy(*out, p->symbols.v, n * sizeof(**out));
	symbols_sort(*out, n);
	return 0;
}

const struct prof_symbol *symbols_find(const struct prof_symbol *v, size_t n,
				       uint32_t image, uint64_t vaddr)
{
	struct prof_symbol want = { .image = image, .vaddr = vaddr };
	size_t at;

	if (!n)
		return NULL;
	last_where(at, n, by_address(&v[at], &want) <= 0);
	v += at;
	return v->image == image && vaddr >= v->vaddr &&
	       vaddr - v->vaddr < v->size ? v : NULL;
}
