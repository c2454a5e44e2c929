/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PERF_SOURCE_H
#define TALLY_RECORD_PERF_PERF_SOURCE_H
/*
 * Samples from perf_event_open(2): one ring a CPU, shared by all events and all
 * threads that are watched.
 */
#include "record/source/order.h"
#include "record/source/source_type.h"

/* Records of another source, merged by time. */
struct perf_beside {
	size_t nstreams;
	/* Moves what is ready to streams from `first` on; 0 or -ERR_NOMEM. */
	int (*fill)(void *ctx, struct order *o, size_t first,
		    uint64_t *damaged);
	/* False: it is none of those, but perhaps perf's. */
	bool (*decode)(void *ctx, const uint8_t *p, size_t n,
		       struct record *out);
	void *ctx;
};

extern const struct source_type perf_source_type;

/* Without events of its own: only what perf tells of mappings, names, forks and
 * exits, together with the records of `beside`. */
int perf_sideband_open(const struct source_target *target, bool inherit,
		       const struct perf_beside *beside, struct source **out,
		       struct error *err);

#endif
