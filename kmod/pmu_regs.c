// SPDX-License-Identifier: GPL-2.0-or-later
/* Accesses the counters of one CPU: see tally/pmu_regs.h.  Compiled into the
 * module and into unit tests. */
#include "tally/pmu_regs.h"

static uint32_t select_of(const struct pmu_bank *b, unsigned int c)
{
	return pmu_msr_evtsel(b->model, c);
}

static uint32_t counter_of(const struct pmu_bank *b, unsigned int c)
{
	return pmu_msr_counter(b->model, c);
}

static void write_msr(const struct pmu_bank *b, uint32_t msr, uint64_t v)
{
	b->msr->write(b->msr->ctx, msr, v);
}

static uint64_t read_msr(const struct pmu_bank *b, uint32_t msr)
{
	return b->msr->read(b->msr->ctx, msr);
}

/* A write to a P6 counter takes 32 bits.  The upper bits of a write must be 0 or
 * are ignored, so write the value that the counter will hold. */
static void write_counter(const struct pmu_bank *b, unsigned int c, uint64_t v)
{
	if (b->model->period_bits < 32)
		v &= 0xffffffffu;
	write_msr(b, counter_of(b, c), v);
}

static bool keeps(const struct pmu_msr *m, uint32_t msr, uint64_t v)
{
	uint64_t got;

	return !m->write_safe(m->ctx, msr, v) &&
	       !m->read_safe(m->ctx, msr, &got) && got == v;
}

bool pmu_probe(const struct pmu_model *m, const struct pmu_msr *msr)
{
	uint64_t select, counter;
	bool works;

	if (msr->read_safe(msr->ctx, m->msr_evtsel, &select) ||
	    msr->read_safe(msr->ctx, m->msr_counter, &counter) ||
	    msr->write_safe(msr->ctx, m->msr_evtsel, 0))
		return false;
	/* Bit 31 is clear, so that a sign-extended write reads back unchanged. */
	works = keeps(msr, m->msr_counter, 0x2a5a5a5a) &&
		keeps(msr, m->msr_counter, 0x55a5a5a5);
	msr->write_safe(msr->ctx, m->msr_counter, m->period_bits < 32
			? counter & 0xffffffffu : counter);
	msr->write_safe(msr->ctx, m->msr_evtsel, select);
	return works;
}

/* Enables counters by the register that exists beside PerfEvtSel, if it does. */
static void write_global(const struct pmu_bank *b, uint64_t v)
{
	if (b->model->msr_global)
		write_msr(b, b->model->msr_global, v);
}

void pmu_save(struct pmu_bank *b)
{
	if (b->model->msr_global)
		b->saved_global = read_msr(b, b->model->msr_global);
	for (unsigned int c = 0; c < b->model->counters; c++) {
		b->saved_select[c] = read_msr(b, select_of(b, c));
		b->saved_counter[c] = read_msr(b, counter_of(b, c));
	}
}

/* Restore counter 0 last: on P6 its register enables all counters. */
void pmu_restore(struct pmu_bank *b)
{
	for (unsigned int c = b->model->counters; c-- > 0;) {
		write_counter(b, c, b->saved_counter[c]);
		write_msr(b, select_of(b, c), b->saved_select[c]);
	}
	write_global(b, b->saved_global);
}

/* Returns PerfEvtSel of a counter while it runs.  On P6, that of counter 0 must
 * enable the other counter. */
static uint64_t select_running(const struct pmu_bank *b, unsigned int c)
{
	if (b->used >> c & 1)
		return b->select[c];
	return b->model->shared_enable && !c && b->used ? PMU_SEL_EN : 0;
}

static bool has_enable(const struct pmu_bank *b, unsigned int c)
{
	return b->used >> c & 1 || (b->model->shared_enable && !c && b->used);
}

void pmu_use(struct pmu_bank *b, unsigned int c, const struct pmu_event *e,
	     uint64_t period)
{
	b->used |= (uint8_t)(1u << c);
	b->select[c] = pmu_event_select(b->model, e, c);
	b->weight[c] = period;
}

/* On P6, counter 0's register comes last because it enables all counters. */
void pmu_go(const struct pmu_bank *b)
{
	for (unsigned int c = b->model->counters; c-- > 0;)
		if (has_enable(b, c))
			write_msr(b, select_of(b, c), select_running(b, c));
	write_global(b, b->used);
}

/* On P6, the first write stops both counters. */
void pmu_halt(const struct pmu_bank *b)
{
	write_global(b, 0);
	for (unsigned int c = 0; c < b->model->counters; c++)
		if (has_enable(b, c))
			write_msr(b, select_of(b, c), select_running(b, c) &
				  ~(uint64_t)PMU_SEL_EN);
}

void pmu_load(const struct pmu_bank *b)
{
	pmu_disarm(b);
	for (unsigned int c = 0; c < b->model->counters; c++)
		if (b->used >> c & 1)
			write_counter(b, c, pmu_preload(b->model,
							b->weight[c]));
}

/* Sets an event while its counter is disabled and enables it by a second write.
 * Otherwise the change itself may count as an edge. */
void pmu_arm(const struct pmu_bank *b)
{
	pmu_load(b);
	pmu_halt(b);
	pmu_go(b);
}

void pmu_disarm(const struct pmu_bank *b)
{
	write_global(b, 0);
	for (unsigned int c = 0; c < b->model->counters; c++)
		if (b->used >> c & 1 || (!c && b->model->shared_enable))
			write_msr(b, select_of(b, c), 0);
}

static bool passed(const struct pmu_bank *b, uint64_t value)
{
	return !(value >> (b->model->width - 1) & 1);
}

unsigned int pmu_overflowed(const struct pmu_bank *b)
{
	unsigned int mask = 0;

	for (unsigned int c = 0; c < b->model->counters; c++)
		if (b->used >> c & 1 &&
		    passed(b, read_msr(b, counter_of(b, c))))
			mask |= 1u << c;
	if (mask && b->model->msr_ack)
		write_msr(b, b->model->msr_ack, mask);
	return mask;
}

uint64_t pmu_rearm(struct pmu_bank *b, unsigned int c, uint64_t period)
{
	uint64_t over = read_msr(b, counter_of(b, c)), rest;
	uint64_t old = b->weight[c];

	if (!passed(b, over))
		over = 0;
	rest = over < period ? period - over : 0;
	if (rest < (period + 3) / 4)
		rest = (period + 3) / 4;
	write_counter(b, c, pmu_preload(b->model, rest));
	b->weight[c] = over + rest;
	return old;
}

void pmu_expect(struct pmu_bank *b, uint64_t now_ns)
{
	b->late = true;
	b->late_ns = now_ns;
}

bool pmu_claims(struct pmu_bank *b, unsigned int n, uint64_t now_ns)
{
	bool late = b->late && now_ns - b->late_ns < PMU_LATE_NS;

	if (!n) {
		b->late = false;
		return late;
	}
	/* One of the counters may belong to the late NMI, and the NMI of this one
	 * may follow. */
	b->late = late || n > 1;
	b->late_ns = now_ns;
	return true;
}
