/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CLOCK_EVENT_H
#define TALLY_RECORD_SOURCE_CLOCK_EVENT_H
/* The one event of sources that need no counter: CPU time of threads. */
#include "record/source/options.h"
#include "record/source/source.h"

/* What `o` asks for, as CPU time at a rate of at most `max_rate`: fills *seen,
 * freq and period (nanoseconds) too.  `source` is for messages: "ptrace". */
int clock_event_fill(const struct source_options *o, const char *source,
		     uint64_t max_rate, struct source_event *seen,
		     struct error *err);

/* The events of a source: that one and, with o->waits, the two of waits, of which nothing
 * comes from the source. */
enum { CLOCK_EVENTS = 3, CLOCK_LOOKS = 200 };	/* the latter a second, at most */
void clock_events_set(const struct source_options *o,
		      struct source_event seen[CLOCK_EVENTS],
		      struct source *s);

#endif
