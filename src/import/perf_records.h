/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_IMPORT_PERF_RECORDS_H
#define TALLY_IMPORT_PERF_RECORDS_H
/*
 * Delivers the records of a perf.data in order of time, as a source does
 * (record/source.h).  The layout of samples follows from the description of their
 * event (include/uapi/linux/perf_event.h, PERF_RECORD_SAMPLE).
 */
#include "import/perf_file.h"
#include "record/source/source.h"

/* Data that is not delivered. */
struct perf_records_skipped {
	uint64_t skipped;	/* records of kinds that tally does not use, or
				 * that are invalid */
	uint64_t branches;	/* samples whose branch stacks were left out */
	uint64_t data_sources;	/* samples whose data sources were left out */
};

/* A mapping of the kernel: its text ("[kernel.kallsyms]_text" and the like) or a
 * module. */
struct perf_kernel_map {
	uint64_t start, len, text;	/* text: address of the text in its file */
	const char *path;		/* borrowed */
};

struct perf_records_cb {
	record_cb *record;
	/* A negative result stops. */
	int (*kernel)(void *ctx, const struct perf_kernel_map *m,
		      struct error *err);
	void *ctx;
};

/* Delivers all records.  *first and *last are the times of the first and last
 * sample. */
int perf_records_each(const struct perf_file *f,
		      const struct perf_records_cb *cb,
		      struct perf_records_skipped *rest, uint64_t *first,
		      uint64_t *last, struct error *err);

/* Returns whether an event's weights are nanoseconds that a thread waited. */
bool perf_records_off_cpu(const struct perf_file_event *e);

#endif
