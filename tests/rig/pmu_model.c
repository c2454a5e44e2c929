// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Performance counters of K8 and P6 for QEMU 7.2 under TCG, so that the kernel
 * module meets real NMIs on a stock kernel.  build-qemu hooks it in:
 *
 *	pmu_rdmsr, pmu_wrmsr	the registers (BKDG §10, SDM 3B §18.22)
 *	pmu_rdpmc		the instruction
 *	pmu_mode		each change of the privilege level: USR and OS
 *	pmu_halt		HLT, and its end
 *	pmu_connect		how the local APIC delivers its entry for counters
 *
 * Each event happens once in a nanosecond of virtual time in which the processor
 * is not halted, event C0h (retired instructions on both) every second one: with
 * -icount shift=1 that is each instruction.  A counter that runs, and whose event
 * counts in the mode of the processor, has a timer for the moment of its
 * overflow.  Family 15 of AMD is a K8, family 6 up to model 13 of Intel a P6.
 *
 * With RIG_LOG in the environment, a line for each overflow goes to that file:
 * processor, counter, its PerfEvtSel, privilege level and address of the next
 * instruction (exact with -icount).
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "sysemu/cpu-timers.h"
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
	bool ready, p6, user, halted;
	struct counter c[COUNTERS];
};

static struct pmu pmus[CPUS];
static pmu_deliver_fn *deliver;
static FILE *overflows;

void pmu_connect(pmu_deliver_fn *fn)
{
	const char *path = getenv("RIG_LOG");

	deliver = fn;
	if (path && !overflows)
		overflows = fopen(path, "w");
}

/*
 * The clock, on the processor's own thread.  What changes modes or touches our
 * registers ends its block of translated code, so with -icount all instructions
 * of the block have been executed, and reading is as right as in the blocks that
 * say so beforehand.
 */
static int64_t clock_of(CPUX86State *env)
{
	CPUState *cs = env_cpu(env);
	uint32_t io = cs->can_do_io;
	int64_t now;

	cs->can_do_io = 1;
	now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
	cs->can_do_io = io;
	return now;
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

	if (!c->runs) {
		c->since = now;
		return;
	}
	ticks = (uint64_t)(now - c->since) >> shift(c);
	if (c->value + ticks > mask(p) && c->select & SEL_INT)
		c->overflowed = true;
	c->value = (c->value + ticks) & mask(p);
	c->since += (int64_t)(ticks << shift(c));
}

/* Decides anew what runs, and when the next overflow is due. */
static void settle(struct pmu *p, unsigned int i, int64_t now)
{
	struct counter *c = &p->c[i];
	uint64_t enable = p->p6 ? p->c[0].select : c->select;
	uint64_t left;

	c->runs = enable & SEL_EN && !p->halted &&
		  c->select & (p->user ? SEL_USR : SEL_OS);
	if (c->overflowed) {
		timer_mod_ns(c->timer, now);
	} else if (c->runs && c->select & SEL_INT) {
		left = (mask(p) + 1 - c->value) << shift(c);
		if (left < 1ull << 62)
			timer_mod_ns(c->timer, c->since + (int64_t)left);
	} else {
		timer_del(c->timer);
	}
}

static void log_overflow(const struct pmu *p, unsigned int i)
{
	const CPUX86State *env = p->env;

	if (!overflows)
		return;
	fprintf(overflows, "%d %u %" PRIx64 " %d %" PRIx64 "\n",
		env_cpu(p->env)->cpu_index, i, p->c[i].select,
		(int)(env->hflags & HF_CPL_MASK), (uint64_t)env->eip);
	fflush(overflows);
}

/* QEMU's big lock guards the APIC and is taken first.  True: to be given back. */
static bool enter(struct pmu *p)
{
	bool big = !qemu_mutex_iothread_locked();

	if (big)
		qemu_mutex_lock_iothread();
	qemu_mutex_lock(&p->lock);
	return big;
}

static void leave(struct pmu *p, bool big)
{
	qemu_mutex_unlock(&p->lock);
	if (big)
		qemu_mutex_unlock_iothread();
}

static void deliver_all(struct pmu *p)
{
	for (unsigned int i = 0; i < COUNTERS; i++) {
		if (!p->c[i].overflowed)
			continue;
		p->c[i].overflowed = false;
		log_overflow(p, i);
		if (deliver)
			deliver(p->env, p->p6);
	}
}

/* On the processor's own thread.  It does not go on with its registers before its
 * interrupt is there: none comes late in silicon.  With -icount the timer comes
 * right behind the instruction. */
static void deliver_now(struct pmu *p)
{
	if (!icount_enabled())
		deliver_all(p);
}

/* In the main loop, or with -icount between two blocks of code; with the big
 * lock. */
static void expired(void *opaque)
{
	struct counter *c = opaque;
	struct pmu *p;
	unsigned int i;

	for (i = 0; i < CPUS; i++)
		if (c >= pmus[i].c && c < pmus[i].c + COUNTERS)
			break;
	p = &pmus[i];
	i = c - p->c;
	qemu_mutex_lock(&p->lock);
	catch_up(p, c, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
	deliver_all(p);
	settle(p, i, c->since);
	qemu_mutex_unlock(&p->lock);
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
	bool big;

	if (i < 0)
		return false;
	c = &p->c[i % COUNTERS];
	big = enter(p);
	catch_up(p, c, clock_of(env));
	*v = i < COUNTERS ? c->select : c->value;
	deliver_now(p);
	settle(p, i % COUNTERS, c->since);
	leave(p, big);
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
	bool big;

	if (i < 0)
		return false;
	big = enter(p);
	now = clock_of(env);
	for (unsigned int k = 0; k < COUNTERS; k++)
		catch_up(p, &p->c[k], now);
	deliver_now(p);
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
	leave(p, big);
	return true;
}

/* What the processor does has changed. */
static void change(CPUX86State *env, bool user, bool halted)
{
	CPUState *cs = env_cpu(env);
	struct pmu *p = cs->cpu_index < CPUS ? &pmus[cs->cpu_index] : NULL;
	int64_t now;

	if (!p || !p->ready || (p->user == user && p->halted == halted))
		return;
	qemu_mutex_lock(&p->lock);
	now = clock_of(env);
	for (unsigned int k = 0; k < COUNTERS; k++)
		catch_up(p, &p->c[k], now);
	p->user = user;
	p->halted = halted;
	for (unsigned int k = 0; k < COUNTERS; k++)
		settle(p, k, now);
	qemu_mutex_unlock(&p->lock);
}

void pmu_mode(CPUX86State *env, int cpl)
{
	change(env, cpl == 3, false);
}

void pmu_halt(CPUX86State *env, bool halted)
{
	change(env, (env->hflags & HF_CPL_MASK) == 3, halted);
}
