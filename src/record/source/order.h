/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_ORDER_H
#define TALLY_RECORD_SOURCE_ORDER_H
/*
 * Merges streams of records (one per CPU), each nearly sorted, by time.
 *
 * One thread adds records (order_room, order_commit) and one removes them
 * (order_flush).  They may be two threads and need no lock.
 *
 * A record that is older than its predecessor in the stream gets the predecessor's
 * time.  A record that arrives after its time was flushed is delivered at the next
 * flush and counted in `late`.  No record is ever dropped or held back forever: the
 * caller flushes up to a time it knows to be past, and clamps times that lie in the
 * future.
 *
 * Records may also stay elsewhere until they are due (order_feed).  Within a stream they
 * follow those that were added.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_block;
struct order_turn;

struct order_record {
	const uint8_t *bytes;	/* 8-byte aligned */
	size_t size;
};

struct order_stream {
	/* Owned by the thread that adds records. */
	struct order_block *last;
	/* Owned by the thread that removes records. */
	struct order_block *first;
	size_t head;			/* bytes of `first` already removed */
	uint64_t newest;		/* time of the last record removed */
	bool fed;			/* the feed has a record, of this time */
	uint64_t fed_time;
};

/* Records outside of `order`.  They may be added to it at any time instead, by the other
 * thread. */
struct order_feed {
	/* Returns whether a stream has another record with time <= upto, and its time. */
	bool (*peek)(void *ctx, size_t stream, uint64_t upto, uint64_t *time);
	/* Takes the record that was peeked at last.  It is valid until the next call.
	 * Returns false if it was added to the stream, or was lost. */
	bool (*take)(void *ctx, size_t stream, struct order_record *out);
	void *ctx;
};

struct order {
	struct order_stream *streams;
	size_t nstreams;
	uint64_t put;		/* total number of bytes added; atomic */
	struct order_block *spare;	/* owned by the adding thread */

	const struct order_feed *feed;	/* or NULL */
	struct order_turn *heap;	/* used while flushing */
	uint64_t flushed;	/* time up to which everything was delivered */
	uint64_t late;
	uint64_t taken;		/* total number of bytes removed; atomic */
	/* Used blocks on their way back to the adding thread; atomic. */
	struct order_block *returned;
	size_t nreturned;
};

/* Returns 0 or -ERR_NOMEM. */
int order_init(struct order *o, size_t nstreams);
void order_fini(struct order *o);

/* Returns room for one record of `size` bytes at the end of a stream, or NULL when
 * out of memory.  Fill it, then call order_commit. */
uint8_t *order_room(struct order *o, size_t stream, size_t size);
void order_commit(struct order *o, size_t stream, size_t size, uint64_t time);
/* Returns the number of bytes in all streams. */
size_t order_waiting(const struct order *o);

/* A negative result stops the flush. */
typedef int order_cb(void *ctx, uint64_t time, const uint8_t *bytes,
		     size_t size);
/* Delivers all records with time <= upto. */
int order_flush(struct order *o, uint64_t upto, order_cb *cb, void *ctx);

#endif
