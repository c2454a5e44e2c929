/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_RECORDS_H
#define TALLY_IMPORT_PERF_RECORDS_H
/*
 * The records of a perf.data in order of time, as a source delivers them
 * (record/source.h).  Samples have the layout that their event's description says
 * (include/uapi/linux/perf_event.h, PERF_RECORD_SAMPLE).
 */
#include "import/perf_file.h"
#include "record/source/source.h"

/* What is not delivered. */
struct perf_records_rest {
	uint64_t skipped;	/* of kinds without use, or that make no sense */
	uint64_t branches;	/* samples with branch stacks, left out of them */
};

/* A mapping of the kernel: its text ("[kernel.kallsyms]_text" and the like), or
 * a module. */
struct perf_kernel_map {
	uint64_t start, len, text;	/* text: where its file says it is */
	const char *path;		/* borrowed */
};

struct perf_records_cb {
	record_cb *record;
	/* Negative stops. */
	int (*kernel)(void *ctx, const struct perf_kernel_map *m,
		      struct error *err);
	void *ctx;
};

/* Delivers all; *first and *last are the times of the first and last sample. */
int perf_records_each(const struct perf_file *f,
		      const struct perf_records_cb *cb,
		      struct perf_records_rest *rest, uint64_t *first,
		      uint64_t *last, struct error *err);

/* Whether an event's weights are nanoseconds in which a thread waited. */
bool perf_records_off_cpu(const struct perf_file_event *e);

#endif
