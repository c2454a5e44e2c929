// SPDX-License-Identifier: GPL-2.0
/*
 * A source of samples: the performance counters of a row of pmu_models[], and their
 * NMI.
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
#include <linux/string.h>
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
	bool shared;			/* it counts its node's northbridge
					 * events */
	u64 since[PMU_COUNTERS_MAX];	/* time of the last overflow, ns */
};

static DEFINE_PER_CPU(struct pmu_cpu, pmu_cpus);
/* guarded by sessions_lock */
static struct session *owner;
static struct pmu_model here;	/* this machine's counters; set once */
static u32 here_is;		/* TALLY_PMU_*, or 0: none */
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

static void counters_release(unsigned int n)
{
	while (n-- > 0) {
		release_evntsel_nmi(pmu_msr_evtsel(&here, n));
		release_perfctr_nmi(pmu_msr_counter(&here, n));
	}
}

/* Reserves all counters; perf also reserves all for its first event. */
static int counters_reserve(void)
{
	unsigned int i;

	for (i = 0; i < here.counters; i++) {
		if (!reserve_perfctr_nmi(pmu_msr_counter(&here, i)))
			break;
		if (!reserve_evntsel_nmi(pmu_msr_evtsel(&here, i))) {
			release_perfctr_nmi(pmu_msr_counter(&here, i));
			break;
		}
	}
	if (i == here.counters)
		return 0;
	counters_release(i);
	return -EBUSY;
}

/* Numbers of the interface, by row.  Recorders name events for K8 and P6; elsewhere the
 * kernel's own events are better, so those counters are for programs that ask. */
static const u8 source_of[PMU_ROWS] = {
	[PMU_K8] = TALLY_PMU_K8,
	[PMU_AMD_10H] = TALLY_PMU_AMD,
	[PMU_AMD_EXTENDED] = TALLY_PMU_AMD,
	[PMU_AMD_V2] = TALLY_PMU_AMD,
	[PMU_P6] = TALLY_PMU_P6,
	[PMU_INTEL_1] = TALLY_PMU_INTEL,
	[PMU_INTEL_2] = TALLY_PMU_INTEL,
};

