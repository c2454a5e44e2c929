/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_SOURCE_CLOCK_EVENT_H
#define TALLY_RECORD_SOURCE_CLOCK_EVENT_H
/* The only event of sources that need no counter: CPU time of threads. */
#include "record/source/options.h"
#include "record/source/source.h"

/* Translates the request `o` into CPU time sampled at `max_rate` Hz at most.  Fills
 * *seen, including period (nanoseconds) and freq (0 if a period is wanted).  `source` is the name for messages:
 * "ptrace". */
int clock_event_fill(const struct source_options *o, const char *source,
		     uint64_t max_rate, struct source_event *seen,
		     struct error *err);
/* Returns how many samples of the event CPU time makes. */
uint64_t clock_event_samples(const struct source_event *e, double ns);

/* Sets the events of a source: CPU time and, with o->waits, the two events of waits.
 * The source itself delivers no samples of the latter. */
enum { CLOCK_EVENTS = 3, CLOCK_LOOKS = 200 };	/* CLOCK_LOOKS: maximum frequency of
						 * looks, in Hz */
void clock_events_set(const struct source_options *o,
		      struct source_event seen[CLOCK_EVENTS],
		      struct source *s);

#endif
