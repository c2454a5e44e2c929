/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_PMU_REGS_H
#define TALLY_PMU_REGS_H
/*
 * What is done to the counters of one CPU, over accessors of its registers: the
 * kernel module gives it RDMSR and WRMSR, the unit tests a model.
 */
#include "tally/pmu.h"

struct pmu_msr {
	uint64_t (*read)(void *ctx, uint32_t msr);
	void (*write)(void *ctx, uint32_t msr, uint64_t value);
	/* Not 0: there is no such register (#GP). */
	int (*read_safe)(void *ctx, uint32_t msr, uint64_t *value);
	int (*write_safe)(void *ctx, uint32_t msr, uint64_t value);
	void *ctx;
};

/* The counters of one CPU. */
struct pmu_bank {
	const struct pmu_model *model;
	const struct pmu_msr *msr;
	uint8_t used;		/* bit i: counter i is ours */
	uint64_t select[PMU_COUNTERS_MAX];
	/* Events that the running period stands for. */
	uint64_t weight[PMU_COUNTERS_MAX];
	uint64_t saved_select[PMU_COUNTERS_MAX];
	uint64_t saved_counter[PMU_COUNTERS_MAX];
	bool late;		/* see pmu_claims */
	uint64_t late_ns;
};

/* Do the counters exist and keep what is written?  Leaves them as they were.
 * Only for counters that nobody uses. */
bool pmu_probe(const struct pmu_model *m, const struct pmu_msr *msr);

/* Remembers and gives back what the registers held. */
void pmu_save(struct pmu_bank *b);
void pmu_restore(struct pmu_bank *b);

/* Sets counter `c` up; it runs from pmu_arm on.  The period must fit. */
void pmu_use(struct pmu_bank *b, unsigned int c, const struct pmu_event *e,
	     uint64_t period);
void pmu_arm(const struct pmu_bank *b);
/* All counters of the bank stand still, without their events. */
void pmu_disarm(const struct pmu_bank *b);
/* Between the two: all stand still where they are, and go on from there. */
void pmu_halt(const struct pmu_bank *b);
void pmu_go(const struct pmu_bank *b);

/* Which of our running counters have passed their end. */
unsigned int pmu_overflowed(const struct pmu_bank *b);
/*
 * The next period of a counter that has passed its end.  What it counted since
 * then belongs to the new period; where that leaves less than a quarter of it,
 * the period becomes longer, and its weight too.  Returns the old weight.
 */
uint64_t pmu_rearm(struct pmu_bank *b, unsigned int c, uint64_t period);

#define PMU_LATE_NS 1000000000u

/*
 * An NMI found n counters at their end: is it ours?  One that finds none is, when
 * its counter was handled by the NMI before, which found two, or by pmu_expect:
 * one NMI waits while another is handled, no matter for how many counters.  Those
 * of others are not to be swallowed, so after PMU_LATE_NS nothing is expected: a
 * processor of a virtual machine may stand still for long between an NMI and its
 * twin.
 */
bool pmu_claims(struct pmu_bank *b, unsigned int n, uint64_t now_ns);
/* Counters were handled, or stopped, without an NMI of theirs. */
void pmu_expect(struct pmu_bank *b, uint64_t now_ns);

#endif
