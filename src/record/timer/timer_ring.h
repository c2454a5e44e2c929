/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_RING_H
#define TALLY_RECORD_TIMER_TIMER_RING_H
/*
 * Reading what programs wrote into the memory that they share with us
 * (preload/shared.h).  Any of it may be anything, and change while it is read.
 */
#include "preload/shared.h"
#include "record/source/order.h"
#include "record/source/source.h"

/* Moves whole records from [tail, head) of a ring to a stream; returns the new
 * tail, which is not head when out of memory.  Times after `now` become now. */
uint64_t timer_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			 uint64_t head, struct order *o, size_t stream,
			 uint64_t now, uint64_t *damaged);

/* Linux gives no higher numbers (PID_MAX_LIMIT): what programs tell cannot make
 * us keep more processes. */
enum { TIMER_PID_MAX = 4 << 20 };

struct timer_message {
	enum timer_kind kind;
	uint16_t flags;
	uint32_t pid, tid, cpu;
	uint32_t ppid, ptid;		/* start, fork, thread */
	uint32_t cpu_us, user_us, sys_us;	/* start; the first: exec */
	uint64_t entry;			/* start */
	const char *text;		/* borrowed, not terminated */
	size_t n;
	struct record_sample sample;	/* borrows from the record */
};

/* One record; false when it is none.  `chains`: copies of stacks were asked
 * for. */
bool timer_decode(const uint8_t *p, size_t n, bool chains,
		  struct timer_message *out);

#endif
