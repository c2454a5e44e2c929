// SPDX-License-Identifier: GPL-2.0
/* Puts records into a ring, of which a program has a map.  Runs in any context: no locks,
 * no allocations, no faults. */
#include <linux/irq_work.h>

#include "ring_core.h"
#include "tally.h"

#define RECORD_MAX	65528	/* largest value of a record's size */

/* The program's side is src/record/kmod/kmod_ring.c.  It loads head with acquire
 * order and stores tail with release order. */
bool ring_put(struct cpu_state *c, struct tally_record *r,
	      struct tally_copy *copy)
{
	const struct ring_data ring = { c->data, c->size };
	u64 room = ring_free(&ring, c->head, READ_ONCE(c->ring->tail));
	u64 used = c->size - room;
	u32 mark = c->watermark, size = r->size;
	int n;

	if (r->type == TALLY_RECORD_SAMPLE)
		room -= min(room, c->reserve);
	if (room < size)
		return false;
	smp_mb();	/* the program's loads precede our stores */
	if (copy) {
		n = copy_stack(c, copy, c->head + size, room - size,
			       min_t(u32, c->copy_bytes, RECORD_MAX - size));
		if (n < 0)
			return false;
		r->size += n;
	}
	ring_write(&ring, c->head, r, size);
	c->head += r->size;
	/* A program that sees it sees the record. */
	smp_store_release(&c->ring->head, c->head);
	if (used < mark && used + r->size >= mark)
		irq_work_queue(&c->wake);
	return true;
}
