/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_KMOD_FAKE_MACHINE_H
#define TALLY_TESTS_KMOD_FAKE_MACHINE_H
/*
 * A machine of two processors with K8's counters for the module's session.c, waits.c,
 * ring.c, count.c, pmu.c and timer.c: what they need of the kernel, and of those parts of
 * the module that are not under test.  Included once in a program.
 */
#include <malloc.h>
#include <stdio.h>

#include "fake_kernel.h"
#include "pmu_model.h"
#include "../../kmod/tally.h"
#include "fake_samples.h"

long fake_blocks;
struct pid_namespace fake_ns;
static struct user_struct fake_user;
const struct cred fake_cred = { &fake_user };
unsigned int fake_cpu;
struct cpumask fake_online = { 3 };
const struct cpumask fake_possible = { 3 }, fake_cpus[NR_CPUS] = { { 1 }, { 2 } };
int (*fake_cpu_up)(unsigned int), (*fake_cpu_down)(unsigned int);
struct notifier_block *fake_pm;
struct cpuinfo_x86 boot_cpu_data = { X86_VENDOR_AMD, 15, 5, 1, 0x80000008 };
unsigned int max_rate = 20000;
bool all_counters;

bool fake_fault, fake_interrupt;
static bool denied;		/* by a security module */
/* A thread that is recorded, another one, and the one that runs. */
static struct task_struct our = { .tid = 21, .mm = &our },
			  other = { .tid = 22, .mm = &our };
struct task_struct *fake_current = &other;

static struct pmu_machine cpus[NR_CPUS];
static u32 lvtpc[NR_CPUS];
/* K8 has four counters. */
enum { COUNTERS = 4 };
static bool reserved[2 * COUNTERS];
static nmi_handler_t *handler;
static u64 now;
static struct hrtimer *timers[64];
static char path[4096];		/* of events, for messages */
/* A pending NMI of processor 0 arrives before this access to its registers; 0: none is. */
static unsigned int nmi_in;

void fake_check(bool fine, const char *what)
{
	if (!fine)
		fail_msg("%s; after%s", what, path);
}

void *fake_alloc(size_t n, gfp_t gfp)
{
	size_t *block = calloc(1, sizeof(max_align_t) + n);

	fake_check(gfp == GFP_KERNEL_ACCOUNT,
		   "memory is not charged to the control group");
	assert_non_null(block);
	fake_blocks++;
	*block = n;
	return (char *)block + sizeof(max_align_t);
}

void fake_free(void *p)
{
	size_t *block;

	if (!p)
		return;
	block = (size_t *)(void *)((char *)p - sizeof(max_align_t));
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		fake_check(!timers[i] || (char *)timers[i] < (char *)p ||
			   (char *)timers[i] >= (char *)p + *block,
			   "a running timer is freed");
	fake_blocks--;
	free(block);
}

int smp_call_function_single(unsigned int cpu, void (*fn)(void *), void *arg,
			     int wait)
{
	unsigned int here = fake_cpu;

	(void)wait;
	if (!(fake_online.bits >> cpu & 1))
		return -ENXIO;
	fake_cpu = cpu;
	fn(arg);
	fake_cpu = here;
	return 0;
}

int cpuhp_setup_state(int state, const char *name, int (*up)(unsigned int),
		      int (*down)(unsigned int))
{
	(void)state;
	(void)name;
	fake_cpu_up = up;
	fake_cpu_down = down;
	return 1;
}

static void nmi(void)
{
	fake_check(handler && handler(0, NULL) == 1, "an NMI is not claimed");
}

static void pass(void)
{
	if (!fake_cpu && nmi_in && !--nmi_in)
		nmi();
}

u64 ktime_get_mono_fast_ns(void)
{
	pass();
	return now += 1000;
}

void hrtimer_init(struct hrtimer *t, int clock, int mode)
{
	(void)clock;
	(void)mode;
	fake_check(!t->active, "a running timer is set up");
	t->ready = true;
}

/* As the kernel's: no less far than its timers are fine. */
static ktime_t timer_resolution = 1;
struct pt_regs *fake_irq_regs;
u64 hrtimer_forward_now(struct hrtimer *t, ktime_t ahead)
{
	ktime_t late = (ktime_t)now - t->expires;
	u64 n;

	if (late < 0)
		return 0;
	if (ahead < timer_resolution)
		ahead = timer_resolution;
	n = (u64)(late / ahead) + 1;
	t->expires += (ktime_t)n * ahead;
	return n;
}

void hrtimer_start(struct hrtimer *t, ktime_t ahead, int mode)
{
	(void)mode;
	t->expires = (ktime_t)now + ahead;
	fake_check(t->ready, "a timer is started that was not set up");
	fake_check(!t->active, "a timer is started twice");
	t->active = true;
	t->cpu = fake_cpu;
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		if (!timers[i]) {
			timers[i] = t;
			return;
		}
	fake_check(false, "too many timers");
}

int hrtimer_cancel(struct hrtimer *t)
{
	fake_check(t->ready, "a timer is cancelled that was not set up");
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++)
		if (timers[i] == t)
			timers[i] = NULL;
	t->active = false;
	return 1;
}

