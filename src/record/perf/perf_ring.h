/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_RING_H
#define TALLY_RECORD_PERF_PERF_RING_H
/*
 * The memory ring that a perf event writes its records to (perf_event_open(2),
 * "MMAP layout").
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/source/order.h"
#include "record/perf/perf_decode.h"

struct perf_ring {
	void *page;		/* struct perf_event_mmap_page, then the data */
	uint64_t size;		/* bytes of data: a power of two */
};

/* Maps `size` bytes or, when they may not be locked, half as often as it takes;
 * returns 0 or an error. */
int perf_ring_open(struct perf_ring *r, int fd, size_t size,
		   struct error *err);
void perf_ring_close(struct perf_ring *r);

/* Is there anything to be read? */
bool perf_ring_waiting(const struct perf_ring *r);
/* Has it so little room that records may have been lost? */
bool perf_ring_tight(const struct perf_ring *r);

/* Samples of one event and ring that were left out since the last one that was
 * taken. */
struct perf_thinning {
	uint64_t n, weight;
};

/*
 * What becomes of samples while more wait than can be worked off: first less of
 * each copy of a stack is kept, then the rate is lowered: one of some samples is
 * taken, with the weight of those before it that were left out.  At last samples
 * are dropped and counted.  Records of mappings and processes always stay.
 */
struct perf_pressure {
	size_t limit;		/* bytes that may wait */
	/* By event: */
	uint64_t *dropped;	/* atomic */
	uint64_t *thinned;	/* left out; atomic */
	struct perf_thinning *thinning;	/* of each stream: nstreams for each
					 * event */
	size_t nstreams;
	bool lowered;		/* the rate was, at some time */
	uint64_t shortened;	/* copies */
};

/* Where records go: a stream of `order`. */
struct perf_intake {
	struct order *order;
	size_t stream;
	const struct perf_decoder *decoder;	/* how samples look, or NULL */
	uint64_t *damaged;	/* bytes that were no records, and dropped */
	struct perf_pressure *pressure;		/* or NULL: none */
	uint64_t *waking;	/* counts those samples; NULL if there are none */
};

/* Moves all records, without what was not filled of stacks' copies; times after
 * `now` become `now`.  0 or -ERR_NOMEM. */
int perf_ring_drain(struct perf_ring *r, const struct perf_intake *to,
		    uint64_t (*now)(void));

/* The same over plain memory: records between the free-running positions tail
 * and head.  Returns the new tail. */
uint64_t perf_ring_take(const struct perf_bytes *ring, uint64_t tail,
			uint64_t head, const struct perf_intake *to,
			uint64_t now);

#endif
