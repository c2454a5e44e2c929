/* SPDX-License-Identifier: GPL-2.0-or-later WITH Linux-syscall-note */
#ifndef TALLY_PMU_H
#define TALLY_PMU_H
/*
 * The performance counters of x86 processors: a table of their registers, found by
 * CPUID; the fields of these registers, the counters each event may use, and the value
 * to load for a period.  Pure arithmetic without allocation or text, shared by tally
 * and its kernel module.
 */
#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>
#endif

/* Fields of PerfEvtSel, equal in all documents. */
#define PMU_SEL_EVENT_SHIFT	0
#define PMU_SEL_UMASK_SHIFT	8
#define PMU_SEL_CMASK_SHIFT	24
#define PMU_SEL_EVENT_HIGH_SHIFT	32	/* bits 8 to 11, if the event has
						 * them */
#define PMU_SEL_USR		(1u << 16)
#define PMU_SEL_OS		(1u << 17)
#define PMU_SEL_EDGE		(1u << 18)
#define PMU_SEL_PC		(1u << 19)
#define PMU_SEL_INT		(1u << 20)
#define PMU_SEL_EN		(1u << 22)
#define PMU_SEL_INV		(1u << 23)

#define PMU_COUNTERS_MAX	8

/* What CPUID says of a processor. */
struct pmu_cpu_id {
	uint16_t vendor;	/* as in the kernel's modalias: 0 Intel, 2 AMD */
	uint16_t family, model;
	uint32_t perfmon;	/* Intel: EAX of leaf 0Ah, or 0 */
	bool core_extended;	/* AMD: PerfCtrExtCore, leaf 8000_0001h */
	/* AMD: counters by leaf 8000_0022h if it reports PerfMonV2, else 0 */
	uint8_t v2_counters;
};

struct pmu_model {
	/* The processors: by vendor, ranges of families and models, and the version of
	 * Intel's leaf 0Ah; PMU_NEEDS_*. */
	uint16_t vendor, family_first, family_last, model_last;
	uint8_t perfmon_first, needs;

	uint8_t counters;	/* number of counters; 0: CPUID says, as the width */
	uint8_t width;		/* width of a counter, bits */
	uint8_t period_bits;	/* longest period, as a power of two */
	uint8_t cmask_max;	/* largest counter mask; larger ones are reserved */
	uint8_t event_bits;	/* width of an event code: 8, or 12 */
	uint8_t shared_events;	/* first event code of the northbridge; 0: none */
	bool shared_enable;	/* only PerfEvtSel0 has EN, which enables all
				 * counters */
	uint8_t stride;		/* from one counter's registers to the next one's */
	uint32_t msr_evtsel, msr_counter;	/* register numbers of counter 0 */
	/* Bit i of `global` enables counter i, too; writing it to `ack` acknowledges an
	 * overflow.  0: there are no such registers. */
	uint32_t msr_global, msr_ack;
};

enum { PMU_NEEDS_CORE_EXTENDED = 1, PMU_NEEDS_V2 = 2 };

/* Rows of the table; the first that fits a processor is its own. */
enum pmu_row {
	PMU_K8, PMU_AMD_V2, PMU_AMD_EXTENDED, PMU_AMD_10H, PMU_P6, PMU_INTEL_2,
	PMU_INTEL_1, PMU_ROWS
};

extern const struct pmu_model pmu_models[PMU_ROWS];

/* Returns the processor's row, and in *out that row with what CPUID says; PMU_ROWS if
 * there is none. */
enum pmu_row pmu_detect(const struct pmu_cpu_id *id, struct pmu_model *out);

static inline uint32_t pmu_msr_evtsel(const struct pmu_model *m, unsigned int c)
{
	return m->msr_evtsel + c * m->stride;
}

static inline uint32_t pmu_msr_counter(const struct pmu_model *m, unsigned int c)
{
	return m->msr_counter + c * m->stride;
}

/* What a counter counts. */
struct pmu_event {
	uint16_t event;		/* 12 bits at most */
	uint8_t umask, cmask;
	uint8_t allowed;	/* bit i: may use counter i */
	bool usr, os, edge, inv;
	bool pc;		/* pin control: drive the PMi pins */
	bool interrupt;		/* interrupt on overflow */
};

enum pmu_fault {
	PMU_FINE,
	PMU_CODE_RESERVED,	/* event code wider than event_bits */
	PMU_CMASK_RESERVED,	/* counter mask above cmask_max */
	PMU_INV_ALONE,		/* INV without a counter mask to invert */
	PMU_NOWHERE,		/* neither user nor system mode */
};

enum pmu_fault pmu_event_check(const struct pmu_model *m,
			       const struct pmu_event *e);

/* Returns the bits of a perf_event_attr.config that select the event. */
uint64_t pmu_event_config(const struct pmu_event *e);

/* Returns PerfEvtSel of an event on `counter`, enabled; if only the register of
 * counter 0 has EN, the others are returned without it. */
uint64_t pmu_event_select(const struct pmu_model *m, const struct pmu_event *e,
			  unsigned int counter);

/*
 * Assigns to each of n events its own counter: counters[i] from allowed[i]. The
 * result is the first assignment in the order of events and counters, so an
 * event keeps counter 0 as long as no later one needs it.  Returns false if
 * there is none.
 */
bool pmu_assign(const struct pmu_model *m, const uint8_t *allowed,
		unsigned int n, uint8_t *counters);

/* Returns whether 1 <= period <= 2^period_bits. */
bool pmu_period_fits(const struct pmu_model *m, uint64_t period);
/* Returns the initial value of a counter that overflows after `period` events:
 * its two's complement in `width` bits. */
uint64_t pmu_preload(const struct pmu_model *m, uint64_t period);

#endif
