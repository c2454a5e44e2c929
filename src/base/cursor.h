/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CURSOR_H
#define TALLY_BASE_CURSOR_H
/*
 * A bounded reader for untrusted bytes.  A read past the end returns 0 and sets
 * `bad`; from then on the cursor stays at its end.  Test `bad` once after a
 * group of reads, and do not use a value before that.  Does not own the bytes.
 *
 * Integers are little-endian; uleb and sleb as in DWARF 5 §7.6 (more than 64
 * significant bits are bad).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *start, *p, *end;
	bool bad;
};

static inline struct cursor cursor_of(const void *p, size_t n)
{
	/* "" instead of NULL, because arithmetic on NULL is undefined (C11
	 * 6.5.6) */
	const uint8_t *b = p ? p : (const uint8_t *)"";

	return (struct cursor){ b, b, p ? b + n : b, false };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->p - c->start);
}

static inline void cursor_fail(struct cursor *c)
{
	c->bad = true;
	c->p = c->end;
}

/* Returns the next n bytes in place, or NULL. */
static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > cursor_left(c)) {
		cursor_fail(c);
		return NULL;
	}
	c->p += n;
	return p;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	(void)cursor_take(c, n);
}

/* Returns a cursor over the next n bytes (empty and bad if there are fewer). */
static inline struct cursor cursor_sub(struct cursor *c, uint64_t n)
{
	const uint8_t *p = cursor_take(c, n);
	struct cursor s = cursor_of(p ? p : c->end, p ? (size_t)n : 0);

	s.bad = !p;
	return s;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->p >= c->end) {
		cursor_fail(c);
		return 0;
	}
	return *c->p++;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 2);

	return p ? (uint16_t)(p[0] | p[1] << 8) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 4);

	return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			   (uint32_t)p[3] << 24
		 : 0;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	uint64_t lo, hi;

	if (cursor_left(c) < 8) {
		cursor_fail(c);
		return 0;
	}
	lo = cursor_u32(c);
	hi = cursor_u32(c);
	return lo | hi << 32;
}

/* Reads an address or offset of 4 or 8 bytes. */
static inline uint64_t cursor_sized(struct cursor *c, unsigned size)
{
	return size == 8 ? cursor_u64(c) : cursor_u32(c);
}

uint64_t cursor_uleb_slow(struct cursor *c);
int64_t cursor_sleb_slow(struct cursor *c);

/* Most values in files take one or two bytes. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	const uint8_t *p = c->p;

	if (p < c->end && p[0] < 0x80) {
		c->p++;
		return p[0];
	}
	if (cursor_left(c) > 1 && p[1] < 0x80) {
		c->p += 2;
		return (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
	}
	return cursor_uleb_slow(c);
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	const uint8_t *p = c->p;

	if (p < c->end && p[0] < 0x80) {
		c->p++;
		return (p[0] ^ 0x40) - 0x40;
	}
	if (cursor_left(c) > 1 && p[1] < 0x80) {
		c->p += 2;
		return (((p[0] & 0x7f) | p[1] << 7) ^ 0x2000) - 0x2000;
	}
	return cursor_sleb_slow(c);
}

/* Read n numbers one after another, faster than one by one: whether there are many of one
 * byte or their lengths vary. */
void cursor_ulebs(struct cursor *c, uint64_t *v, size_t n);
void cursor_slebs(struct cursor *c, int64_t *v, size_t n);

/* Reads a uleb that must fit in 32 bits. */
static inline uint32_t cursor_uleb32(struct cursor *c)
{
	uint64_t v = cursor_uleb(c);

	if (v > UINT32_MAX) {
		cursor_fail(c);
		return 0;
	}
	return (uint32_t)v;
}

/* Returns a NUL-terminated string in place, or NULL if there is no NUL. */
const char *cursor_cstr(struct cursor *c);

#endif
