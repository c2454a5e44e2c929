/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_RADIX_H
#define TALLY_BASE_RADIX_H
/*
 * Sorts rows by a number that each of them contains.  The time is proportional to
 * the number of rows, so this pays from some hundred rows on.  Rows with equal
 * numbers keep their order: to sort by several numbers, sort by the least
 * important one first.
 *
 *	uint32_t count[1 << RADIX_BITS];
 *	struct radix r = { v, spare, n, sizeof(*v), RADIX_BITS, count };
 *
 *	radix_sort(&r, offsetof(struct row, id), sizeof(v->id));
 *
 * The function is inline so that copies of a constant size are fast.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { RADIX_BITS = 11 };	/* counts that fit into the first cache */

struct radix {
	void *rows, *spare;	/* spare has room for all rows */
	size_t n, size;		/* fewer than 2^32 rows of `size` bytes */
	unsigned int bits;	/* of each pass */
	uint32_t *count;	/* room for 1 << bits */
};

/* Returns the unsigned number of 4 or 8 bytes at p. */
static inline uint64_t radix_key(const char *p, size_t width)
{
	uint32_t v32;
	uint64_t v64;

	if (width == 4) {
		memcpy(&v32, p, 4);
		return v32;
	}
	memcpy(&v64, p, 8);
	return v64;
}

/* Copies rows to `out` in the order of the bits of their keys from `shift` on. */
static inline void radix_pass(const struct radix *r, const char *in, char *out,
			      size_t at, size_t width, unsigned int shift)
{
	const uint64_t mask = ((uint64_t)1 << r->bits) - 1;
	uint32_t sum = 0;

	memset(r->count, 0, sizeof(*r->count) << r->bits);
	for (size_t i = 0; i < r->n; i++)
		r->count[radix_key(in + i * r->size + at, width) >> shift &
			 mask]++;
	for (uint64_t i = 0; i <= mask; i++) {
		uint32_t n = r->count[i];

		r->count[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < r->n; i++) {
		uint64_t key = radix_key(in + i * r->size + at, width);

		memcpy(out + r->count[key >> shift & mask]++ * r->size,
		       in + i * r->size, r->size);
	}
}

/* Sorts by the number of `width` (4 or 8) bytes at offset `at` of each row.
 * Digits that are the same in all rows take no pass. */
static inline void radix_sort(const struct radix *r, size_t at, size_t width)
{
	char *in = r->rows, *out = r->spare;
	uint64_t differ = 0, first = r->n ? radix_key(in + at, width) : 0;

	for (size_t i = 1; i < r->n; i++)
		differ |= radix_key(in + i * r->size + at, width) ^ first;
	for (unsigned int shift = 0; shift < 64 && differ >> shift;
	     shift += r->bits) {
		char *sorted = out;

		if (!(differ >> shift & (((uint64_t)1 << r->bits) - 1)))
			continue;
		radix_pass(r, in, out, at, width, shift);
		out = in;
		in = sorted;
	}
	if (in != r->rows)
		memcpy(r->rows, in, r->n * r->size);
}

/* Sorts fewer than 2^32 rows of `size` bytes by the uint64_t at offset `at`.  Returns 0 or
 * -ERR_NOMEM. */
static inline int radix_sort_rows(void *rows, size_t n, size_t size, size_t at)
{
	uint32_t count[1 << RADIX_BITS];
	struct radix r = { rows, malloc((n + 1) * size), n, size, RADIX_BITS, count };

	if (!r.spare)
		return -ERR_NOMEM;
	radix_sort(&r, at, sizeof(uint64_t));
	free(r.spare);
	return 0;
}

#endif
