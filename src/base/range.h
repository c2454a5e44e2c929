/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_RANGE_H
#define TALLY_BASE_RANGE_H
/*
 * A range coder of adaptive bits: small numbers that are skewed, each in its own
 * way, in about as few bits as they carry (G. N. N. Martin, "Range encoding: an
 * algorithm for removing redundancy from a digitised message", 1979).
 * doc/tally-format.5, "Coded bits", says it to the bit.
 *
 * One function serves both ways, so that a writer and a reader cannot differ:
 * writing, it takes the value and returns it; reading, the value given is not
 * looked at.  What is read is hostile: range_end says whether it was whole.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What is known of a bit: all zero is nothing. */
struct range_bit {
	uint16_t one;		/* chance of 1 in 65536, less one half */
	uint16_t seen;
};

/* A number of up to 64 bits: how long it is, and the second of its bits, by what
 * was seen; the lower ones as they are. */
struct range_number {
	struct range_bit length[8];	/* 0 to 6 bits, or more: */
	struct range_bit more[64];
	struct range_bit second[65];
};

struct range {
	struct buf *out;	/* NULL: reading */
	size_t from;		/* in out: what was there before */
	const uint8_t *p, *end;
	unsigned int missing;	/* bytes read beyond the end */
	uint32_t range, code;
	uint64_t low;
};

void range_write(struct range *r, struct buf *out);
void range_read(struct range *r, const void *p, size_t n);
/* Writes what is left; false when what was read was too short or too long. */
bool range_end(struct range *r);

unsigned int range_bit(struct range *r, struct range_bit *b, unsigned int v);
uint64_t range_number(struct range *r, struct range_number *m, uint64_t v);

static inline uint64_t range_zigzag(uint64_t v)
{
	return v << 1 ^ -(v >> 63);
}

static inline uint64_t range_unzigzag(uint64_t z)
{
	return z >> 1 ^ -(z & 1);
}

#endif
