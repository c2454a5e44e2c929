// SPDX-License-Identifier: GPL-2.0-or-later
/* See tally/pmu_regs.h.  Compiled into the module and into unit tests. */
#include "tally/pmu_regs.h"

static uint32_t select_of(const struct pmu_bank *b, unsigned int c)
{
	return b->model->msr_evtsel + c;
}

static uint32_t counter_of(const struct pmu_bank *b, unsigned int c)
{
	return b->model->msr_counter + c;
}

static void write_msr(const struct pmu_bank *b, uint32_t msr, uint64_t v)
{
	b->msr->write(b->msr->ctx, msr, v);
}

static uint64_t read_msr(const struct pmu_bank *b, uint32_t msr)
{
	return b->msr->read(b->msr->ctx, msr);
}

/* A write to a P6 counter takes 32 bits: the upper ones of a write must be 0 or
 * are ignored; we write what it will hold anyway. */
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
	/* Bit 31 is clear, so that a sign-extended write reads back. */
	works = keeps(msr, m->msr_counter, 0x2a5a5a5a) &&
		keeps(msr, m->msr_counter, 0x55a5a5a5);
	msr->write_safe(msr->ctx, m->msr_counter, m->period_bits < 32
			? counter & 0xffffffffu : counter);
	msr->write_safe(msr->ctx, m->msr_evtsel, select);
	return works;
}

void pmu_save(struct pmu_bank *b)
{
	for (unsigned int c = 0; c < b->model->counters; c++) {
		b->saved_select[c] = read_msr(b, select_of(b, c));
		b->saved_counter[c] = read_msr(b, counter_of(b, c));
	}
}

/* Counter 0 last: on P6 its register lets all run. */
void pmu_restore(struct pmu_bank *b)
{
	for (unsigned int c = b->model->counters; c-- > 0;) {
		write_counter(b, c, b->saved_counter[c]);
		write_msr(b, select_of(b, c), b->saved_select[c]);
	}
}

/* What PerfEvtSel of a counter holds while it stands still: on P6 that of
 * counter 0 must let the other one run. */
static uint64_t select_idle(const struct pmu_bank *b, unsigned int c)
{
	unsigned int running = b->used & ~b->paused & ~1u;

	return b->model->shared_enable && !c && running ? PMU_SEL_EN : 0;
}

static uint64_t select_now(const struct pmu_bank *b, unsigned int c)
{
	return b->used & ~b->paused & 1u << c ? b->select[c]
					      : select_idle(b, c);
}

void pmu_use(struct pmu_bank *b, unsigned int c, const struct pmu_event *e,
	     uint64_t period)
{
	b->used |= (uint8_t)(1u << c);
	b->paused &= (uint8_t)~(1u << c);
	b->select[c] = pmu_event_select(b->model, e, c);
	b->weight[c] = period;
}

/*
 * Lets those run that are not paused, from where they stand.  An event is set
 * with its counter disabled and enabled by a second write: otherwise the change
 * itself may count as an edge.  On P6 counter 0's register comes last.
 */
static void run(const struct pmu_bank *b)
{
	const struct pmu_model *m = b->model;

	for (unsigned int c = 0; c < m->counters; c++)
		if (b->used & ~b->paused & 1u << c)
			write_msr(b, select_of(b, c), b->select[c] &
				  ~(uint64_t)PMU_SEL_EN);
	for (unsigned int c = m->counters; c-- > 0;)
		if (b->used >> c & 1 || (!c && m->shared_enable && b->used))
			write_msr(b, select_of(b, c), select_now(b, c));
}

void pmu_arm(struct pmu_bank *b)
{
	pmu_disarm(b);
	for (unsigned int c = 0; c < b->model->counters; c++)
		if (b->used >> c & 1)
			write_counter(b, c, pmu_preload(b->model,
							b->weight[c]));
	run(b);
}

void pmu_disarm(struct pmu_bank *b)
{
	/* On P6 the first write stops both. */
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
		if (b->used & ~b->paused & 1u << c &&
		    passed(b, read_msr(b, counter_of(b, c))))
			mask |= 1u << c;
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

void pmu_settle(struct pmu_bank *b, unsigned int c)
{
	write_counter(b, c, pmu_preload(b->model, 1));
}

/* The processor may stand still for long between an NMI and its twin, in virtual
 * machines. */
#define LATE_NS 1000000000u

void pmu_expect(struct pmu_bank *b, uint64_t now_ns)
{
	b->late = true;
	b->late_ns = now_ns;
}

bool pmu_claims(struct pmu_bank *b, unsigned int n, uint64_t now_ns)
{
	bool late = b->late && now_ns - b->late_ns < LATE_NS;

	if (!n) {
		b->late = false;
		return late;
	}
	/* One counter may be that of the NMI that was late, and its own still
	 * come. */
	b->late = late || n > 1;
	b->late_ns = now_ns;
	return true;
}

void pmu_pause(struct pmu_bank *b, unsigned int c)
{
	b->paused |= (uint8_t)(1u << c);
	/* First disabled, then without its event, as pmu_arm has it. */
	write_msr(b, select_of(b, c), 0);
	if (select_idle(b, c))
		write_msr(b, select_of(b, c), select_idle(b, c));
	/* The last one that ran; nothing needs the shared bit any more. */
	if (b->model->shared_enable && c && b->paused & 1)
		write_msr(b, select_of(b, 0), select_idle(b, 0));
	pmu_settle(b, c);
}

void pmu_resume(struct pmu_bank *b, unsigned int c, uint64_t period)
{
	pmu_disarm(b);
	b->paused &= (uint8_t)~(1u << c);
	b->weight[c] = period;
	write_counter(b, c, pmu_preload(b->model, period));
	run(b);
}
