/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_SOURCE_H
#define TALLY_RECORD_PERF_PERF_SOURCE_H
/*
 * Samples from perf_event_open(2).  One ring per CPU is shared by all events and all
 * recorded threads.
 */
#include "record/source/order.h"
#include "record/source/source_type.h"

/* Records of another source, merged by time. */
struct perf_extra {
	size_t nstreams;
	/* Moves ready records to streams from `first` on.  Returns 0 or -ERR_NOMEM. */
	int (*fill)(void *ctx, struct order *o, size_t first,
		    uint64_t *damaged);
	/* For records that `fill` leaves where they are: as in struct order_feed, of
	 * streams from 0 on. */
	bool (*peek)(void *ctx, size_t stream, uint64_t upto, uint64_t *time,
		     uint64_t *damaged);
	bool (*take)(void *ctx, size_t stream, struct order_record *out);
	/* Decodes a record.  Returns false if it is not this source's; it may be
	 * perf's. */
	bool (*decode)(void *ctx, const uint8_t *p, size_t n,
		       struct record *out);
	void *ctx;
};

extern const struct source_type perf_source_type;

/* Opens a source without events of its own: perf's records of mappings, names, forks
 * and exits, merged with the records of `extra`. */
int perf_sideband_open(const struct source_target *target, bool inherit,
		       const struct perf_extra *extra, struct source **out,
		       struct error *err);

#endif
