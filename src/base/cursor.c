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

/* Returns the next 8 bytes. */
static inline uint64_t load(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return le64toh(w);
}

/* Returns the seven low bits of each byte of w, put together. */
static inline uint64_t join_sevens(uint64_t w)
{
	w = (w & 0x007f007f007f007full) | (w & 0x7f007f007f007f00ull) >> 1;
	w = (w & 0x00003fff00003fffull) | (w & 0x3fff00003fff0000ull) >> 2;
	return (w & 0x000000000fffffffull) | (w & 0x0fffffff00000000ull) >> 4;
}

static inline uint64_t extend(uint64_t v, unsigned int bits)
{
	return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
}

static inline uint64_t one_number(struct cursor *c, bool sign)
{
	return sign ? (uint64_t)cursor_sleb(c) : cursor_uleb(c);
}

/* Reads n numbers at p.  All that end in the next 8 bytes are found at once, and there is
 * no branch on the length of one, which the processor could not predict.  Returns the
 * address after them. */
static inline const uint8_t *some_numbers(struct cursor *c, const uint8_t *p,
					  uint64_t *v, size_t n, bool sign)
{
	for (size_t i = 0; i < n;) {
		bool near = c->end - p < AT_ONCE;
		uint64_t w = near ? 0 : load(p), ends = near ? 0 : ~w & TOP_BITS;
		unsigned int begin = 0;

		if (!ends) {
			c->p = p;
			v[i++] = one_number(c, sign);
			p = c->p;
			continue;
		}
		for (; ends && i < n; ends &= ends - 1) {
			unsigned int end = (unsigned int)__builtin_ctzll(ends) + 1;
			uint64_t x = join_sevens((w & (ends ^ (ends - 1))) >> begin);

			v[i++] = sign ? extend(x, (end - begin) / 8 * 7) : x;
			begin = end;
		}
		p += begin / 8;
	}
	return p;
}

static inline void numbers(struct cursor *c, uint64_t *v, size_t n, bool sign)
{
	const uint8_t *p = c->p;

	for (size_t i = 0, some; i < n; i += some) {
		some = n - i < AT_ONCE ? n - i : AT_ONCE;
		if (some < AT_ONCE || c->end - p < AT_ONCE ||
		    load(p) & TOP_BITS) {
			p = some_numbers(c, p, v + i, some, sign);
			continue;
		}
		for (size_t k = 0; k < AT_ONCE; k++)
			v[i + k] = sign ? extend(p[k], 7) : p[k];
		p += AT_ONCE;
	}
	c->p = p;
}

void cursor_ulebs(struct cursor *c, uint64_t *v, size_t n)
{
	numbers(c, v, n, false);
}

void cursor_slebs(struct cursor *c, int64_t *v, size_t n)
{
	numbers(c, (uint64_t *)v, n, true);
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