u64 fake_rdmsr(u32 msr)
{
	pass();
	return cpus[fake_cpu].msr.read(&cpus[fake_cpu], msr);
}

void fake_wrmsr(u32 msr, u64 v)
{
	pass();
	cpus[fake_cpu].msr.write(&cpus[fake_cpu], msr, v);
}

static u32 apic_read_here(u32 reg)
{
	(void)reg;
	return lvtpc[fake_cpu];
}

static void apic_write_here(u32 reg, u32 v)
{
	(void)reg;
	pass();
	lvtpc[fake_cpu] = v;
}

const struct apic *apic = &(const struct apic){
	apic_read_here, apic_write_here,
};

static bool reserve(u32 i)
{
	bool was = reserved[i];

	reserved[i] = true;
	return !was;
}

static void release(u32 i)
{
	fake_check(reserved[i], "what is not reserved is released");
	reserved[i] = false;
}

bool reserve_perfctr_nmi(u32 msr)
{
	return reserve(msr - pmu_models[PMU_K8].msr_counter + COUNTERS);
}
bool reserve_evntsel_nmi(u32 msr)
{
	return reserve(msr - pmu_models[PMU_K8].msr_evtsel);
}
void release_perfctr_nmi(u32 msr)
{
	release(msr - pmu_models[PMU_K8].msr_counter + COUNTERS);
}
void release_evntsel_nmi(u32 msr)
{
	release(msr - pmu_models[PMU_K8].msr_evtsel);
}

int register_nmi_handler(int type, nmi_handler_t *fn, int flags,
			 const char *name)
{
	(void)type;
	(void)flags;
	(void)name;
	fake_check(!handler, "the NMI handler is registered twice");
	handler = fn;
	return 0;
}

void unregister_nmi_handler(int type, const char *name)
{
	(void)type;
	(void)name;
	fake_check(handler, "an NMI handler that is not there is taken away");
	handler = NULL;
}

int perf_allow_kernel(void)
{
	return denied ? -EACCES : 0;
}

/* ---- parts of the module that are not under test ---- */

u64 sample_random(struct cpu_state *c)
{
	return c->random++;
}
u64 sample_jitter(struct cpu_state *c, u64 mean)
{
	(void)c;
	return mean;
}
unsigned int sample_take(struct cpu_state *c, unsigned int event,
			 struct pt_regs *regs, u64 weight)
{
	(void)regs;
	struct tally_sample t = {
		.r = { TALLY_RECORD_SAMPLE, (u16)event, sizeof(t), now },
		.pid = 10, .tid = 11, .cpu = c->cpu, .nkernel = 1,
		.stack = 1, .weight = weight,
	};

	fake_check(counts_add(c, &t, 0), "a sample is not added up");
	c->ev[event].stats.samples++;
	c->ev[event].stats.weight += weight;
	return SAMPLE_WANTED;
}
void sample_slower(struct cpu_state *c, unsigned int event, u64 most)
{
	(void)c;
	(void)event;
	(void)most;
}
static unsigned int watchers[2];	/* by WATCH_* */
int tasks_watch(unsigned int what)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(watchers); i++)
		watchers[i] += what >> i & 1;
	return 0;
}
void tasks_unwatch(unsigned int what)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(watchers); i++) {
		fake_check(watchers[i] >= (what >> i & 1),
			   "what is not watched is let go");
		watchers[i] -= what >> i & 1;
	}
}
bool tasks_has(struct session *session, struct task_struct *t)
{
	(void)session;
	return t == &our;
}
bool sample_exhausted(const struct cpu_state *c, u32 parts, u32 of)
{
	(void)c;
	(void)parts;
	(void)of;
	return false;
}
bool cgroup_has(struct session *session, struct task_struct *t)
{
	(void)session;
	(void)t;
	return false;
}
int rows_new(struct session *session)
{
	(void)session;
	return 0;
}
void rows_free(struct session *session) { (void)session; }
size_t rows_bytes(struct session *session)
{
	(void)session;
	return 0;
}
/* Not one of this model: it holds no counters and no processors. */
static unsigned int perf_present(u32 which)
{
	(void)which;
	return 1;
}
static int perf_check(const struct tally_setup *u)
{
	(void)u;
	return 0;
}
static int perf_prepare(struct session *session, const u8 *kind_of)
{
	(void)kind_of;
	session->perf = fake_alloc(1, GFP_KERNEL_ACCOUNT);
	return 0;
}
/* The module's own waits for its work, which takes locks of hotplug. */
static void perf_forget(struct session *session)
{
	fake_check(!fake_locks, "work is waited for with locks that it takes");
	fake_free(session->perf);
	session->perf = NULL;
}
const struct source perf_source = {
	.by_kernel = true, .present = perf_present, .check = perf_check,
	.prepare = perf_prepare, .forget = perf_forget,
};
void tasks_free(struct session *session) { (void)session; }
int cgroup_follow(struct session *s, u32 fd)
{
	(void)s;
	(void)fd;
	return -ENOENT;
}
void cgroup_forget(struct session *s) { (void)s; }

#endif
