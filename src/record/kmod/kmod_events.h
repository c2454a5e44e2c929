/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_EVENTS_H
#define TALLY_RECORD_KMOD_KMOD_EVENTS_H
/* Chooses which of the kernel module's sources samples a set of events, and how. */
#include "record/perf/perf_source.h"
#include "tally/kmod.h"

/* What the kernel's own events are on this machine. */
struct kmod_machine {
	bool has_cycles;	/* they count cycles */
	bool core_kinds;	/* it has several kinds of cores */
};

/* Fills source, nevents, events and perf of *setup, and in seen[TALLY_EVENTS_MAX]
 * what the events become.  Refuses what would be dropped or changed without a word.
 * A pure function. */
int kmod_events(const struct tally_info *info,
		const struct kmod_machine *machine,
		const struct source_options *o, struct tally_setup *setup,
		struct source_event *seen, struct error *err);

#endif
