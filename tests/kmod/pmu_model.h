/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_KMOD_PMU_MODEL_H
#define TESTS_KMOD_PMU_MODEL_H
/*
 * Registers of counters, and of the local APIC's entry for them, as the documents
 * describe them:
 *
 *	K8	BKDG §10.1 and §10.2: four counters of 48 bits, each with its EN
 *	10H	the same for family 10h; EXTENDED: six in pairs; V2: with a register
 *		that enables all, and one that acknowledges overflows
 *	P6	SDM 3B §18.22: two counters of 40 bits; a write takes 32 bits and
 *		repeats bit 31; EN of PerfEvtSel0 lets both count
 *	INTEL	architectural: each with its EN; from version 2 on as V2
 *	APIC	SDM 3A §10.5.1: Intel's sets the mask bit of LVTPC as it delivers
 *
 * An overflow is the step from all ones to 0.
 */
#include "tally/pmu_regs.h"

enum pmu_kind {
	MODEL_K8,
	MODEL_AMD_10H,
	MODEL_EXTENDED,
	MODEL_V2,
	MODEL_P6,
	MODEL_INTEL_1,
	MODEL_INTEL_2,
	MODEL_ZERO,	/* a virtual machine: writes are lost, all reads 0 */
	MODEL_ABSENT,	/* each access raises #GP */
};

struct pmu_machine {
	enum pmu_kind kind;
	struct pmu_model model;
	struct pmu_msr msr;
	uint64_t select[PMU_COUNTERS_MAX], counter[PMU_COUNTERS_MAX];
	uint64_t global, status;
	uint32_t lvtpc;
	unsigned int nmis;		/* delivered */
	unsigned int lost_nmis;		/* while LVTPC was masked */
	unsigned int faults;		/* plain accesses that raised #GP */
	/* Changes of an event while its counter was enabled. */
	unsigned int changed_running;
	/* Counters that were enabled by other than a write of theirs. */
	unsigned int foreign;
	/* Overflows of a counter whose last one was not acknowledged. */
	unsigned int unacknowledged;
};

/* What CPUID says of these processors. */
struct pmu_cpu_id machine_id(enum pmu_kind kind);

#define LVT_NMI		(4u << 8)
#define LVT_MASKED	(1u << 16)

void machine_init(struct pmu_machine *m, enum pmu_kind kind);
bool machine_runs(const struct pmu_machine *m, unsigned int counter);
/* Everybody's event happens n times, in user or kernel mode. */
void machine_count(struct pmu_machine *m, uint64_t n, bool user);
/* The same for one counter. */
void machine_count_one(struct pmu_machine *m, unsigned int counter, uint64_t n,
		       bool user);

#endif
