/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_EVENTS_H
#define TALLY_RECORD_KMOD_KMOD_EVENTS_H
/* Chooses which of the kernel module's sources samples a set of events, and how. */
#include "record/perf/perf_source.h"
#include "tally/kmod.h"

/* Fills source, nevents, events and perf of *setup, and in seen[TALLY_EVENTS_MAX]
 * what the events become.  has_cycles: the kernel's own events can count cycles on
 * this machine.  A pure function. */
int kmod_events(const struct tally_info *info, bool has_cycles,
		const struct source_options *o, struct tally_setup *setup,
		struct source_event *seen, struct error *err);

#endif
