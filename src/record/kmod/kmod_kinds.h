/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_KMOD_KMOD_KINDS_H
#define TALLY_RECORD_KMOD_KMOD_KINDS_H
/*
 * Processors with several kinds of cores: what the kernel module counts an event by on
 * each of them.  As with perf, they are one event of the recording.
 */
#include "base/error.h"
#include "events/pmu.h"
#include "tally/kmod.h"

/* Reads the kinds and, for CPUs below `ncpus`, the kind of each (tally_setup.kind_of).
 * *of is allocated; NULL if there is one kind only.  Returns 0 or -ERR_NOMEM. */
int kmod_kinds_read(const char *sysfs, uint32_t ncpus, struct pmu_units *kinds,
		    uint8_t **of);

/* Makes event i of the setup, which is one of the kernel's, count on each kind where it
 * needs several counters.  Refuses what the module cannot count. */
int kmod_kinds_fill(const struct tally_info *info, const struct pmu_units *kinds,
		    const struct event_spec *s, size_t i,
		    struct tally_setup *setup, struct error *err);

/* Returns how many counters each thread has for event i. */
unsigned int kmod_kinds_counters(const struct tally_setup *setup, size_t i);

#endif
