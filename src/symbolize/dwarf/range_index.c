// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts and searches address ranges: see range_index.h. */
#include "symbolize/dwarf/range_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };

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

/* Runs one stable counting pass over bits [shift, shift + RADIX_BITS) of lo. */
static void radix_pass(const struct range *in, struct range *out, size_t n,
		       uint64_t base, unsigned shift)
{
	uint32_t count[RADIX] = { 0 };
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		count[(in[i].lo - base) >> shift & (RADIX - 1)]++;
	for (i = 0; i < RADIX; i++) {
		uint32_t c = count[i];

		count[i] = sum;
		sum += c;
	}
	for (i = 0; i < n; i++)
		out[count[(in[i].lo - base) >> shift & (RADIX - 1)]++] = in[i];
}

static int radix_sort(struct range_index *x, uint64_t lo, uint64_t span)
{
	struct range *a = x->v, *b = malloc(x->n * sizeof(*b)), *t;
	unsigned shift;

	if (!b)
		return -ERR_NOMEM;
	for (shift = 0; shift < 64 && span >> shift; shift += RADIX_BITS) {
		radix_pass(a, b, x->n, lo, shift);
		t = a, a = b, b = t;
	}
	if (a != x->v) {	/* the buffers are swapped */
		memcpy(x->v, a, x->n * sizeof(*a));
		b = a;
	}
	free(b);
	return 0;
}

/* Sorts each run of ranges with equal lo, which are now adjacent. */
static void sort_ties(struct range_index *x)
{
	size_t i, j;

	for (i = 0; i < x->n; i = j) {
		for (j = i + 1; j < x->n && x->v[j].lo == x->v[i].lo; j++)
			;
		if (j - i > 1)
			qsort(x->v + i, j - i, sizeof(*x->v), range_compare);
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
	uint64_t lo = UINT64_MAX, hi = 0, max = 0;
	bool sorted = true;
	size_t i;

	for (i = 0; i < x->n; i++) {
		lo = x->v[i].lo < lo ? x->v[i].lo : lo;
		hi = x->v[i].lo > hi ? x->v[i].lo : hi;
		if (i && range_before(&x->v[i], &x->v[i - 1]))
			sorted = false;
	}
	if (!sorted && x->n > 256 && x->n < UINT32_MAX) {
		if (radix_sort(x, lo, hi - lo) < 0)
			return -ERR_NOMEM;
		sort_ties(x);
	} else if (!sorted) {
		qsort(x->v, x->n, sizeof(*x->v), range_compare);
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
