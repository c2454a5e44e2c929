/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_RING_H
#define TALLY_RECORD_PERF_PERF_RING_H
/*
 * The memory ring into which a perf event writes its records (perf_event_open(2),
 * "MMAP layout").
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/source/order.h"
#include "record/perf/perf_decode.h"
#include "record/perf/perf_pace.h"

struct perf_ring {
	void *page;		/* struct perf_event_mmap_page, followed by the data */
	uint64_t size;		/* bytes of data, a power of two */
	/* For reading record by record: the end of the records at the last look, and
	 * that of the look before; and the place of the record that was peeked at. */
	uint64_t head, before, peeked;
};

/* Maps a ring of `size` bytes, halved until the memory may be locked.  Returns 0 or
 * an error. */
int perf_ring_open(struct perf_ring *r, int fd, size_t size,
		   struct error *err);
void perf_ring_close(struct perf_ring *r);

/* Returns the number of bytes that are not read yet. */
uint64_t perf_ring_used(const struct perf_ring *r);
/* Returns whether the ring holds unread data. */
bool perf_ring_waiting(const struct perf_ring *r);
/* Returns whether the ring is so full that records may have been lost. */
bool perf_ring_tight(const struct perf_ring *r);

/* Samples of one event and ring that were skipped since the last one kept. */
struct perf_thinning {
	uint64_t n, weight;
};

/*
 * What happens to samples while more arrive than can be processed.  First, less of
 * each stack copy is kept.  Then the rate is lowered: one of several samples is kept,
 * with the weight of the skipped samples before it.  At last, samples are dropped and
 * counted.  Records of mappings and processes are always kept.
 */
struct perf_pressure {
	size_t limit;		/* maximum number of pending bytes */
	/* By event: */
	uint64_t *dropped;	/* atomic */
	uint64_t *thinned;	/* number of skipped samples; atomic */
	struct perf_thinning *thinning;	/* by stream: nstreams for each event */
	size_t nstreams;
	bool lowered;		/* the rate was lowered at some time */
	uint64_t shortened;	/* number of shortened copies; atomic */
};

/* The destination of records: a stream of `order`. */
struct perf_intake {
	struct order *order;
	size_t stream;
	const struct perf_decoder *decoder;	/* layout of samples, or NULL */
	uint64_t *damaged;	/* number of invalid bytes dropped */
	struct perf_pressure *pressure;		/* or NULL: keep all */
	struct perf_taken *taken;	/* counts records of waits; or NULL */
};

/* Moves all records, without the unused part of stack copies.  Times later than `now`
 * become `now`.  Returns 0 or -ERR_NOMEM. */
int perf_ring_drain(struct perf_ring *r, const struct perf_intake *to,
		    uint64_t (*now)(void));

/* Does the same in plain memory: records between the free-running positions tail and
 * head.  Returns the new tail. */
uint64_t perf_ring_take(const struct perf_bytes *ring, uint64_t tail,
			uint64_t head, const struct perf_intake *to,
			uint64_t now);

/* Reads the ring record by record (order_feed).  perf_ring_look notes how far it is
 * filled. */
void perf_ring_look(struct perf_ring *r);
/* Returns whether another record up to there has a time <= upto, and its time.  A time
 * later than the look at which the record was first seen becomes the time of that look:
 * `now`, or `before_ns` for the look before. */
bool perf_ring_peek(struct perf_ring *r, uint64_t now, uint64_t before_ns,
		    uint64_t upto, uint64_t *time, uint64_t *damaged);
/* Moves the record that was peeked at to `to`, of PERF_RING_RECORD_MAX bytes, without the
 * unused part of a stack copy.  Returns its size, or 0 if it was moved by
 * perf_ring_drain. */
enum { PERF_RING_RECORD_MAX = 65536 };
size_t perf_ring_fetch(struct perf_ring *r, const struct perf_decoder *d, void *to);
/* Returns where the record that was peeked at lies in the ring, and its size, or false
 * if it wraps around the end or was moved.  It stays until perf_ring_free. */
bool perf_ring_borrow(struct perf_ring *r, struct order_record *out);
void perf_ring_free(struct perf_ring *r, const struct order_record *record);

#endif
