// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the byte buffer: see buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_fini(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

void buf_close(struct buf *b, struct buf *out)
{
	out->failed |= b->failed;
	buf_fini(b);
}

void buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}

void buf_flush(struct buf *b)
{
	if (b->failed || !b->n)
		return;
	b->failed = (b->most && b->n > b->most - b->sink->taken) ||
		    !b->sink->take(b->sink->ctx, b->p, b->n);
	b->sink->taken += b->n;
	b->n = 0;
}

uint8_t *buf_room(struct buf *b, size_t n)
{
	enum { MANY = 256 << 10 };
	/* many buffers get one text and its NUL (buf_cstr) */
	size_t cap = b->p ? b->cap : n < 64 ? 64 : n + 1, most = b->most;
	uint8_t *p;

	if (b->sink && b->n >= MANY)
		buf_flush(b);
	if (b->failed)
		return NULL;
	if (b->p && n <= b->cap - b->n)
		return b->p + b->n;
	if (b->sink && most)
		most -= b->sink->taken;
	if (n > SIZE_MAX / 4 || b->n > SIZE_MAX / 4 || (b->most && b->n + n > most)) {
		b->failed = true;
		return NULL;
	}
	while (cap < b->n + n)
		cap += cap / 2 + 32;
	if (b->most && cap > most)
		cap = most;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->n;
}

/* Writes the digits of v so that they end at `end`.  Returns their start. */
static char *digits(char *end, uint64_t v)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324"
		"25262728293031323334353637383940414243444546474849"
		"50515253545556575859606162636465666768697071727374"
		"75767778798081828384858687888990919293949596979899";

	while (v >= 100) {
		end -= 2;
		memcpy(end, &pairs[v % 100 * 2], 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, &pairs[v * 2], 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

void buf_decimal(struct buf *b, uint64_t v)
{
	char room[20], *end = room + sizeof(room), *p = digits(end, v);

	buf_bytes(b, p, (size_t)(end - p));
}

void buf_scaled(struct buf *b, uint64_t v, unsigned int point)
{
	char room[40], *end = room + sizeof(room), *p, *dot = end - point;
	uint64_t one = 1;

	for (unsigned int i = 0; i < point; i++)
		one *= 10;
	p = digits(end, v % one);
	while (p > dot)
		*--p = '0';
	*--p = '.';
	p = digits(p, v / one);
	buf_bytes(b, p, (size_t)(end - p));
}

static void put_le(struct buf *b, uint64_t v, size_t bytes)
{
	uint8_t *room = buf_room(b, bytes);

	if (!room)
		return;
	for (size_t i = 0; i < bytes; i++)
		room[i] = (uint8_t)(v >> (8 * i));
	b->n += bytes;
}

void buf_u16(struct buf *b, uint16_t v)
{
	put_le(b, v, 2);
}

void buf_u32(struct buf *b, uint32_t v)
{
	put_le(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
	put_le(b, v, 8);
}

void buf_uleb_slow(struct buf *b, uint64_t v)
{
	uint8_t *room = buf_room(b, 10);
	size_t i = 0;

	if (!room)
		return;
	while (v >= 0x80) {
		room[i++] = (uint8_t)v | 0x80;
		v >>= 7;
	}
	room[i++] = (uint8_t)v;
	b->n += i;
}

void buf_sleb_slow(struct buf *b, int64_t v)
{
	uint8_t *room = buf_room(b, 10);
	size_t i = 0;
	bool more = true;

	if (!room)
		return;
	while (more) {
		uint8_t byte = (uint8_t)v & 0x7f;

		v >>= 7;	/* arithmetic under gcc and clang */
		more = !((v == 0 && !(byte & 0x40)) ||
			 (v == -1 && (byte & 0x40)));
		room[i++] = more ? byte | 0x80 : byte;
	}
	b->n += i;
}

void buf_hex(struct buf *b, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%02x", ((const uint8_t *)p)[i]);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	uint8_t *room;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
		return;
	}
	room = buf_room(b, (size_t)n + 1);
	if (!room)
		return;
	va_start(ap, fmt);
	vsnprintf((char *)room, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->n += (size_t)n;
}

const char *buf_cstr(struct buf *b)
{
	uint8_t *room = buf_room(b, 1);

	if (!room)
		return "";
	*room = 0;
	return (const char *)b->p;
}
