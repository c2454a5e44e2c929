/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_COUNTS_H
#define TALLY_IMPORT_PERF_COUNTS_H
/*
 * Samples of `{a,b}:S` contain the values of all counters of their group
 * (PERF_SAMPLE_READ).  What a counter gained since the sample before is the weight of
 * a sample of its event, as in `perf report`.
 */
#include "base/cursor.h"
#include "base/hash.h"
#include "base/vec.h"

/* The value of a counter at its last sample.  Counters that threads inherit have one
 * for each thread. */
struct perf_count {
	uint64_t id, value;
	uint32_t tid;		/* or 0 */
};

struct perf_counts {
	VEC(struct perf_count) rows;
	struct idtab tab;
};

void perf_counts_fini(struct perf_counts *s);
/* Sets *gain to what a counter gained since its last sample, 0 if it was reset.
 * Returns 0 or -ERR_NOMEM. */
int perf_counts_gain(struct perf_counts *s, uint64_t id, uint32_t tid,
		     uint64_t value, uint64_t *gain);

/* The values in a sample, read one after the other. */
struct perf_counts_reader {
	struct cursor c;
	uint64_t left, format;
};

/* Moves *c behind the values of a sample, laid out by an event's read_format; fails it
 * if they do not fit. */
struct perf_counts_reader perf_counts_open(struct cursor *c, uint64_t format);
/* Returns whether there was another value that names its counter. */
bool perf_counts_next(struct perf_counts_reader *r, uint64_t *id, uint64_t *value);

#endif
