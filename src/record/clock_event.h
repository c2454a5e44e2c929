/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_CLOCK_EVENT_H
#define TALLY_RECORD_CLOCK_EVENT_H
/* The one event of sources that need no counter: CPU time of threads. */
#include "record/perf_source.h"

/* What `o` asks for, as CPU time at a rate of at most `max_rate`: fills *seen,
 * freq and period (nanoseconds) too.  `source` is for messages: "ptrace". */
int clock_event_fill(const struct perf_source_options *o, const char *source,
		     uint64_t max_rate, struct source_event *seen,
		     struct error *err);

#endif
