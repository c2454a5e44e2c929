// SPDX-License-Identifier: GPL-2.0-or-later
/* Arithmetic of the performance counters: see tally/pmu.h.  Also compiled into
 * tally. */
#include "tally/pmu.h"

enum { INTEL, AMD = 2, ANY = 0xffff };

const struct pmu_model pmu_models[PMU_ROWS] = {
	/* BKDG 26094 §10.1, §10.2: four counters of 48 bits at C001_0004h; at most
	 * three events in a cycle; the overflow shows in bit 47. */
	[PMU_K8] = {
		.vendor = AMD, .family_first = 15, .family_last = 15,
		.model_last = ANY,
		.counters = 4, .width = 48, .period_bits = 47, .cmask_max = 3,
		.event_bits = 8, .shared_events = 0xe0, .stride = 1,
		.msr_evtsel = 0xc0010000, .msr_counter = 0xc0010004,
	},
	/* APM 2 §13.2 (PerfMonV2): the extended registers, and one that enables all. */
	[PMU_AMD_V2] = {
		.vendor = AMD, .family_first = 0x15, .family_last = ANY,
		.model_last = ANY, .needs = PMU_NEEDS_V2,
		.width = 48, .period_bits = 47, .cmask_max = 0x1f,
		.event_bits = 12, .stride = 2,
		.msr_evtsel = 0xc0010200, .msr_counter = 0xc0010201,
		.msr_global = 0xc0000301, .msr_ack = 0xc0000302,
	},
	/* BKDG 42301 (family 15h): six pairs from C001_0200h; counters of the
	 * northbridge have registers of their own. */
	[PMU_AMD_EXTENDED] = {
		.vendor = AMD, .family_first = 0x15, .family_last = ANY,
		.model_last = ANY, .needs = PMU_NEEDS_CORE_EXTENDED,
		.counters = 6, .width = 48, .period_bits = 47, .cmask_max = 0x1f,
		.event_bits = 12, .stride = 2,
		.msr_evtsel = 0xc0010200, .msr_counter = 0xc0010201,
	},
	/* BKDG 31116 (family 10h): K8's registers, codes of 12 bits. */
	[PMU_AMD_10H] = {
		.vendor = AMD, .family_first = 0x10, .family_last = ANY,
		.model_last = ANY,
		.counters = 4, .width = 48, .period_bits = 47, .cmask_max = 3,
		.event_bits = 12, .shared_events = 0xe0, .stride = 1,
		.msr_evtsel = 0xc0010000, .msr_counter = 0xc0010004,
	},
	/* SDM 3B §18.22: two counters of 40 bits, PerfEvtSel at 186h, PerfCtr at C1h.
	 * A write takes 32 bits and repeats bit 31 above them. */
	[PMU_P6] = {
		.vendor = INTEL, .family_first = 6, .family_last = 6,
		.model_last = 13,
		.counters = 2, .width = 40, .period_bits = 31, .cmask_max = 255,
		.event_bits = 8, .shared_enable = true, .stride = 1,
		.msr_evtsel = 0x186, .msr_counter = 0xc1,
	},
	/* SDM 3B, architectural performance monitoring: version 1 is P6's registers,
	 * each with its own EN; from version 2 on, IA32_PERF_GLOBAL_CTRL enables them,
	 * too.  Versions 3 to 5 add what sampling by these counters does not use. */
	[PMU_INTEL_2] = {
		.vendor = INTEL, .family_first = 6, .family_last = ANY,
		.model_last = ANY, .perfmon_first = 2,
		.period_bits = 31, .cmask_max = 255, .event_bits = 8, .stride = 1,
		.msr_evtsel = 0x186, .msr_counter = 0xc1,
		.msr_global = 0x38f, .msr_ack = 0x390,
	},
	[PMU_INTEL_1] = {
		.vendor = INTEL, .family_first = 6, .family_last = ANY,
		.model_last = ANY, .perfmon_first = 1,
		.period_bits = 31, .cmask_max = 255, .event_bits = 8, .stride = 1,
		.msr_evtsel = 0x186, .msr_counter = 0xc1,
	},
};

static bool fits(const struct pmu_model *m, const struct pmu_cpu_id *id)
{
	return id->vendor == m->vendor && id->family >= m->family_first &&
	       id->family <= m->family_last && id->model <= m->model_last &&
	       (id->perfmon & 0xff) >= m->perfmon_first &&
	       (!(m->needs & PMU_NEEDS_V2) || id->v2_counters) &&
	       (!(m->needs & PMU_NEEDS_CORE_EXTENDED) || id->core_extended);
}

enum pmu_row pmu_detect(const struct pmu_cpu_id *id, struct pmu_model *out)
{
	unsigned int row = 0;

	while (row < PMU_ROWS && !fits(&pmu_models[row], id))
		row++;
	if (row == PMU_ROWS)
		return PMU_ROWS;
	*out = pmu_models[row];
	if (out->perfmon_first) {
		out->counters = id->perfmon >> 8 & 0xff;
		out->width = id->perfmon >> 16 & 0xff;
	} else if (!out->counters) {
		out->counters = id->v2_counters;
	}
	if (out->counters > PMU_COUNTERS_MAX)
		out->counters = PMU_COUNTERS_MAX;
	/* A write sets the counter's upper bits only up to bit 31. */
	return out->counters && out->width > out->period_bits && out->width < 64
	       ? (enum pmu_row)row : PMU_ROWS;
}

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
