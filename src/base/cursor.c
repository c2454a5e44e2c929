// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the bounded reader: see cursor.h. */
#include "base/cursor.h"

#include <endian.h>

uint64_t cursor_uleb_slow(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	for (;;) {
		uint8_t b = cursor_u8(c);

		if (c->bad)
			return 0;
		if (shift >= 64 ? (b & 0x7f) != 0
				: shift == 63 && (b & 0x7f) > 1) {
			cursor_fail(c);
			return 0;
		}
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
		shift += 7;
		if (shift > 140) {	/* unreasonable padding */
			cursor_fail(c);
			return 0;
		}
	}
}

int64_t cursor_sleb_slow(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t b, sign = 0;

	do {
		b = cursor_u8(c);
		/* from bit 63 on, all seven bits must equal the sign */
		if (shift == 63)
			sign = b & 1 ? 0x7f : 0;
		if (c->bad || shift > 140 ||
		    (shift >= 63 && (b & 0x7f) != sign)) {
			cursor_fail(c);
			return 0;
		}
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (shift < 64 && (b & 0x40))
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

enum { AT_ONCE = 8 };	/* bytes in a register */
#define TOP_BITS 0x8080808080808080ull

/* Returns the next 8 bytes, which exist. */
static inline uint64_t next_bytes(const struct cursor *c)
{
	uint64_t w;

	memcpy(&w, c->p, sizeof(w));
	return le64toh(w);
}

/* Returns the seven low bits of each byte of w, put together. */
static inline uint64_t join_sevens(uint64_t w)
{
	w = (w & 0x007f007f007f007full) | (w & 0x7f007f007f007f00ull) >> 1;
	w = (w & 0x00003fff00003fffull) | (w & 0x3fff00003fff0000ull) >> 2;
	return (w & 0x000000000fffffffull) | (w & 0x0fffffff00000000ull) >> 4;
}

/* Reads a number of at most 8 bytes, and sets *bits to its width.  There is no branch on
 * its length, which the processor could not predict.  Returns false for longer numbers and
 * near the end. */
static inline bool take_number(struct cursor *c, uint64_t *v, unsigned int *bits)
{
	uint64_t w, ends;
	unsigned int length;

	if (cursor_left(c) < AT_ONCE)
		return false;
	w = next_bytes(c);
	ends = ~w & TOP_BITS;
	if (!ends)
		return false;
	length = (unsigned int)__builtin_ctzll(ends) / 8 + 1;
	*v = join_sevens(w & (ends ^ (ends - 1)));
	*bits = 7 * length;
	c->p += length;
	return true;
}

void cursor_ulebs(struct cursor *c, uint64_t *v, size_t n)
{
	size_t i = 0;

	while (n - i >= AT_ONCE && cursor_left(c) >= AT_ONCE) {
		uint64_t w = next_bytes(c);
		unsigned int bits;

		if (!(w & TOP_BITS)) {
			for (int k = 0; k < AT_ONCE; k++)
				v[i + (size_t)k] = w >> 8 * k & 0xff;
			c->p += AT_ONCE;
		} else {
			for (int k = 0; k < AT_ONCE; k++)
				if (!take_number(c, &v[i + (size_t)k], &bits))
					v[i + (size_t)k] = cursor_uleb_slow(c);
		}
		i += AT_ONCE;
	}
	for (; i < n; i++)
		v[i] = cursor_uleb(c);
}

static inline int64_t extend(uint64_t v, unsigned int bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

void cursor_slebs(struct cursor *c, int64_t *v, size_t n)
{
	size_t i = 0;

	while (n - i >= AT_ONCE && cursor_left(c) >= AT_ONCE) {
		uint64_t w = next_bytes(c), x;
		unsigned int bits;

		if (!(w & TOP_BITS)) {
			for (int k = 0; k < AT_ONCE; k++)
				v[i + (size_t)k] = extend(w >> 8 * k & 0x7f, 7);
			c->p += AT_ONCE;
		} else {
			for (int k = 0; k < AT_ONCE; k++)
				v[i + (size_t)k] = take_number(c, &x, &bits)
					? extend(x, bits) : cursor_sleb_slow(c);
		}
		i += AT_ONCE;
	}
	for (; i < n; i++)
		v[i] = cursor_sleb(c);
}

const char *cursor_cstr(struct cursor *c)
{
	const uint8_t *s = c->p;
	const uint8_t *nul = memchr(s, 0, cursor_left(c));

	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	c->p = nul + 1;
	return (const char *)s;
}
