/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_ORDER_H
#define TALLY_RECORD_SOURCE_ORDER_H
/*
 * Merges streams of records (one a CPU), each nearly sorted, by time.
 *
 * One thread puts records in (order_room, order_commit), one takes them out
 * (order_flush); they may be two threads, and need no lock.
 *
 * A record that is older than the one before it in its stream takes that one's
 * place in time; one that comes after its time was flushed is delivered at the
 * next flush and counted in `late`.  Nothing is ever dropped or held back
 * forever: the caller flushes up to a time it knows to be past, and clamps
 * times that lie in the future.
 */
#include <stddef.h>
#include <stdint.h>

struct order_block;

struct order_stream {
	/* Of who puts records in. */
	struct order_block *last;
	uint64_t newest;		/* time of the newest record */
	/* Of who takes them out. */
	struct order_block *first;
	size_t head;			/* bytes of `first` that were taken */
};

struct order {
	struct order_stream *streams;
	size_t nstreams;
	uint64_t put;		/* bytes that ever came; atomic */
	struct order_block *spare;	/* of who puts */

	uint32_t *heap;		/* stream numbers, used while flushing */
	uint64_t flushed;	/* everything up to here was delivered */
	uint64_t late;
	uint64_t taken;		/* bytes that ever went; atomic */
	/* Used blocks on their way back; atomic. */
	struct order_block *returned;
	size_t nreturned;
};

/* 0 or -ERR_NOMEM. */
int order_init(struct order *o, size_t nstreams);
void order_fini(struct order *o);

/* Room for one record of `size` bytes at the end of a stream; fill it, then
 * order_commit.  NULL when out of memory. */
uint8_t *order_room(struct order *o, size_t stream, size_t size);
void order_commit(struct order *o, size_t stream, size_t size, uint64_t time);
/* Bytes in all streams. */
size_t order_waiting(const struct order *o);

/* Negative stops the flush. */
typedef int order_cb(void *ctx, uint64_t time, const uint8_t *bytes,
		     size_t size);
/* Delivers all records with time <= upto. */
int order_flush(struct order *o, uint64_t upto, order_cb *cb, void *ctx);

#endif
