// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu_model.h"

#include <string.h>

static uint64_t mask(const struct pmu_machine *m)
{
	return ((uint64_t)1 << m->model->width) - 1;
}

/* The register that an address names: 0 … 3 selects, 4 … 7 counters. */
static int index_of(const struct pmu_machine *m, uint32_t msr)
{
	uint32_t s = msr - m->model->msr_evtsel, c = msr - m->model->msr_counter;

	if (m->kind == MODEL_ABSENT)
		return -1;
	if (s < m->model->counters)
		return (int)s;
	return c < m->model->counters ? (int)(PMU_COUNTERS_MAX + c) : -1;
}

static int read_safe(void *ctx, uint32_t msr, uint64_t *v)
{
	struct pmu_machine *m = ctx;
	int i = index_of(m, msr);

	if (i < 0)
		return -1;
	*v = 0;
	if (m->kind != MODEL_ZERO)
		*v = i < PMU_COUNTERS_MAX ? m->select[i]
					  : m->counter[i - PMU_COUNTERS_MAX];
	return 0;
}

static int write_safe(void *ctx, uint32_t msr, uint64_t v)
{
	struct pmu_machine *m = ctx;
	int i = index_of(m, msr);

	if (i < 0)
		return -1;
	if (m->kind == MODEL_ZERO)
		return 0;
	if (i >= PMU_COUNTERS_MAX) {
		if (m->kind == MODEL_P6)
			v = (uint64_t)(int64_t)(int32_t)(uint32_t)v;
		m->counter[i - PMU_COUNTERS_MAX] = v & mask(m);
		return 0;
	}
	if (machine_runs(m, (unsigned int)i) && v & PMU_SEL_EN &&
	    (v ^ m->select[i]) & ~(uint64_t)PMU_SEL_EN)
		m->changed_running++;
	/* Bit 22 of PerfEvtSel1 is reserved on P6. */
	if (m->kind == MODEL_P6 && i && v & PMU_SEL_EN)
		m->foreign++;
	m->select[i] = v;
	return 0;
}

static uint64_t plain_read(void *ctx, uint32_t msr)
{
	struct pmu_machine *m = ctx;
	uint64_t v = 0;

	if (read_safe(ctx, msr, &v))
		m->faults++;
	return v;
}

static void plain_write(void *ctx, uint32_t msr, uint64_t v)
{
	struct pmu_machine *m = ctx;

	if (write_safe(ctx, msr, v))
		m->faults++;
}

void machine_init(struct pmu_machine *m, enum pmu_kind kind)
{
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	m->model = kind == MODEL_P6 ? &pmu_model_p6 : &pmu_model_k8;
	m->msr = (struct pmu_msr){
		plain_read, plain_write, read_safe, write_safe, m,
	};
	m->lvtpc = LVT_NMI;
}

bool machine_runs(const struct pmu_machine *m, unsigned int counter)
{
	unsigned int enable = m->kind == MODEL_P6 ? 0 : counter;

	return counter < m->model->counters &&
	       m->select[enable] & PMU_SEL_EN;
}

static void interrupt(struct pmu_machine *m)
{
	if (m->lvtpc & LVT_MASKED) {
		m->lost_nmis++;
		return;
	}
	m->nmis++;
	if (m->kind == MODEL_P6)
		m->lvtpc |= LVT_MASKED;
}

void machine_count_one(struct pmu_machine *m, unsigned int counter, uint64_t n,
		       bool user)
{
	uint64_t s = m->select[counter], left;

	if (!machine_runs(m, counter) ||
	    !(s & (user ? PMU_SEL_USR : PMU_SEL_OS)))
		return;
	left = mask(m) - m->counter[counter];
	m->counter[counter] = (m->counter[counter] + n) & mask(m);
	if (n > left && s & PMU_SEL_INT)
		interrupt(m);
}

void machine_count(struct pmu_machine *m, uint64_t n, bool user)
{
	for (unsigned int c = 0; c < m->model->counters; c++)
		machine_count_one(m, c, n, user);
}
