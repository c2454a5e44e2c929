// SPDX-License-Identifier: GPL-2.0-or-later
#include "pmu_model.h"

#include <string.h>

enum { GLOBAL = 2 * PMU_COUNTERS_MAX, ACK };

static uint64_t mask(const struct pmu_machine *m)
{
	return ((uint64_t)1 << m->model.width) - 1;
}

static bool is_intel(const struct pmu_machine *m)
{
	return m->kind >= MODEL_P6 && m->kind <= MODEL_INTEL_2;
}

/* The register that an address names: 0 … 7 selects, 8 … 15 counters; the numbers are
 * those of the documents. */
static int index_of(const struct pmu_machine *m, uint32_t msr)
{
	static const struct { uint32_t select, counter, step, n, global, ack; } maps[] = {
		[MODEL_K8] = { 0xc0010000, 0xc0010004, 1, 4, 0, 0 },
		[MODEL_AMD_10H] = { 0xc0010000, 0xc0010004, 1, 4, 0, 0 },
		[MODEL_EXTENDED] = { 0xc0010200, 0xc0010201, 2, 6, 0, 0 },
		[MODEL_V2] = { 0xc0010200, 0xc0010201, 2, 6, 0xc0000301,
			       0xc0000302 },
		[MODEL_P6] = { 0x186, 0xc1, 1, 2, 0, 0 },
		[MODEL_INTEL_1] = { 0x186, 0xc1, 1, 2, 0, 0 },
		[MODEL_INTEL_2] = { 0x186, 0xc1, 1, 8, 0x38f, 0x390 },
		[MODEL_ZERO] = { 0xc0010000, 0xc0010004, 1, 4, 0, 0 },
	};

	if (m->kind == MODEL_ABSENT)
		return -1;
	for (uint32_t i = 0; i < maps[m->kind].n; i++) {
		if (msr == maps[m->kind].select + i * maps[m->kind].step)
			return (int)i;
		if (msr == maps[m->kind].counter + i * maps[m->kind].step)
			return (int)(PMU_COUNTERS_MAX + i);
	}
	if (!maps[m->kind].global)
		return -1;
	return msr == maps[m->kind].global ? GLOBAL
	       : msr == maps[m->kind].ack ? ACK : -1;
}

static int read_safe(void *ctx, uint32_t msr, uint64_t *v)
{
	struct pmu_machine *m = ctx;
	int i = index_of(m, msr);

	if (i < 0 || i == ACK)
		return -1;
	*v = 0;
	if (i == GLOBAL)
		*v = m->global;
	else if (m->kind != MODEL_ZERO)
		*v = i < PMU_COUNTERS_MAX ? m->select[i]
					  : m->counter[i - PMU_COUNTERS_MAX];
	return 0;
}

static int write_global(struct pmu_machine *m, int i, uint64_t v)
{
	if (v >> m->model.counters)
		return -1;
	if (i == GLOBAL)
		m->global = v;
	else
		m->status &= ~v;
	return 0;
}

static int write_safe(void *ctx, uint32_t msr, uint64_t v)
{
	struct pmu_machine *m = ctx;
	int i = index_of(m, msr);

	if (i < 0)
		return -1;
	if (i >= GLOBAL)
		return write_global(m, i, v);
	if (m->kind == MODEL_ZERO)
		return 0;
	if (i >= PMU_COUNTERS_MAX) {
		if (is_intel(m))
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

struct pmu_cpu_id machine_id(enum pmu_kind kind)
{
	static const struct pmu_cpu_id ids[] = {
		[MODEL_K8] = { 2, 15, 5, 0, false, 0 },
		[MODEL_AMD_10H] = { 2, 0x10, 4, 0, false, 0 },
		[MODEL_EXTENDED] = { 2, 0x15, 2, 0, true, 0 },
		[MODEL_V2] = { 2, 0x19, 0x61, 0, true, 6 },
		[MODEL_P6] = { 0, 6, 13, 0, false, 0 },
		/* Core Duo: two counters of 40 bits; Ice Lake: eight of 48. */
		[MODEL_INTEL_1] = { 0, 6, 14, 0x07280201, false, 0 },
		[MODEL_INTEL_2] = { 0, 6, 126, 0x08300805, false, 0 },
		[MODEL_ABSENT] = { 2, 15, 5, 0, false, 0 },
	};

	return kind == MODEL_ZERO ? ids[MODEL_K8] : ids[kind];
}

void machine_init(struct pmu_machine *m, enum pmu_kind kind)
{
	const struct pmu_cpu_id id = machine_id(kind);

	memset(m, 0, sizeof(*m));
	m->kind = kind;
	pmu_detect(&id, &m->model);
	m->msr = (struct pmu_msr){
		plain_read, plain_write, read_safe, write_safe, m,
	};
	m->lvtpc = LVT_NMI;
}

bool machine_runs(const struct pmu_machine *m, unsigned int counter)
{
	unsigned int enable = m->kind == MODEL_P6 ? 0 : counter;

	return counter < m->model.counters &&
	       m->select[enable] & PMU_SEL_EN &&
	       (!m->model.msr_global || m->global >> counter & 1);
}

static void interrupt(struct pmu_machine *m)
{
	if (m->lvtpc & LVT_MASKED) {
		m->lost_nmis++;
		return;
	}
	m->nmis++;
	if (is_intel(m))
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
	if (n <= left)
		return;
	m->unacknowledged += m->model.msr_global && m->status >> counter & 1;
	m->status |= 1ull << counter;
	if (s & PMU_SEL_INT)
		interrupt(m);
}

void machine_count(struct pmu_machine *m, uint64_t n, bool user)
{
	for (unsigned int c = 0; c < m->model.counters; c++)
		machine_count_one(m, c, n, user);
}
