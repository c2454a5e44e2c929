// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Performance counters of K8 and P6 for QEMU 7.2 under TCG, so that the kernel
 * module meets real NMIs on a stock kernel.  build-qemu hooks it in:
 *
 *	pmu_rdmsr, pmu_wrmsr	the registers (BKDG §10, SDM 3B §18.22)
 *	pmu_rdpmc		the instruction
 *	pmu_mode		each change of the privilege level: USR and OS
 *	pmu_connect		how the local APIC delivers its entry for counters
 *
 * Each event happens once in a nanosecond of virtual time, event C0h (retired
 * instructions on both) every second one.  A counter that runs, and whose event
 * counts in the mode of the processor, has a timer for the moment of its
 * overflow.  Family 15 of AMD is a K8, family 6 up to model 13 of Intel a P6.
 */
#include "qemu/osdep.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "pmu_model.h"

enum { COUNTERS = 4, CPUS = 8 };

#define SEL_USR	(1u << 16)
#define SEL_OS	(1u << 17)
#define SEL_INT	(1u << 20)
#define SEL_EN	(1u << 22)

struct counter {
	uint64_t select, value;	/* the value at `since` */
	int64_t since;
	bool runs;		/* as it counts since then */
	bool overflowed;	/* to be delivered */
	QEMUTimer *timer;
};

struct pmu {
	QemuMutex lock;
	CPUX86State *env;
	bool ready, p6, user;
	struct counter c[COUNTERS];
};

static struct pmu pmus[CPUS];
static pmu_deliver_fn *deliver;

void pmu_connect(pmu_deliver_fn *fn)
{
	deliver = fn;
}

static uint64_t mask(const struct pmu *p)
{
	return (1ull << (p->p6 ? 40 : 48)) - 1;
}

static unsigned int shift(const struct counter *c)
{
	return (c->select & 0xff) == 0xc0;
}

/* Brings a counter up to now. */
static void catch_up(struct pmu *p, struct counter *c, int64_t now)
{
	uint64_t ticks;

	if (c->runs) {
		ticks = (uint64_t)(now - c->since) >> shift(c);
		if (c->value + ticks > mask(p) && c->select & SEL_INT)
			c->overflowed = true;
		c->value = (c->value + ticks) & mask(p);
	}
	c->since = now;
}

/* Decides anew what runs, and when the next overflow is due. */
static void settle(struct pmu *p, unsigned int i, int64_t now)
{
	struct counter *c = &p->c[i];
	uint64_t enable = p->p6 ? p->c[0].select : c->select;
	uint64_t left;

	c->runs = enable & SEL_EN && c->select & (p->user ? SEL_USR : SEL_OS);
	if (c->overflowed) {
		timer_mod_ns(c->timer, now);
	} else if (c->runs && c->select & SEL_INT) {
		left = (mask(p) + 1 - c->value) << shift(c);
		if (left < 1ull << 62)
			timer_mod_ns(c->timer, now + (int64_t)left);
	} else {
		timer_del(c->timer);
	}
}

/* In the main loop, which may touch the APIC. */
static void expired(void *opaque)
{
	struct counter *c = opaque;
	struct pmu *p;
	unsigned int i;
	bool hit;

	for (i = 0; i < CPUS; i++)
		if (c >= pmus[i].c && c < pmus[i].c + COUNTERS)
			break;
	p = &pmus[i];
	i = c - p->c;
	qemu_mutex_lock(&p->lock);
	catch_up(p, c, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
	hit = c->overflowed;
	c->overflowed = false;
	settle(p, i, c->since);
	qemu_mutex_unlock(&p->lock);
	if (hit && deliver)
		deliver(p->env, p->p6);
}

static struct pmu *pmu_of(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);
	unsigned int family = env->cpuid_version >> 8 & 0xf;
	unsigned int model = (env->cpuid_version >> 4 & 0xf) |
			     (env->cpuid_version >> 12 & 0xf0);
	struct pmu *p;
	bool k8, p6;

	k8 = env->cpuid_vendor1 == CPUID_VENDOR_AMD_1 && family == 15 &&
	     !(env->cpuid_version >> 20 & 0xff);
	p6 = env->cpuid_vendor1 == CPUID_VENDOR_INTEL_1 && family == 6 &&
	     model <= 13;
	if (cs->cpu_index >= CPUS || (!k8 && !p6))
		return NULL;
	p = &pmus[cs->cpu_index];
	if (p->ready)
		return p;
	qemu_mutex_init(&p->lock);
	p->env = env;
	p->p6 = p6;
	p->user = (env->hflags & HF_CPL_MASK) == 3;
	for (unsigned int i = 0; i < COUNTERS; i++)
		p->c[i].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, expired,
					     &p->c[i]);
	p->ready = true;
	return p;
}

/* 0 … 3 select, 4 … 7 counter, -1: not ours. */
static int which(const struct pmu *p, uint32_t msr)
{
	uint32_t n = p->p6 ? 2 : 4;
	uint32_t s = msr - (p->p6 ? 0x186 : 0xc0010000);
	uint32_t c = msr - (p->p6 ? 0xc1 : 0xc0010004);

	return s < n ? (int)s : c < n ? (int)(COUNTERS + c) : -1;
}

bool pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *v)
{
	struct pmu *p = pmu_of(env);
	int i = p ? which(p, msr) : -1;
	struct counter *c;

	if (i < 0)
		return false;
	c = &p->c[i % COUNTERS];
	qemu_mutex_lock(&p->lock);
	catch_up(p, c, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
	*v = i < COUNTERS ? c->select : c->value;
	settle(p, i % COUNTERS, c->since);
	qemu_mutex_unlock(&p->lock);
	return true;
}

bool pmu_rdpmc(CPUX86State *env, uint32_t n, uint64_t *v)
{
	struct pmu *p = pmu_of(env);

	return p && n < (p->p6 ? 2 : COUNTERS) &&
	       pmu_rdmsr(env, (p->p6 ? 0xc1 : 0xc0010004) + n, v);
}

bool pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t v)
{
	struct pmu *p = pmu_of(env);
	int i = p ? which(p, msr) : -1;
	int64_t now;

	if (i < 0)
		return false;
	qemu_mutex_lock(&p->lock);
	now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	for (unsigned int k = 0; k < COUNTERS; k++)
		catch_up(p, &p->c[k], now);
	if (i < COUNTERS)
		p->c[i].select = v;
	else if (p->p6)
		p->c[i % COUNTERS].value =
			(uint64_t)(int64_t)(int32_t)v & mask(p);
	else
		p->c[i % COUNTERS].value = v & mask(p);
	/* One register lets all run on P6. */
	for (unsigned int k = 0; k < COUNTERS; k++)
		settle(p, k, now);
	qemu_mutex_unlock(&p->lock);
	return true;
}

void pmu_mode(CPUX86State *env, int cpl)
{
	CPUState *cs = env_cpu(env);
	struct pmu *p = cs->cpu_index < CPUS ? &pmus[cs->cpu_index] : NULL;
	int64_t now;

	if (!p || !p->ready || p->user == (cpl == 3))
		return;
	qemu_mutex_lock(&p->lock);
	now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	for (unsigned int k = 0; k < COUNTERS; k++)
		catch_up(p, &p->c[k], now);
	p->user = cpl == 3;
	for (unsigned int k = 0; k < COUNTERS; k++)
		settle(p, k, now);
	qemu_mutex_unlock(&p->lock);
}
