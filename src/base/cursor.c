// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the bounded reader: see cursor.h. */
#include "base/cursor.h"

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
