// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/range.h"

#include <string.h>

enum {
	HALF = 1 << 15,
	LEAST = 1 << 24,	/* range below which a byte goes */
	LONG = 7,		/* bits of a number that has a long length */
};

/* 2^17 / (2 seen + 3): by how much of the way a bit moves its chance. */
static const uint16_t rates[] = {
	43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
	6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971,
	3744,  3542,  3360,  3196,  3048,
};
enum { RATES = sizeof(rates) / sizeof(rates[0]) };

void range_write(struct range *r, struct buf *out)
{
	*r = (struct range){ .out = out, .from = out->n,
			     .range = UINT32_MAX };
}

static uint32_t next_byte(struct range *r)
{
	if (r->p < r->end)
		return *r->p++;
	r->missing++;
	return 0;
}

void range_read(struct range *r, const void *p, size_t n)
{
	*r = (struct range){ .p = p, .end = (const uint8_t *)p + n,
			     .range = UINT32_MAX };
	for (int i = 0; i < 4; i++)
		r->code = r->code << 8 | next_byte(r);
}

/* The highest byte of low is settled, but for a carry into those before. */
static void put_byte(struct range *r)
{
	struct buf *b = r->out;

	if (r->low >> 32)
		for (size_t i = b->n; i-- > r->from && !++b->p[i];)
			;
	buf_u8(b, (uint8_t)(r->low >> 24));
	r->low = (r->low & (LEAST - 1)) << 8;
}

bool range_end(struct range *r)
{
	size_t least;

	if (!r->out)
		return r->p == r->end && r->missing <= 4;
	/* a number within the range that ends in zeros, which are not told */
	r->low = (r->low + LEAST - 1) & ~(uint64_t)(LEAST - 1);
	least = r->out->n;
	for (int i = 0; i < 4; i++)
		put_byte(r);
	while (!r->out->failed && r->out->n > least &&
	       !r->out->p[r->out->n - 1])
		r->out->n--;
	return !r->out->failed;
}

/* Where a reader is, in registers. */
struct place {
	uint32_t range, code;
};

static inline void fill(struct range *r, struct place *at)
{
	while (at->range < LEAST) {
		at->range <<= 8;
		at->code = at->code << 8 | next_byte(r);
	}
}

/* Without branches, here and below: what is left of a bit cannot be foreseen.
 * All bits of `zero` are set when the bit is 0. */
static inline void learn(struct range_bit *b, uint32_t one, uint32_t zero)
{
	uint32_t way = (~zero & UINT16_MAX) ^ one;
	uint32_t step = (way * rates[b->seen]) >> 16;

	one += (step ^ zero) - zero;
	b->one = (uint16_t)(one ^ HALF);
	b->seen += b->seen < RATES - 1;
}

/* The lower part of the range is bit 1. */
static inline unsigned int get_bit(struct range *r, struct place *at,
				   struct range_bit *b)
{
	uint32_t one = b->one ^ HALF, part = (at->range >> 16) * one;
	uint32_t zero = -(uint32_t)(at->code >= part);

	at->range = part + ((at->range - 2 * part) & zero);
	at->code -= part & zero;
	learn(b, one, zero);
	fill(r, at);
	return zero + 1;
}

static void put_bit(struct range *r, struct range_bit *b, unsigned int v)
{
	uint32_t one = b->one ^ HALF, part = (r->range >> 16) * one;

	uint32_t zero = (uint32_t)v - 1;

	r->range = part + ((r->range - 2 * part) & zero);
	r->low += part & zero;
	learn(b, one, zero);
	while (r->range < LEAST) {
		r->range <<= 8;
		put_byte(r);
	}
}

unsigned int range_bit(struct range *r, struct range_bit *b, unsigned int v)
{
	struct place at = { r->range, r->code };

	if (r->out) {
		put_bit(r, b, v);
		return v;
	}
	v = get_bit(r, &at, b);
	r->range = at.range;
	r->code = at.code;
	return v;
}

/* So many bits as they are. */
static inline uint64_t get_plain(struct range *r, struct place *at,
				 unsigned int bits)
{
	uint64_t got = 0;

	while (bits) {
		unsigned int n = bits < 16 ? bits : 16;
		uint32_t part;

		at->range >>= n;
		part = at->code / at->range;
		/* beyond: only in bytes that nobody wrote */
		if (part >> n)
			part = (1u << n) - 1;
		at->code -= part * at->range;
		fill(r, at);
		got = got << n | part;
		bits -= n;
	}
	return got;
}

static void put_plain(struct range *r, unsigned int bits, uint64_t v)
{
	while (bits) {
		unsigned int n = bits < 16 ? bits : 16;

		bits -= n;
		r->range >>= n;
		r->low += (v >> bits & ((1u << n) - 1)) * r->range;
		while (r->range < LEAST) {
			r->range <<= 8;
			put_byte(r);
		}
	}
}

/* A number of so many bits, the highest first, each by those before. */
static inline unsigned int get_tree(struct range *r, struct place *at,
				    struct range_bit *b, unsigned int bits)
{
	unsigned int v = 1;

	for (unsigned int i = bits; i-- > 0;)
		v = v << 1 | get_bit(r, at, &b[v]);
	return v - (1u << bits);
}

static void put_tree(struct range *r, struct range_bit *b, unsigned int bits,
		     unsigned int v)
{
	unsigned int at = 1;

	for (unsigned int i = bits; i-- > 0;) {
		put_bit(r, &b[at], v >> i & 1);
		at = at << 1 | (v >> i & 1);
	}
}

static uint64_t get_number(struct range *r, struct range_number *m)
{
	struct place at = { r->range, r->code };
	unsigned int n = get_tree(r, &at, m->length, 3);
	uint64_t v = n;

	if (n == LONG)
		n += get_tree(r, &at, m->more, 6);
	if (n > 1 && n <= 64) {
		v = 2 | get_bit(r, &at, &m->second[n]);
		if (n > 2)
			v = v << (n - 2) | get_plain(r, &at, n - 2);
	}
	r->range = at.range;
	r->code = at.code;
	return v;
}

static void put_number(struct range *r, struct range_number *m, uint64_t v)
{
	unsigned int n = v ? 64 - (unsigned int)__builtin_clzll(v) : 0;

	put_tree(r, m->length, 3, n < LONG ? n : LONG);
	if (n >= LONG)
		put_tree(r, m->more, 6, n - LONG);
	if (n < 2)
		return;
	put_bit(r, &m->second[n], v >> (n - 2) & 1);
	put_plain(r, n - 2, v);
}

uint64_t range_number(struct range *r, struct range_number *m, uint64_t v)
{
	if (!r->out)
		return get_number(r, m);
	put_number(r, m, v);
	return v;
}
