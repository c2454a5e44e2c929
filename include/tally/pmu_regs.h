/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_PMU_REGS_H
#define TALLY_PMU_REGS_H
/*
 * Accesses to the counters of one CPU through functions that read and write its
 * registers.  The kernel module supplies RDMSR and WRMSR, the unit tests a model.
 */
#include "tally/pmu.h"

struct pmu_msr {
	uint64_t (*read)(void *ctx, uint32_t msr);
	void (*write)(void *ctx, uint32_t msr, uint64_t value);
	/* Return a value other than 0 if the register does not exist (#GP). */
	int (*read_safe)(void *ctx, uint32_t msr, uint64_t *value);
	int (*write_safe)(void *ctx, uint32_t msr, uint64_t value);
	void *ctx;
};

/* The counters of one CPU. */
struct pmu_bank {
	const struct pmu_model *model;
	const struct pmu_msr *msr;
	uint8_t used;		/* bit i: counter i is in use by tally */
	uint64_t select[PMU_COUNTERS_MAX];
	/* Number of events in the running period. */
	uint64_t weight[PMU_COUNTERS_MAX];
	uint64_t saved_select[PMU_COUNTERS_MAX];
	uint64_t saved_counter[PMU_COUNTERS_MAX];
	uint64_t saved_global;
	/* See pmu_claims.  Last, because they outlive a recording. */
	bool late;
	uint64_t late_ns;
};

/* Returns whether the counters exist and keep written values.  Leaves them
 * unchanged.  Call it only for unused counters. */
bool pmu_probe(const struct pmu_model *m, const struct pmu_msr *msr);

/* Save and restore the contents of the registers. */
void pmu_save(struct pmu_bank *b);
void pmu_restore(struct pmu_bank *b);

/* Configures counter `c`, which runs from pmu_arm on.  The period must fit. */
void pmu_use(struct pmu_bank *b, unsigned int c, const struct pmu_event *e,
	     uint64_t period);
void pmu_arm(const struct pmu_bank *b);
/* Stops all counters of the bank at the start of their periods, none of which has then
 * overflowed.  pmu_arm begins with it. */
void pmu_load(const struct pmu_bank *b);
/* Stops all counters of the bank and removes their events. */
void pmu_disarm(const struct pmu_bank *b);
/* Stop all counters in place, and let them continue.  For use between pmu_arm and
 * pmu_disarm. */
void pmu_halt(const struct pmu_bank *b);
void pmu_go(const struct pmu_bank *b);

/* Returns the running counters of the bank that have overflowed, one bit each, and
 * acknowledges these overflows. */
unsigned int pmu_overflowed(const struct pmu_bank *b);
/*
 * Starts the next period of a counter that has overflowed.  Events counted since the
 * overflow belong to the new period.  If less than a quarter of the period would
 * remain, the period and its weight are increased.  Returns the old weight.
 */
uint64_t pmu_rearm(struct pmu_bank *b, unsigned int c, uint64_t period);

#define PMU_LATE_NS 1000000000u

/*
 * Returns whether an NMI that found n overflowed counters belongs to tally.  An NMI
 * that finds none does if the previous NMI handled its counter by finding two, or if
 * pmu_expect announced it.  While one NMI is handled, only one more can wait, for
 * any number of counters.  NMIs of others must not be swallowed, so an NMI is
 * expected for PMU_LATE_NS only: a virtual processor may pause for long between an
 * NMI and its twin.
 */
bool pmu_claims(struct pmu_bank *b, unsigned int n, uint64_t now_ns);
/* Announces a possible NMI, after counters were handled or stopped without theirs. */
void pmu_expect(struct pmu_bank *b, uint64_t now_ns);

#endif
