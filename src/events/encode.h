/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_ENCODE_H
#define TALLY_EVENTS_ENCODE_H
/* Computes register values for a set of K8 or P6 events. */
#include "events/hw.h"

struct hw_encoded {
	struct hw_spec spec;
	uint8_t counter;
	uint64_t evtsel, preload;
	uint32_t msr_evtsel, msr_counter;
};

struct hw_program {
	const struct hw_pmu *pmu;
	struct hw_encoded ev[HW_COUNTERS_MAX];
	size_t n;
	/* P6: contents of PerfEvtSel0, which are needed even if counter 0 is not
	 * used. */
	uint64_t evtsel0;
	/* K8: counters that other cores of the node must not use at the same time. */
	uint8_t northbridge;
};

/* Encodes a set of events.  `period` NULL: count from 0 instead of sampling.  If
 * the set is refused, *out is empty. */
int hw_encode(const struct hw_pmu *pmu, char *const *specs, size_t n,
	      const uint64_t *period, bool interrupt, struct hw_program *out,
	      struct error *err);

/* Assigns to each of n events one of its allowed counters, bit i for counter i;
 * `text` names the events in the error if that is impossible. */
int hw_assign(const struct hw_pmu *pmu, const char *const *text,
	      const uint8_t *allowed, size_t n, uint8_t *counter,
	      struct error *err);
/* Returns whether a counter can overflow after this many events. */
int hw_period_check(const struct hw_pmu *pmu, uint64_t period,
		    struct error *err);

#endif
