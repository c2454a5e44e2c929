// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists pieces of generated code by page: see code_pages.h. */
#include "symbolize/code_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

void code_pages_fini(struct code_pages *p)
{
	vec_fini(&p->v);
	p->sorted = 0;
}

bool code_pages_fits(const struct code_pages *p, uint64_t addr, uint64_t size)
{
	uint64_t first = addr >> CODE_PAGE_BITS, last = (addr + size - 1) >> CODE_PAGE_BITS;

	return size && addr < CODE_ADDRESS_MAX && size < CODE_ADDRESS_MAX &&
	       last - first < CODE_PAGES_MAX - p->v.n;
}

int code_pages_add(struct code_pages *p, uint64_t addr, uint64_t size, uint64_t order,
		   uint32_t code)
{
	uint64_t first = addr >> CODE_PAGE_BITS, last = (addr + size - 1) >> CODE_PAGE_BITS;

	if (vec_reserve(&p->v, p->v.n + (size_t)(last - first) + 1) < 0)
		return -ERR_NOMEM;
	for (uint64_t page = first; page <= last; page++)
		p->v.v[p->v.n++] = (struct code_page){ page, order, code };
	return 0;
}

/* Compares by page, then order, then number. */
static int by_page(const void *a, const void *b)
{
	const struct code_page *x = a, *y = b;

	return ascending(x->page, y->page) ?:
	       ascending(x->order, y->order) ?:
	       ascending(x->code, y->code);
}

/* Sorts the new entries and merges them with the others from the end. */
static void sort_pages(struct code_pages *p)
{
	size_t old = p->sorted, n = p->v.n - old;
	struct code_page *new = n && old ? malloc(n * sizeof(*new)) : NULL;

	if (new) {
		size_t i = old, k = n, to = p->v.n;

		memcpy(new, p->v.v + old, n * sizeof(*new));
		sort_rows(new, n, by_page);
		while (k) {
			if (i && by_page(&p->v.v[i - 1], &new[k - 1]) > 0)
				p->v.v[--to] = p->v.v[--i];
			else
				p->v.v[--to] = new[--k];
		}
	} else if (n) {
		vec_sort(&p->v, by_page);
	}
	free(new);
	p->sorted = p->v.n;
}

size_t code_pages_after(struct code_pages *p, uint64_t addr, uint64_t order)
{
	struct code_page key = { addr >> CODE_PAGE_BITS, order, UINT32_MAX };
	size_t at;

	sort_pages(p);
	lower_bound(at, 0, p->v.n, by_page(&p->v.v[at], &key) < 0);
	return at;
}

const struct code_page *code_pages_at(const struct code_pages *p, uint64_t addr,
				      size_t at)
{
	return at < p->v.n && p->v.v[at].page == addr >> CODE_PAGE_BITS ? &p->v.v[at] : NULL;
}
