// SPDX-License-Identifier: GPL-2.0-or-later
/* Arithmetic of the performance counters: see tally/pmu.h.  Also compiled into
 * tally. */
#include "tally/pmu.h"

/* BKDG §10.1, §10.2: four counters of 48 bits at C001_0004h; at most three
 * events in a cycle; the overflow shows in bit 47. */
const struct pmu_model pmu_model_k8 = {
	.counters = 4,
	.width = 48,
	.period_bits = 47,
	.cmask_max = 3,
	.event_bits = 8,
	.shared_events = 0xe0,
	.msr_evtsel = 0xc0010000,
	.msr_counter = 0xc0010004,
};

/* SDM 3B §18.22: two counters of 40 bits, PerfEvtSel at 186h, PerfCtr at C1h.
 * A write takes 32 bits and repeats bit 31 above them. */
const struct pmu_model pmu_model_p6 = {
	.counters = 2,
	.width = 40,
	.period_bits = 31,
	.cmask_max = 255,
	.event_bits = 8,
	.shared_enable = true,
	.msr_evtsel = 0x186,
	.msr_counter = 0xc1,
};

enum pmu_fault pmu_event_check(const struct pmu_model *m,
			       const struct pmu_event *e)
{
	if (e->event >> m->event_bits)
		return PMU_CODE_RESERVED;
	if (e->cmask > m->cmask_max)
		return PMU_CMASK_RESERVED;
	if (e->inv && !e->cmask)
		return PMU_INV_ALONE;
	if (!e->usr && !e->os)
		return PMU_NOWHERE;
	return PMU_FINE;
}

uint64_t pmu_event_config(const struct pmu_event *e)
{
	return (uint64_t)(e->event & 0xff) << PMU_SEL_EVENT_SHIFT |
	       (uint64_t)(e->event >> 8 & 0xf) << PMU_SEL_EVENT_HIGH_SHIFT |
	       (uint64_t)e->umask << PMU_SEL_UMASK_SHIFT |
	       (uint64_t)e->cmask << PMU_SEL_CMASK_SHIFT |
	       (e->edge ? PMU_SEL_EDGE : 0) | (e->inv ? PMU_SEL_INV : 0) |
	       (e->pc ? PMU_SEL_PC : 0);
}

uint64_t pmu_event_select(const struct pmu_model *m, const struct pmu_event *e,
			  unsigned int counter)
{
	return pmu_event_config(e) | (e->usr ? PMU_SEL_USR : 0) |
	       (e->os ? PMU_SEL_OS : 0) | (e->interrupt ? PMU_SEL_INT : 0) |
	       (m->shared_enable && counter ? 0 : PMU_SEL_EN);
}

bool pmu_assign(const struct pmu_model *m, const uint8_t *allowed,
		unsigned int n, uint8_t *counters)
{
	unsigned int taken = 0, i = 0, c = 0;

	if (n > m->counters)
		return false;
	while (i < n) {
		while (c < m->counters &&
		       (!(allowed[i] >> c & 1) || taken >> c & 1))
			c++;
		if (c < m->counters) {
			counters[i++] = (uint8_t)c;
			taken |= 1u << c;
			c = 0;
			continue;
		}
		if (!i)
			return false;
		c = counters[--i];	/* move the previous one on */
		taken &= ~(1u << c);
		c++;
	}
	return true;
}

bool pmu_period_fits(const struct pmu_model *m, uint64_t period)
{
	return period && period <= (uint64_t)1 << m->period_bits;
}

uint64_t pmu_preload(const struct pmu_model *m, uint64_t period)
{
	return (0 - period) & (((uint64_t)1 << m->width) - 1);
}
