// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts and searches address ranges: see range_index.h. */
#include "symbolize/dwarf/range_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/radix.h"
#include "base/search.h"

int range_index_add(struct range_index *x, uint64_t lo, uint64_t hi,
		    uint64_t id)
{
	struct range r = { lo, hi, 0, id };

	return vec_push(x, r) < 0 ? -ERR_NOMEM : 0;
}

void range_index_fini(struct range_index *x)
{
	vec_fini(x);
	free(x->block);
	x->block = NULL;
	x->nblocks = 0;
}

static bool range_before(const struct range *a, const struct range *b)
{
	if (a->lo != b->lo)
		return a->lo < b->lo;
	if (a->hi != b->hi)
		return a->hi > b->hi;
	return a->id < b->id;
}

static int range_compare(const void *a, const void *b)
{
	return range_before(a, b) ? -1 : range_before(b, a);
}

/* Sorts each run of ranges with equal lo, which are now adjacent. */
static void sort_ties(struct range_index *x)
{
	size_t i, j;

	for (i = 0; i < x->n; i = j) {
		for (j = i + 1; j < x->n && x->v[j].lo == x->v[i].lo; j++)
			;
		sort_rows(x->v + i, j - i, range_compare);
	}
}

static int make_blocks(struct range_index *x)
{
	size_t i, n = x->n / RANGE_BLOCK + 1;
	uint64_t *b = realloc(x->block, n * sizeof(*b));

	if (!b)
		return -ERR_NOMEM;
	x->block = b;
	x->nblocks = n;
	memset(b, 0, n * sizeof(*b));
	for (i = 0; i < x->n; i++)
		if (x->v[i].hi > b[i / RANGE_BLOCK])
			b[i / RANGE_BLOCK] = x->v[i].hi;
	return 0;
}

/* Skips blocks in which no range extends to addr. */
ptrdiff_t range_index_far(const struct range_index *x, ptrdiff_t i,
			  uint64_t addr)
{
	while (i >= 0 && x->v[i].max_hi > addr) {
		size_t b = (size_t)i / RANGE_BLOCK;

		if (b < x->nblocks && x->block[b] <= addr) {
			i -= i % RANGE_BLOCK + 1;
			continue;
		}
		if (x->v[i].hi > addr)
			return i;
		i--;
	}
	return RANGE_NONE;
}

int range_index_sort(struct range_index *x)
{
	uint64_t max = 0;
	bool sorted = true;
	size_t i;

	for (i = 1; sorted && i < x->n; i++)
		sorted = !range_before(&x->v[i], &x->v[i - 1]);
	if (!sorted && x->n > 256 && x->n < UINT32_MAX) {
		if (radix_sort_rows(x->v, x->n, sizeof(*x->v),
				    offsetof(struct range, lo)) < 0)
			return -ERR_NOMEM;
		sort_ties(x);
	} else if (!sorted) {
		vec_sort(x, range_compare);
	}
	for (i = 0; i < x->n; i++) {
		max = x->v[i].hi > max ? x->v[i].hi : max;
		x->v[i].max_hi = max;
	}
	return make_blocks(x);
}

ptrdiff_t range_index_last(const struct range_index *x, uint64_t addr)
{
	size_t at;

	if (!x->n || x->v[0].lo > addr)
		return RANGE_NONE;
	last_where(at, x->n, x->v[at].lo <= addr);
	return (ptrdiff_t)at;
}