/* Cores of different kinds may have different counters. */
void pmu_init(void)
{
	struct pmu_cpu_id id = {
		.vendor = boot_cpu_data.x86_vendor,
		.family = boot_cpu_data.x86, .model = boot_cpu_data.x86_model,
		.core_extended = boot_cpu_has(X86_FEATURE_PERFCTR_CORE),
	};
	enum pmu_row row;

	if (!boot_cpu_has(X86_FEATURE_APIC) ||
	    boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return;
	if (id.vendor == X86_VENDOR_INTEL && boot_cpu_data.cpuid_level >= 0xa)
		id.perfmon = cpuid_eax(0xa);
	if (id.vendor == X86_VENDOR_AMD &&
	    boot_cpu_data.extended_cpuid_level >= 0x80000022 &&
	    cpuid_eax(0x80000022) & 1)
		id.v2_counters = cpuid_ebx(0x80000022) & 0xf;
	row = pmu_detect(&id, &here);
	if (row == PMU_ROWS)
		return;
	if (source_of[row] != TALLY_PMU_K8 && source_of[row] != TALLY_PMU_P6 &&
	    !all_counters)
		return;
	here_is = source_of[row];
}

/* Tests the counters.  In virtual machines the registers may ignore writes
 * although the family matches.  Counters in use by others do work. */
static unsigned int pmu_present(u32 which)
{
	static int works = -1;	/* guarded by sessions_lock */

	if (which != here_is)
		return 0;
	if (works < 0) {
		if (counters_reserve())
			return here.counters;
		preempt_disable();
		works = pmu_probe(&here, &msrs);
		preempt_enable();
		counters_release(here.counters);
	}
	return works ? here.counters : 0;
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

static bool assign(const struct tally_setup *u, u8 *counters)
{
	u8 allowed[TALLY_EVENTS_MAX];
	unsigned int i;

	for (i = 0; i < u->nevents; i++) {
		allowed[i] = u->events[i].allowed;
		if (!allowed[i])
			allowed[i] = (1u << here.counters) - 1;
	}
	return pmu_assign(&here, allowed, u->nevents, counters);
}

static int pmu_check(const struct tally_setup *u)
{
	u8 counters[TALLY_EVENTS_MAX];
	unsigned int i;

	if (u->source != here_is)
		return -ENODEV;
	for (i = 0; i < u->nevents; i++) {
		struct pmu_event e = event_of(&u->events[i]);
		u64 period = u->events[i].period;

		if (pmu_event_check(&here, &e) != PMU_FINE ||
		    period < TALLY_PERIOD_MIN ||
		    !pmu_period_fits(&here, period) ||
		    u->events[i].freq > NSEC_PER_SEC / TALLY_PERIOD_MIN ||
		    e.allowed >> here.counters)
			return -EINVAL;
	}
	return assign(u, counters) ? 0 : -EINVAL;
}

static u64 period_most(void)
{
	return 1ull << (here.period_bits - 1);
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
			period_most());
}

/* Returns the next period, limited to what the counter can hold. */
static u64 next_period(struct cpu_state *c, unsigned int event)
{
	return min(sample_jitter(c, c->ev[event].mean),
		   1ull << here.period_bits);
}

static void counter_hit(struct pmu_cpu *p, unsigned int i, struct pt_regs *regs,
			u64 now)
{
	struct cpu_state *c = p->c;
	unsigned int event = p->event[i];
	u64 freq = c->s->setup.events[event].freq, weight = p->bank.weight[i];

	if (sample_take(c, event, regs, weight) & SAMPLE_TOO_FAST)
		sample_slower(c, event, period_most());
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

static int pmu_begin(struct session *s)
{
	int r;

	if (owner)
		return -EBUSY;
	if (!pmu_present(s->setup.source))
		return -ENODEV;
	r = counters_reserve();
	if (r)
		return r;
	assign(&s->setup, counter_of);
	/* The handler stays until the module is removed, because NMIs may arrive
	 * late. */
	if (!hooked)
		r = register_nmi_handler(NMI_LOCAL, pmu_nmi, 0, "tally");
	if (r) {
		counters_release(here.counters);
		return r;
	}
	hooked = true;
	owner = s;
	return 0;
}

static void pmu_end(struct session *s)
{
	if (owner != s)
		return;
	counters_release(here.counters);
	owner = NULL;
}

/* Codes of the northbridge are also those with more than 8 bits that end so. */
static bool is_shared(const struct tally_event *e)
{
	return here.shared_events && e->event >= here.shared_events;
}

/* Returns the first other core of the CPU's node that samples, or nr_cpu_ids.
 * Guarded by sessions_lock. */
static unsigned int core_beside(unsigned int cpu, bool counts_shared)
{
	unsigned int i;

	for_each_cpu(i, topology_core_cpumask(cpu)) {
		const struct pmu_cpu *p = per_cpu_ptr(&pmu_cpus, i);

		if (i != cpu && p->c && (p->shared || !counts_shared))
			return i;
	}
	return nr_cpu_ids;
}

static void pmu_start_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	const struct tally_setup *u = &c->s->setup;
	unsigned int i;

	/* An NMI of the previous recording may still arrive, even now.  An assignment to
	 * the whole bank would forget for a moment that it is expected. */
	memset(&p->bank, 0, offsetof(struct pmu_bank, late));
	p->bank.model = &here;
	p->bank.msr = &msrs;
	/* One core of a node counts northbridge events, and the other cores leave
	 * that counter alone (BKDG §10.1). */
	p->shared = core_beside(c->cpu, true) == nr_cpu_ids;
	pmu_save(&p->bank);
	p->lvtpc = apic->read(APIC_LVTPC);
	for (i = 0; i < u->nevents; i++) {
		struct pmu_event e = event_of(&u->events[i]);
		unsigned int k = counter_of[i];

		if (is_shared(&u->events[i]) && !p->shared)
			continue;
		p->event[k] = i;
		p->since[k] = ktime_get_mono_fast_ns();
		c->ev[i].stats.counter = k;
		pmu_use(&p->bank, k, &e, next_period(c, i));
	}
	/* What the counters still hold would be an overflow to that NMI. */
	pmu_load(&p->bank);
	barrier();
	WRITE_ONCE(p->c, c);
	barrier();
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	pmu_arm(&p->bank);
}

static void pmu_stop_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);

	pmu_disarm(&p->bank);
	/* A counter may have overflowed just now, or been handled while its NMI is
	 * under way.  It may arrive at any moment from now on. */
	pmu_expect(&p->bank, ktime_get_mono_fast_ns());
	barrier();
	WRITE_ONCE(p->c, NULL);
	barrier();
	apic->write(APIC_LVTPC, p->lvtpc);
	pmu_restore(&p->bank);
}

/* Called within hotplug.  If the core that counted northbridge events has gone,
 * another one starts again with them. */
static void pmu_cpu_changed(struct session *s, unsigned int cpu, bool came)
{
	unsigned int i, next;

	if (owner != s || came || core_beside(cpu, true) < nr_cpu_ids)
		return;
	next = core_beside(cpu, false);
	if (next >= nr_cpu_ids)
		return;
	for (i = 0; i < s->setup.nevents; i++)
		if (is_shared(&s->setup.events[i])) {
			session_restart_cpu(s, next);
			return;
		}
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

const struct source pmu_source = {
	.present = pmu_present,
	.check = pmu_check,
	.begin = pmu_begin,
	.end = pmu_end,
	.start_cpu = pmu_start_cpu,
	.stop_cpu = pmu_stop_cpu,
	.pause_cpu = pmu_pause_cpu,
	.resume_cpu = pmu_resume_cpu,
	.cpu_changed = pmu_cpu_changed,
};
