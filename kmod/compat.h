/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TALLY_COMPAT_H
#define TALLY_COMPAT_H
/* Names that differ between kernel versions, from 6.1 on. */
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/version.h>
#include <asm/msr.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#endif
#ifdef TALLY_HAS_PERF_ALLOW
#include <linux/perf_event.h>
#endif

static inline void tally_timer_setup(struct hrtimer *t,
				     enum hrtimer_restart (*fn)(struct hrtimer *))
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	t->function = fn;
#endif
}

/* Returns whether a thread that is being switched out could have continued.  From 6.12
 * on, one that sleeps may stay in the run queue for a while. */
static inline bool tally_runnable(struct task_struct *t)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return task_is_runnable(t);
#else
	return t->on_rq;
#endif
}

/* Makes a mapping that forked children do not inherit and that never becomes
 * executable. */
static inline void tally_vma_private(struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP,
		     VM_MAYEXEC);
#else
	vma->vm_flags |= VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP;
	vma->vm_flags &= ~VM_MAYEXEC;
#endif
}

/* Asks security modules, as perf_event_open() does, whether the kernel may be
 * sampled.  Kernels without this export have no other way to ask. */
static inline int tally_allow_kernel(void)
{
#ifdef TALLY_HAS_PERF_ALLOW
	return perf_allow_kernel();
#else
	return 0;
#endif
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define tally_rdmsr		rdmsrq
#define tally_wrmsr		wrmsrq
#define tally_rdmsr_safe	rdmsrq_safe
#define tally_wrmsr_safe	wrmsrq_safe
#else
#define tally_rdmsr		rdmsrl
#define tally_wrmsr		wrmsrl
#define tally_rdmsr_safe	rdmsrl_safe
#define tally_wrmsr_safe	wrmsrl_safe
#endif

#endif
