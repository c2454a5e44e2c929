/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_EVENTS_H
#define TALLY_RECORD_KMOD_KMOD_EVENTS_H
/* Which of the kernel module's sources samples a set of events, and how. */
#include "record/perf/perf_source.h"
#include "tally/kmod.h"

/* Fills source, nevents and events of *setup, and seen[TALLY_EVENTS_MAX] with
 * what the events become.  Pure. */
int kmod_events(const struct tally_info *info,
		const struct source_options *o, struct tally_setup *setup,
		struct source_event *seen, struct error *err);

#endif
