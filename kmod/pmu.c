// SPDX-License-Identifier: GPL-2.0
/*
 * A source of samples: the performance counters of K8 and P6 and their NMI.
 *
 * One recording at a time uses them on all CPUs, after reserving them from the
 * kernel's own users.  BKDG §10.1, SDM 3B §18.22; the local APIC's entry for
 * performance counters is SDM 3A §10.5.1.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <asm/processor.h>

#include "compat.h"
#include "tally.h"
#include "tally/pmu_regs.h"

struct pmu_cpu {
	struct cpu_state *c;		/* NULL: the CPU's counters are not in use
					 * by tally */
	struct pmu_bank bank;
	u32 lvtpc;			/* previous contents of the register */
	s8 event[PMU_COUNTERS_MAX];	/* event that a counter counts, or -1 */
	u64 since[PMU_COUNTERS_MAX];	/* time of the last overflow, ns */
};

static DEFINE_PER_CPU(struct pmu_cpu, pmu_cpus);
/* guarded by sessions_lock */
static struct session *owner;
static const struct pmu_model *owner_model;
static bool hooked;		/* the handler is installed; guarded by
				 * sessions_lock */
static u8 counter_of[TALLY_EVENTS_MAX];

static u64 msr_read(void *ctx, u32 msr)
{
	u64 v;

	tally_rdmsr(msr, v);
	return v;
}

static void msr_write(void *ctx, u32 msr, u64 v)
{
	tally_wrmsr(msr, v);
}

static int msr_read_safe(void *ctx, u32 msr, u64 *v)
{
	return tally_rdmsr_safe(msr, v);
}

static int msr_write_safe(void *ctx, u32 msr, u64 v)
{
	return tally_wrmsr_safe(msr, v);
}

static const struct pmu_msr msrs = {
	msr_read, msr_write, msr_read_safe, msr_write_safe, NULL,
};

static void counters_release(const struct pmu_model *m, unsigned int n)
{
	while (n-- > 0) {
		release_evntsel_nmi(m->msr_evtsel + n);
		release_perfctr_nmi(m->msr_counter + n);
	}
}

/* Reserves all counters; perf also reserves all for its first event. */
static int counters_reserve(const struct pmu_model *m)
{
	unsigned int i;

	for (i = 0; i < m->counters; i++) {
		if (!reserve_perfctr_nmi(m->msr_counter + i))
			break;
		if (!reserve_evntsel_nmi(m->msr_evtsel + i)) {
			release_perfctr_nmi(m->msr_counter + i);
			break;
		}
	}
	if (i == m->counters)
		return 0;
	counters_release(m, i);
	return -EBUSY;
}

static bool family_is(const struct pmu_model *m)
{
	if (!boot_cpu_has(X86_FEATURE_APIC))
		return false;
	if (m == &pmu_model_k8)
		return boot_cpu_data.x86_vendor == X86_VENDOR_AMD &&
		       boot_cpu_data.x86 == 0xf;
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       boot_cpu_data.x86 == 6 && boot_cpu_data.x86_model <= 13;
}

/* Tests the counters.  In virtual machines the registers may ignore writes
 * although the family matches.  Counters in use by others do work. */
static unsigned int present(const struct pmu_model *m)
{
	static int works = -1;	/* guarded by sessions_lock; a machine has only one
				 * model */

	if (!family_is(m))
		return 0;
	if (works < 0) {
		if (counters_reserve(m))
			return m->counters;
		preempt_disable();
		works = pmu_probe(m, &msrs);
		preempt_enable();
		counters_release(m, m->counters);
	}
	return works ? m->counters : 0;
}

static unsigned int k8_present(void)
{
	return present(&pmu_model_k8);
}

static unsigned int p6_present(void)
{
	return present(&pmu_model_p6);
}

static struct pmu_event event_of(const struct tally_event *e)
{
	return (struct pmu_event){
		.event = e->event | (e->flags & TALLY_EVENT_HIGH) >>
			 (TALLY_EVENT_HIGH_SHIFT - 8),
		.umask = e->umask, .cmask = e->cmask,
		.allowed = e->allowed,
		.usr = e->flags & TALLY_EVENT_USER,
		.os = e->flags & TALLY_EVENT_KERNEL,
		.edge = e->flags & TALLY_EVENT_EDGE,
		.inv = e->flags & TALLY_EVENT_INV,
		.pc = e->flags & TALLY_EVENT_PC,
		.interrupt = true,
	};
}

