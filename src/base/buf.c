// SPDX-License-Identifier: GPL-2.0-or-later
/* Byte buffer: see buf.h. */
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

void buf_reset(struct buf *b)
{
	b->n = 0;
	b->failed = false;
}

uint8_t *buf_room(struct buf *b, size_t n)
{
	size_t cap = b->p ? b->cap : 64;
	uint8_t *p;

	if (b->failed)
		return NULL;
	if (b->p && n <= b->cap - b->n)
		return b->p + b->n;
	if (n > SIZE_MAX / 4 || b->n > SIZE_MAX / 4) {
		b->failed = true;
		return NULL;
	}
	while (cap < b->n + n)
		cap += cap / 2 + 32;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = true;
		return NULL;
	}
	b->p = p;
	b->cap = cap;
	return b->p + b->n;
}

void buf_bytes(struct buf *b, const void *p, size_t n)
{
	uint8_t *room = buf_room(b, n);

	if (room && n) {
		memcpy(room, p, n);
		b->n += n;
	}
}

void buf_str(struct buf *b, const char *s)
{
	buf_bytes(b, s, strlen(s));
}

void buf_u8(struct buf *b, uint8_t v)
{
	uint8_t *room = buf_room(b, 1);

	if (room) {
		*room = v;
		b->n++;
	}
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

void buf_uleb(struct buf *b, uint64_t v)
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

void buf_sleb(struct buf *b, int64_t v)
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
