// SPDX-License-Identifier: GPL-2.0
/*
 * The performance counters of K8 and P6 and their NMI.
 *
 * One recording at a time has them, on all CPUs, after reserving them from the
 * kernel's own users.  BKDG §10.1, SDM 3B §18.22; the local APIC's entry for
 * performance counters is SDM 3A §10.5.1.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
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

#define PERIOD_MIN	100u
#define DRAIN_MS	20u
#define TEND_TRIES	3u

struct pmu_cpu {
	struct cpu_state *c;		/* NULL: not ours */
	bool armed;
	bool quiet;			/* pmu_tick changes the bank */
	struct pmu_bank bank;
	u32 lvtpc;			/* as it was */
	s8 event[PMU_COUNTERS_MAX];	/* that a counter counts, or -1 */
	u64 mean[PMU_COUNTERS_MAX];	/* period before jitter, by counter */
	u64 since[PMU_COUNTERS_MAX];	/* the last overflow */
};

static DEFINE_PER_CPU(struct pmu_cpu, pmu_cpus);
/* sessions_lock */
static struct session *owner;
static const struct pmu_model *owner_model;
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

/* All of them: perf takes all for its first event, too. */
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

/* The family alone proves nothing: in virtual machines the registers may ignore
 * writes.  Counters that somebody holds do work. */