static bool assign(const struct pmu_model *m, const struct tally_setup *u,
		   u8 *counters)
{
	u8 allowed[TALLY_EVENTS_MAX];
	unsigned int i;

	for (i = 0; i < u->nevents; i++) {
		allowed[i] = u->events[i].allowed;
		if (!allowed[i])
			allowed[i] = (1u << m->counters) - 1;
	}
	return pmu_assign(m, allowed, u->nevents, counters);
}

static int check(const struct pmu_model *m, const struct tally_setup *u)
{
	u8 counters[TALLY_EVENTS_MAX];
	unsigned int i;

	for (i = 0; i < u->nevents; i++) {
		struct pmu_event e = event_of(&u->events[i]);
		u64 period = u->events[i].period;

		if (pmu_event_check(m, &e) != PMU_FINE ||
		    period < TALLY_PERIOD_MIN || !pmu_period_fits(m, period) ||
		    u->events[i].freq > NSEC_PER_SEC / TALLY_PERIOD_MIN ||
		    e.allowed >> m->counters)
			return -EINVAL;
	}
	return assign(m, u, counters) ? 0 : -EINVAL;
}

static int k8_check(const struct tally_setup *u)
{
	return check(&pmu_model_k8, u);
}

static int p6_check(const struct tally_setup *u)
{
	return check(&pmu_model_p6, u);
}

static u64 period_most(const struct pmu_model *m)
{
	return 1ull << (m->period_bits - 1);
}

/* Adapts the period to the requested rate by the last period's duration:
 * gradually, and within a factor of four. */
static void adapt(struct pmu_cpu *p, unsigned int counter, u64 freq, u64 weight,
		  u64 now)
{
	struct cpu_event *e = &p->c->ev[p->event[counter]];
	u64 us = div_u64(now - p->since[counter], 1000) + 1, want;

	want = div64_u64(min(weight, 1ull << 40) *
			 (div64_u64(USEC_PER_SEC, freq) + 1), us);
	want = clamp(want, e->mean / 4, e->mean * 4);
	e->mean = clamp((e->mean * 3 + want) / 4, (u64)TALLY_PERIOD_MIN,
			period_most(p->bank.model));
}

/* Returns the next period, limited to what the counter can hold. */
static u64 next_period(struct cpu_state *c, unsigned int event)
{
	return min(sample_jitter(c, c->ev[event].mean),
		   1ull << owner_model->period_bits);
}

static void counter_hit(struct pmu_cpu *p, unsigned int i, struct pt_regs *regs,
			u64 now)
{
	struct cpu_state *c = p->c;
	unsigned int event = p->event[i];
	u64 freq = c->s->setup.events[event].freq, weight = p->bank.weight[i];

	if (sample_take(c, event, regs, weight) & SAMPLE_TOO_FAST)
		sample_slower(c, event, period_most(p->bank.model));
	else if (freq)
		adapt(p, i, freq, weight, now);
	p->since[i] = now;
	pmu_rearm(&p->bank, i, next_period(c, event));
}

static int pmu_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	u64 now = ktime_get_mono_fast_ns();
	unsigned int i, mask, n = 0;

	/* The last NMI of a stopped recording may arrive now. */
	if (!p->c) {
		if (!pmu_claims(&p->bank, 0, now))
			return NMI_DONE;
		apic->write(APIC_LVTPC, p->lvtpc);
		return 1;
	}
	/* Intel's APIC masks the entry on delivery. */
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	mask = pmu_overflowed(&p->bank);
	for (i = 0; i < p->bank.model->counters; i++) {
		if (!(mask >> i & 1))
			continue;
		n++;
		counter_hit(p, i, regs, now);
	}
	if (!pmu_claims(&p->bank, n, now))
		return NMI_DONE;
	if (!n)
		p->c->unclaimed++;
	/* The result is the number of overflows.  Of two NMIs that arrive
	 * together, the second is swallowed. */
	return n ? n : 1;
}

