// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads records from memory that others write. */
#include "record/source/ring_read.h"

#include <string.h>

void ring_copy_out(void *to, const uint8_t *data, uint64_t size, uint64_t pos,
		   size_t n)
{
	uint64_t at = pos & (size - 1);
	size_t first = n < size - at ? n : (size_t)(size - at);

	memcpy(to, data + at, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

uint32_t ring_header(const struct ring_format *f, const uint8_t *data,
		     uint64_t size, uint64_t tail, uint64_t head, void *header)
{
	uint64_t left = head - tail;
	uint32_t n;

	if (left < f->header || left > size)
		return 0;
	ring_copy_out(header, data, size, tail, f->header);
	n = f->size(header);
	return n < f->header || n % 8 || n > left || n > f->most ? 0 : n;
}

void ring_fetch(const struct ring_format *f, const uint8_t *data, uint64_t size,
		uint64_t tail, const void *header, size_t n, void *to)
{
	ring_copy_out(to, data, size, tail, n);
	memcpy(to, header, f->header);
}

uint64_t ring_read(const struct ring_format *f, const uint8_t *data,
		   uint64_t size, uint64_t tail, uint64_t head,
		   struct order *o, size_t stream, uint64_t now,
		   uint64_t *damaged)
{
	while (tail != head) {
		_Alignas(8) uint8_t header[RING_HEADER_MAX];
		uint32_t n = ring_header(f, data, size, tail, head, header);
		uint64_t time;
		uint8_t *to;

		if (!n) {
			*damaged += head - tail;
			return head;
		}
		to = order_room(o, stream, n);
		if (!to)
			return tail;
		ring_fetch(f, data, size, tail, header, n, to);
		time = f->time(header);
		order_commit(o, stream, n, time < now ? time : now);
		tail += n;
	}
	return tail;
}
