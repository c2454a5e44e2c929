/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_RING_READ_H
#define TALLY_RECORD_SOURCE_RING_READ_H
/*
 * Records from memory that others write: the kernel module's rings, and those of
 * programs with timers inside.  The contents are untrusted and may change while they
 * are read.
 */
#include "record/source/order.h"

enum { RING_HEADER_MAX = 64 };

/* Describes how records begin. */
struct ring_format {
	size_t header;		/* bytes of the header, RING_HEADER_MAX at most */
	size_t most;		/* maximum bytes of a record */
	uint32_t (*size)(const void *header);	/* record size with its header;
						 * divisible by 8 */
	uint64_t (*time)(const void *header);
};

/* Copies n bytes at a free-running position, and wraps around the end of the data if
 * necessary.  `size` is a power of two. */
void ring_copy_out(void *to, const uint8_t *data, uint64_t size, uint64_t pos,
		   size_t n);
/* Reads the header of the record at `tail` into `header` (f->header bytes).  Returns the
 * record's size, or 0 if it is invalid. */
uint32_t ring_header(const struct ring_format *f, const uint8_t *data,
		     uint64_t size, uint64_t tail, uint64_t head, void *header);
/* Copies a record of n bytes at `tail`, with the header as it was first read. */
void ring_fetch(const struct ring_format *f, const uint8_t *data, uint64_t size,
		uint64_t tail, const void *header, size_t n, void *to);
/* Moves whole records from [tail, head) to a stream.  Returns the new tail, which
 * differs from head when out of memory.  Times later than `now` become `now`.  An
 * invalid record makes everything up to head count as damaged. */
uint64_t ring_read(const struct ring_format *f, const uint8_t *data,
		   uint64_t size, uint64_t tail, uint64_t head,
		   struct order *o, size_t stream, uint64_t now,
		   uint64_t *damaged);

#endif
