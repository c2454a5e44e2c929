/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_RING_READ_H
#define TALLY_RECORD_SOURCE_RING_READ_H
/*
 * Records from memory that others write: the kernel module's rings and those of
 * programs with timers inside.  Any of it may be anything, and change while it is
 * read.
 */
#include "record/source/order.h"

enum { RING_HEADER_MAX = 64 };

/* How records begin. */
struct ring_format {
	size_t header;		/* bytes of it, RING_HEADER_MAX at most */
	size_t most;		/* bytes of a record */
	uint32_t (*size)(const void *header);	/* with it; divisible by 8 */
	uint64_t (*time)(const void *header);
};

/* Copies n bytes at a position that counts for ever, around the end of the data
 * if need be; `size` is a power of two. */
void ring_copy_out(void *to, const uint8_t *data, uint64_t size, uint64_t pos,
		   size_t n);
/* Moves whole records from [tail, head) to a stream; returns the new tail, which
 * is not head when out of memory.  Times after `now` become now.  With what is
 * no record all up to head is damaged. */
uint64_t ring_read(const struct ring_format *f, const uint8_t *data,
		   uint64_t size, uint64_t tail, uint64_t head,
		   struct order *o, size_t stream, uint64_t now,
		   uint64_t *damaged);

#endif
