/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_RING_H
#define TALLY_RECORD_TIMER_TIMER_RING_H
/*
 * Reads what programs wrote into the memory that they share with tally
 * (preload/shared.h).  The contents are untrusted and may change while they are read.
 */
#include "preload/shared.h"
#include "record/source/order.h"
#include "record/source/source.h"

/* Moves whole records from [tail, head) of a ring to a stream.  Returns the new tail,
 * which differs from head when out of memory.  Times later than `now` become `now`. */
uint64_t timer_ring_take(const uint8_t *data, uint64_t size, uint64_t tail,
			 uint64_t head, struct order *o, size_t stream,
			 uint64_t now, uint64_t *damaged);

/* Linux's highest process number (PID_MAX_LIMIT).  It bounds the number of processes
 * that programs can make tally keep. */
enum { TIMER_PID_MAX = 4 << 20 };

struct timer_message {
	enum timer_kind kind;
	uint16_t flags;
	uint32_t pid, tid, cpu;
	uint32_t ppid, ptid;		/* for start, fork, thread */
	uint32_t cpu_us, user_us, sys_us;	/* for start; cpu_us also for exec */
	uint64_t entry;			/* for start */
	const char *text;		/* borrowed, not terminated */
	size_t n;
	struct record_sample sample;	/* borrows from the record */
};

/* Decodes one record.  Returns false if it is invalid.  `chains`: stack copies were
 * requested. */
bool timer_decode(const uint8_t *p, size_t n, bool chains,
		  struct timer_message *out);

#endif
