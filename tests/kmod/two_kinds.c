// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel module for tests in virtual machines: the PMUs of a processor with two kinds
 * of cores.  cpu_core has the CPUs with even numbers, and cpu_atom the others.
 *
 * As on Intel's hybrid processors (arch/x86/events/core.c), each takes its own raw
 * events and generic ones with its type in config, refuses CPUs of the other kind
 * (ENOENT), and leaves out threads while they run there; cpu_core has the type of raw
 * events, so the machine must have no PMU of its own.  Both count cycles only, one per
 * nanosecond; samples are taken by a timer.
 */
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/version.h>
#include <asm/irq_regs.h>

#include "compat.h"

#define CYCLES	0x3c		/* as a raw event */

struct kind {
	struct pmu pmu;
	unsigned int odd;	/* number of the first CPU */
};

static bool kind_has(const struct pmu *pmu, int cpu)
{
	return (cpu & 1) == container_of(pmu, struct kind, pmu)->odd;
}

static ssize_t cpus_show(struct device *dev, struct device_attribute *a, char *buf)
{
	const struct pmu *pmu = dev_get_drvdata(dev);
	int cpu, n = 0;

	for_each_online_cpu(cpu)
		if (kind_has(pmu, cpu))
			n += sysfs_emit_at(buf, n, "%s%d", n ? "," : "", cpu);
	return n + sysfs_emit_at(buf, n, "\n");
}
static DEVICE_ATTR_RO(cpus);
PMU_FORMAT_ATTR(event, "config:0-7");

static struct attribute *kind_attrs[] = { &dev_attr_cpus.attr, NULL };
static struct attribute *format_attrs[] = { &format_attr_event.attr, NULL };
static const struct attribute_group kind_group = { .attrs = kind_attrs };
static const struct attribute_group format_group = {
	.name = "format", .attrs = format_attrs,
};
static const struct attribute_group *groups[] = { &kind_group, &format_group, NULL };

static void kind_read(struct perf_event *e)
{
	u64 now = local_clock();

	local64_add(now - local64_xchg(&e->hw.prev_count, now), &e->count);
}

static enum hrtimer_restart overflow(struct hrtimer *t)
{
	struct perf_event *e = container_of(t, struct perf_event, hw.hrtimer);
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data;

	if (e->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;
	kind_read(e);
	if (regs && !(user_mode(regs) ? e->attr.exclude_user
				      : e->attr.exclude_kernel)) {
		perf_sample_data_init(&data, 0, e->hw.sample_period);
		READ_ONCE(e->overflow_handler)(e, &data, regs);
	}
	hrtimer_forward_now(t, ns_to_ktime(e->hw.sample_period));
	return HRTIMER_RESTART;
}

static void kind_start(struct perf_event *e, int flags)
{
	s64 left = local64_read(&e->hw.period_left);

	local64_set(&e->hw.prev_count, local_clock());
	if (is_sampling_event(e))
		hrtimer_start(&e->hw.hrtimer, ns_to_ktime(max_t(s64, left, 1000)),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

static void kind_stop(struct perf_event *e, int flags)
{
	if (is_sampling_event(e)) {
		local64_set(&e->hw.period_left, ktime_to_ns(
			    hrtimer_get_remaining(&e->hw.hrtimer)));
		hrtimer_cancel(&e->hw.hrtimer);
	}
	kind_read(e);
}

static int kind_add(struct perf_event *e, int flags)
{
	/* The scheduler must not place it on a CPU of another kind. */
	WARN_ON_ONCE(!kind_has(e->pmu, smp_processor_id()));
	if (flags & PERF_EF_START)
		kind_start(e, flags);
	return 0;
}

static void kind_del(struct perf_event *e, int flags)
{
	kind_stop(e, flags);
}

static int kind_init(struct perf_event *e)
{
	struct hw_perf_event *hw = &e->hw;

	if (e->attr.type != e->pmu->type && e->attr.type != PERF_TYPE_HARDWARE)
		return -ENOENT;
	if (e->cpu >= 0 && !kind_has(e->pmu, e->cpu))
		return -ENOENT;
	if (e->attr.config != (e->attr.type == PERF_TYPE_HARDWARE
			       ? PERF_COUNT_HW_CPU_CYCLES : CYCLES))
		return -ENOENT;
	if (!is_sampling_event(e))
		return 0;
	tally_timer_setup(&hw->hrtimer, overflow);
	if (e->attr.freq) {
		e->attr.sample_period = NSEC_PER_SEC / e->attr.sample_freq;
		e->attr.freq = 0;
	}
	if (e->attr.sample_period < 10000)
		return -EINVAL;
	hw->sample_period = hw->last_period = e->attr.sample_period;
	local64_set(&hw->period_left, hw->sample_period);
	return 0;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
static int runs_here(struct perf_event *e)
{
	return kind_has(e->pmu, smp_processor_id());
}
#else
static bool skips(struct pmu *pmu, int cpu)
{
	return !kind_has(pmu, cpu);
}
#endif

static struct kind kinds[2];

static int kind_register(struct kind *k, const char *name, unsigned int odd,
			 int type)
{
	k->odd = odd;
	k->pmu = (struct pmu){
		.module = THIS_MODULE, .attr_groups = groups,
		.task_ctx_nr = perf_hw_context,
		.capabilities = PERF_PMU_CAP_EXTENDED_HW_TYPE,
		.event_init = kind_init, .add = kind_add, .del = kind_del,
		.start = kind_start, .stop = kind_stop, .read = kind_read,
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
		.filter_match = runs_here,
#else
		.filter = skips,
#endif
	};
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	k->pmu.capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
#endif
	return perf_pmu_register(&k->pmu, name, type);
}

static int __init kinds_init(void)
{
	int r = kind_register(&kinds[0], "cpu_core", 0, PERF_TYPE_RAW);

	if (r)
		return r;
	r = kind_register(&kinds[1], "cpu_atom", 1, -1);
	if (r)
		perf_pmu_unregister(&kinds[0].pmu);
	return r;
}

static void __exit kinds_exit(void)
{
	perf_pmu_unregister(&kinds[1].pmu);
	perf_pmu_unregister(&kinds[0].pmu);
}

module_init(kinds_init);
module_exit(kinds_exit);
MODULE_DESCRIPTION("PMUs of two kinds of cores, for tests of tally");
MODULE_LICENSE("GPL");
