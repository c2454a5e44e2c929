/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_BUF_H
#define TALLY_BASE_BUF_H
/*
 * A growable byte buffer with a sticky failure flag: append freely, test
 * `failed` once at the end.  After a failed append the buffer contains
 * everything appended before it.  All-zero is the empty buffer.
 *
 * Integers are little-endian; uleb and sleb are DWARF's LEB128 (DWARF 5 §7.6).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	uint8_t *p;
	size_t n, cap;
	size_t most;		/* an append that makes n, with what the sink took, larger
				 * fails; 0: no limit */
	struct buf_sink *sink;	/* NULL: all bytes stay */
	bool failed;
};

/* Takes the bytes of a buffer whenever there are many, so that it stays small. */
struct buf_sink {
	bool (*take)(void *ctx, const uint8_t *p, size_t n);	/* false: the append fails */
	void *ctx;
	size_t taken;		/* number of bytes */
};

void buf_fini(struct buf *b);
/* Frees a buffer that was a step on the way to `out`, which fails if it did. */
void buf_close(struct buf *b, struct buf *out);
/* Passes all bytes to the sink, which the buffer must have. */
void buf_flush(struct buf *b);
/* Empties the buffer, keeps its memory and clears `failed`. */
void buf_reset(struct buf *b);
/* Empties the buffer but keeps `failed`, for a buffer that is filled many times
 * before `failed` is tested. */
static inline void buf_again(struct buf *b)
{
	b->n = 0;
}
/* Reserves n more bytes and returns their address (the caller then adds to
 * b->n), or returns NULL and sets failed. */
uint8_t *buf_room(struct buf *b, size_t n);

/* The most frequent appends are inline as long as there is room. */
static inline void buf_bytes(struct buf *b, const void *p, size_t n)
{
	uint8_t *room = !b->failed && n < b->cap - b->n ? b->p + b->n
							 : buf_room(b, n);

	if (room && n) {
		memcpy(room, p, n);
		b->n += n;
	}
}

static inline void buf_str(struct buf *b, const char *s) /* without the NUL */
{
	buf_bytes(b, s, strlen(s));
}

static inline void buf_u8(struct buf *b, uint8_t v)
{
	uint8_t *room = !b->failed && b->n < b->cap ? b->p + b->n
						    : buf_room(b, 1);

	if (room) {
		*room = v;
		b->n++;
	}
}

void buf_uleb_slow(struct buf *b, uint64_t v);
void buf_sleb_slow(struct buf *b, int64_t v);

/* Most numbers in files take one byte. */
static inline void buf_uleb(struct buf *b, uint64_t v)
{
	if (v < 0x80)
		buf_u8(b, (uint8_t)v);
	else
		buf_uleb_slow(b, v);
}

static inline void buf_sleb(struct buf *b, int64_t v)
{
	if (v >= -0x40 && v < 0x40)
		buf_u8(b, (uint8_t)v & 0x7f);
	else
		buf_sleb_slow(b, v);
}

/* Appends a number in decimal digits, or v / 10^point with `point` digits (1 to
 * 18) after the decimal point. */
void buf_decimal(struct buf *b, uint64_t v);
void buf_scaled(struct buf *b, uint64_t v, unsigned int point);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends n bytes in lowercase hexadecimal digits. */
void buf_hex(struct buf *b, const void *p, size_t n);
/* Appends a NUL that is not counted, and returns the text ("" if out of
 * memory); valid until the next append. */
const char *buf_cstr(struct buf *b);

#endif