static int begin(struct session *s, const struct pmu_model *m)
{
	int r;

	if (owner)
		return -EBUSY;
	if (!present(m))
		return -ENODEV;
	r = counters_reserve(m);
	if (r)
		return r;
	assign(m, &s->setup, counter_of);
	/* The handler stays until the module is removed, because NMIs may arrive
	 * late. */
	if (!hooked)
		r = register_nmi_handler(NMI_LOCAL, pmu_nmi, 0, "tally");
	if (r) {
		counters_release(m, m->counters);
		return r;
	}
	hooked = true;
	owner = s;
	owner_model = m;
	return 0;
}

static int k8_begin(struct session *s)
{
	return begin(s, &pmu_model_k8);
}

static int p6_begin(struct session *s)
{
	return begin(s, &pmu_model_p6);
}

static void pmu_end(struct session *s)
{
	if (owner != s)
		return;
	counters_release(owner_model, owner_model->counters);
	owner = NULL;
}

/* Returns whether the event is counted on this CPU. One core of a node counts
 * northbridge events, and the other cores leave that counter alone (BKDG §10.1). */
static bool counts_here(const struct pmu_model *m, const struct tally_event *e,
			unsigned int cpu)
{
	if (!m->shared_events || e->event < m->shared_events)
		return true;
	return cpumask_first_and(topology_core_cpumask(cpu),
				 cpu_online_mask) == cpu;
}

static void pmu_start_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	const struct tally_setup *u = &c->s->setup;
	unsigned int i;

	/* An NMI of the previous recording may still arrive. */
	p->bank = (struct pmu_bank){
		.model = owner_model, .msr = &msrs,
		.late = p->bank.late, .late_ns = p->bank.late_ns,
	};
	pmu_save(&p->bank);
	p->lvtpc = apic->read(APIC_LVTPC);
	for (i = 0; i < u->nevents; i++) {
		struct pmu_event e = event_of(&u->events[i]);
		unsigned int k = counter_of[i];

		if (!counts_here(owner_model, &u->events[i], c->cpu))
			continue;
		p->event[k] = i;
		p->since[k] = ktime_get_mono_fast_ns();
		c->ev[i].stats.counter = k;
		pmu_use(&p->bank, k, &e, next_period(c, i));
	}
	WRITE_ONCE(p->c, c);
	barrier();
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	pmu_arm(&p->bank);
}

static void pmu_stop_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);

	pmu_disarm(&p->bank);
	WRITE_ONCE(p->c, NULL);
	barrier();
	/* A counter may have overflowed just now, or been handled while its NMI is
	 * under way. */
	pmu_expect(&p->bank, ktime_get_mono_fast_ns());
	apic->write(APIC_LVTPC, p->lvtpc);
	pmu_restore(&p->bank);
}

static void pmu_pause_cpu(struct cpu_state *c)
{
	pmu_halt(&this_cpu_ptr(&pmu_cpus)->bank);
}

static void pmu_resume_cpu(struct cpu_state *c)
{
	pmu_go(&this_cpu_ptr(&pmu_cpus)->bank);
}

static void nothing(void *arg)
{
}

/* A processor handles a pending NMI before anything else.  No NMI is pending once
 * each CPU has answered, a moment after the last recording. */
void pmu_exit(void)
{
	if (!hooked)
		return;
	msleep(PMU_LATE_NS / NSEC_PER_MSEC);
	on_each_cpu(nothing, NULL, 1);
	unregister_nmi_handler(NMI_LOCAL, "tally");
}

#define PMU_SOURCE(which) {			\
	.present = which##_present,		\
	.check = which##_check,			\
	.begin = which##_begin,			\
	.end = pmu_end,				\
	.start_cpu = pmu_start_cpu,		\
	.stop_cpu = pmu_stop_cpu,		\
	.pause_cpu = pmu_pause_cpu,		\
	.resume_cpu = pmu_resume_cpu,		\
}

const struct source pmu_k8_source = PMU_SOURCE(k8);
const struct source pmu_p6_source = PMU_SOURCE(p6);
