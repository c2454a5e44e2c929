/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RING_CORE_H
#define TALLY_RING_CORE_H
/*
 * Places bytes in a ring.  Positions grow without limit, `size` is a power of two,
 * and data that reaches the end continues at the beginning.  Compiled into the
 * module and into unit tests.
 */
#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <string.h>
#endif

struct ring_data {
	uint8_t *p;
	uint64_t size;
};

/* Returns the free bytes.  The program writes the tail, so it is untrusted.  A
 * tail too far behind the head, or beyond it, merely makes the ring full. */
static inline uint64_t ring_free(const struct ring_data *r, uint64_t head,
				 uint64_t tail)
{
	uint64_t used = head - tail;

	return used > r->size ? 0 : r->size - used;
}

/* Returns the number of bytes from position `at` to the ring's end, at most n. */
static inline uint32_t ring_run(const struct ring_data *r, uint64_t at,
				uint32_t n)
{
	uint64_t left = r->size - (at & (r->size - 1));

	return n < left ? n : (uint32_t)left;
}

static inline void ring_write(const struct ring_data *r, uint64_t at,
			      const void *from, uint32_t n)
{
	uint32_t first = ring_run(r, at, n);

	memcpy(r->p + (at & (r->size - 1)), from, first);
	memcpy(r->p, (const uint8_t *)from + first, n - first);
}

/* Copies n bytes from a user address.  Returns the number of bytes not copied. */
typedef unsigned long ring_fetch_fn(void *to, uint64_t from, unsigned long n);

/* Fetches up to n bytes, n <= size.  Returns the number of bytes before the first
 * that could not be fetched. */
static inline uint32_t ring_fetch(const struct ring_data *r, uint64_t at,
				  ring_fetch_fn *fetch, uint64_t from,
				  uint32_t n)
{
	uint32_t first = ring_run(r, at, n);
	uint32_t left = fetch(r->p + (at & (r->size - 1)), from, first);

	if (left || first == n)
		return first - left;
	return n - (uint32_t)fetch(r->p, from + first, n - first);
}

/* The result of ring_copy_stack. */
struct ring_copy {
	uint32_t bytes;		/* bytes of the stack */
	uint32_t taken;		/* bytes of the ring, including zeros up to a
				 * multiple of 8 */
	uint8_t all;		/* no memory follows the copied bytes */
	uint8_t full;		/* the room in the ring was too small */
};

/* Copies the stack from sp to position `at`: up to `most` bytes, while there is
 * memory below `end` and room in the ring. */
static inline struct ring_copy ring_copy_stack(const struct ring_data *r,
					       uint64_t at, uint64_t room,
					       ring_fetch_fn *fetch,
					       uint64_t sp, uint64_t end,
					       uint32_t most)
{
	static const uint8_t zeros[8];
	struct ring_copy c = { 0, 0, 0, 0 };
	uint32_t want = most;

	room &= ~7ull;
	if (sp >= end)
		want = 0;
	else if (want > end - sp)
		want = (uint32_t)(end - sp);
	if (want > room)
		c.bytes = room ? ring_fetch(r, at, fetch, sp, (uint32_t)room)
			       : 0;
	else if (want)
		c.bytes = ring_fetch(r, at, fetch, sp, want);
	c.full = want > room && c.bytes == room;
	c.all = !c.full && c.bytes < most;
	c.taken = (c.bytes + 7) & ~7u;
	ring_write(r, at + c.bytes, zeros, c.taken - c.bytes);
	return c;
}

#endif
