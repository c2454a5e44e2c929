/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_DECODE_H
#define TALLY_RECORD_PERF_DECODE_H
/*
 * The records of perf_event_open(2), in the one layout that perf_open.c asks
 * for.  `sample_id_all` puts the last four words behind every other record:
 *
 *	sample: header id ip pid,tid time cpu,- period [nr ips[nr]]
 *	other:  header …                pid,tid time cpu,- id
 *
 * The bytes are hostile.
 */
#include <linux/perf_event.h>

#include "base/hash.h"
#include "record/source.h"

#define PERF_SAMPLE_LAYOUT (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | \
	PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	PERF_SAMPLE_PERIOD)

struct perf_decoder {
	const struct u64map *ids;	/* event id -> index */
	bool callchain;		/* samples were opened with CALLCHAIN */
	uint32_t max_stack;	/* kernel.perf_event_max_stack */
};

/* The time of a record, 0 when it is too short to have one. */
uint64_t perf_record_time(const uint8_t *p, size_t n);
/* False when the record is damaged or of no interest.  `p` is 8-byte aligned;
 * the result borrows from it. */
bool perf_decode(const struct perf_decoder *d, const uint8_t *p, size_t n,
		 struct record *out);

#endif