static unsigned int present(const struct pmu_model *m)
{
	static int works = -1;	/* sessions_lock; only one model is ours */

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
		.event = e->event, .umask = e->umask, .cmask = e->cmask,
		.allowed = e->allowed,
		.usr = e->flags & TALLY_EVENT_USER,
		.os = e->flags & TALLY_EVENT_KERNEL,
		.edge = e->flags & TALLY_EVENT_EDGE,
		.inv = e->flags & TALLY_EVENT_INV,
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

		/* Jitter adds an eighth. */
		if (pmu_event_check(m, &e) != PMU_FINE || period < PERIOD_MIN ||
		    !pmu_period_fits(m, period) ||
		    !pmu_period_fits(m, period + (period >> 3)) ||
		    u->events[i].freq > NSEC_PER_SEC / PERIOD_MIN ||
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

/* A period for the rate that was asked for, by the last one's duration: slowly,
 * and within a factor of four. */
static void adapt(struct pmu_cpu *p, unsigned int counter, u64 freq, u64 weight,
		  u64 now)
{
	u64 most = 1ull << (p->bank.model->period_bits - 1);
	u64 us = div_u64(now - p->since[counter], 1000) + 1;
	u64 mean = p->mean[counter], want;

	p->since[counter] = now;
	want = div64_u64(min(weight, 1ull << 40) *
			 (div64_u64(USEC_PER_SEC, freq) + 1), us);
	want = clamp(want, mean / 4, mean * 4);
	p->mean[counter] = clamp((mean * 3 + want) / 4, (u64)PERIOD_MIN, most);
}

/* True when the counter stands still now. */
static bool counter_hit(struct pmu_cpu *p, unsigned int i, struct pt_regs *regs,
			u64 now)
{
	struct cpu_state *c = p->c;
	unsigned int event = p->event[i];
	u64 freq = c->s->setup.events[event].freq, weight;

	weight = pmu_rearm(&p->bank, i, sample_jitter(c, p->mean[i]));
	if (freq)
		adapt(p, i, freq, weight, now);
	if (sample_take(c, event, regs, weight) != THROTTLED)
		return false;
	/* It may have come to its end again by now. */
	pmu_pause(&p->bank, i);
	return true;
}

static int pmu_nmi(unsigned int cmd, struct pt_regs *regs)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	unsigned int i, mask, n = 0;
	bool paused = false;
	u64 now;

	if (!p->c)
		return NMI_DONE;
	/* Intel's APIC masks the entry as it delivers. */
	if (p->armed)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
	/* Who keeps us quiet looks at the counters after. */
	if (p->quiet)
		return 1;
	now = ktime_get_mono_fast_ns();
	mask = pmu_overflowed(&p->bank);
	for (i = 0; i < p->bank.model->counters; i++) {
		if (!(mask >> i & 1))
			continue;
		n++;
		if (p->armed)
			paused |= counter_hit(p, i, regs, now);
		else
			pmu_settle(&p->bank, i);
	}
	if (!pmu_claims(&p->bank, n, now))
		return NMI_DONE;
	if (paused)
		pmu_expect(&p->bank, now);
	if (!n)
		p->c->unclaimed++;
	/* The number: of two that come at once the second is swallowed. */
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
	r = register_nmi_handler(NMI_LOCAL, pmu_nmi, 0, "tally");
	if (r) {
		counters_release(m, m->counters);
		return r;
	}
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
	unregister_nmi_handler(NMI_LOCAL, "tally");
	counters_release(owner_model, owner_model->counters);
	owner = NULL;
}

/* Events of the northbridge are counted by one core of a node; the others leave
 * that counter alone (BKDG §10.1). */
static bool counts_here(const struct pmu_model *m, const struct tally_event *e,
			unsigned int cpu)
{
	if (!m->shared_events || e->event < m->shared_events)
		return true;
	return cpumask_first_and(topology_core_cpumask(cpu),
				 cpu_online_mask) == cpu;
}

/* Lets throttled counters go on, without NMIs that change the bank, and looks
 * after those that came to their end meanwhile. */
static void tend(struct cpu_state *c, struct pmu_cpu *p)
{
	unsigned int i, mask;

	WRITE_ONCE(p->quiet, true);
	barrier();
	for (i = 0; i < p->bank.model->counters; i++)
		if (p->bank.paused >> i & 1)
			pmu_resume(&p->bank, i, sample_jitter(c, p->mean[i]));
	mask = pmu_overflowed(&p->bank);
	for (i = 0; i < p->bank.model->counters; i++) {
		if (!(mask >> i & 1))
			continue;
		pmu_rearm(&p->bank, i, sample_jitter(c, p->mean[i]));
		c->ev[p->event[i]].stats.missed++;
	}
	pmu_expect(&p->bank, ktime_get_mono_fast_ns());
	barrier();
	WRITE_ONCE(p->quiet, false);
	barrier();
}

/* New windows, and counters that were throttled. */
static enum hrtimer_restart pmu_tick(struct hrtimer *t)
{
	struct cpu_event *e = container_of(t, struct cpu_event, timer);
	struct cpu_state *c = e->owner;
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	unsigned int i;

	if (!READ_ONCE(c->running) || p->c != c)
		return HRTIMER_NORESTART;
	sample_window(c, ktime_get_mono_fast_ns());
	/* An NMI that was kept quiet leaves a counter at its end; one that comes
	 * so often that it always is waits for the next tick. */
	for (i = 0; i < TEND_TRIES && (READ_ONCE(p->bank.paused) ||
				       pmu_overflowed(&p->bank)); i++)
		tend(c, p);
	hrtimer_forward_now(t, ns_to_ktime(WINDOW_NS));
	return HRTIMER_RESTART;
}

static void pmu_start_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);
	const struct tally_setup *u = &c->s->setup;
	unsigned int i;

	if (owner != c->s)
		return;
	p->bank = (struct pmu_bank){ .model = owner_model, .msr = &msrs };
	pmu_save(&p->bank);
	p->lvtpc = apic->read(APIC_LVTPC);
	for (i = 0; i < u->nevents; i++) {
		struct pmu_event e = event_of(&u->events[i]);
		unsigned int k = counter_of[i];

		if (!counts_here(owner_model, &u->events[i], c->cpu))
			continue;
		p->event[k] = i;
		p->mean[k] = u->events[i].period;
		p->since[k] = ktime_get_mono_fast_ns();
		c->ev[i].stats.counter = k;
		pmu_use(&p->bank, k, &e, sample_jitter(c, p->mean[k]));
	}
	c->running = true;
	p->armed = true;
	WRITE_ONCE(p->c, c);
	barrier();
	apic->write(APIC_LVTPC, APIC_DM_NMI);
	pmu_arm(&p->bank);
	tally_timer_setup(&c->ev[0].timer, pmu_tick);
	hrtimer_start(&c->ev[0].timer, ns_to_ktime(WINDOW_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* The handler still knows us: late NMIs are ours. */
static void pmu_stop_cpu(struct cpu_state *c)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);

	WRITE_ONCE(c->running, false);
	if (p->c != c)
		return;
	WRITE_ONCE(p->armed, false);
	barrier();
	pmu_disarm(&p->bank);
	pmu_expect(&p->bank, ktime_get_mono_fast_ns());
}

static void pmu_drain(struct session *s)
{
	msleep(DRAIN_MS);
}

static void give_back(void *arg)
{
	struct pmu_cpu *p = this_cpu_ptr(&pmu_cpus);

	if (p->c != arg)
		return;
	apic->write(APIC_LVTPC, p->lvtpc);
	pmu_restore(&p->bank);
	WRITE_ONCE(p->c, NULL);
}

static void pmu_cancel_cpu(struct cpu_state *c)
{
	hrtimer_cancel(&c->ev[0].timer);
	smp_call_function_single(c->cpu, give_back, c, 1);
}

#define PMU_SOURCE(which) {			\
	.present = which##_present,		\
	.check = which##_check,			\
	.begin = which##_begin,			\
	.end = pmu_end,				\
	.start_cpu = pmu_start_cpu,		\
	.stop_cpu = pmu_stop_cpu,		\
	.drain = pmu_drain,			\
	.cancel_cpu = pmu_cancel_cpu,		\
}

const struct source pmu_k8_source = PMU_SOURCE(k8);
const struct source pmu_p6_source = PMU_SOURCE(p6);
