/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_EVENTS_H
#define TALLY_RECORD_KMOD_KMOD_EVENTS_H
/* Chooses which of the kernel module's sources samples a set of events, and how. */
#include "events/pmu.h"
#include "record/perf/perf_source.h"
#include "tally/kmod.h"

/* Properties of the kernel's own events on this machine. */
struct kmod_machine {
	bool has_cycles;	/* they count cycles */
	const struct pmu_units *kinds;	/* kinds of cores if there are several; or
					 * NULL */
};

/* Fills source, nevents, events, perf, nkinds and kinds of *setup, and in seen[TALLY_EVENTS_MAX]
 * what the events become.  Refuses what would be dropped or changed without a word.
 * A pure function. */
int kmod_events(const struct tally_info *info,
		const struct kmod_machine *machine,
		const struct source_options *o, struct tally_setup *setup,
		struct source_event *seen, struct error *err);

#endif
