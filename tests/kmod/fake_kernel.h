/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_KMOD_FAKE_KERNEL_H
#define TESTS_KMOD_FAKE_KERNEL_H
/*
 * As much of the kernel as the module's session.c, tasks.c, waits.c, ring.c, count.c,
 * pmu.c and timer.c use, on a machine of two processors that the test switches on and off.
 * The headers that they include are made by the build; each includes this one.
 *
 * What the kernel does not survive ends the test: a timer that is started or
 * cancelled before it was set up, or freed while it runs; a call to a processor
 * that is off; a lock that is taken twice, or held where something is waited for that
 * takes any lock; a list that is read without RCU.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int64_t s64;

#define __user
#define PAGE_SIZE	4096ul
#define PAGE_SHIFT	12
#define NSEC_PER_SEC	1000000000ull
#define NSEC_PER_MSEC	1000000ull
#define USEC_PER_SEC	1000000ull

#define READ_ONCE(x)	(*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)	(READ_ONCE(x) = (v))
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define barrier()	__asm__ volatile("" ::: "memory")
#define container_of(p, type, member) \
	((type *)(void *)((char *)(p) - offsetof(type, member)))
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define clamp(v, lo, hi)	((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define min_t(t, a, b)	((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define pr_warn(...)	((void)0)
#define pr_err(...)	((void)0)
#define WARN_ON_ONCE(x)	(fake_check(!(x), #x), (x))

/* Ends the test with what was wrong, when `fine` is false. */
void fake_check(bool fine, const char *what);

static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)((unsigned __int128)a * b >> shift);
}
static inline void *memchr_inv(const void *p, int c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const u8 *)p)[i] != (u8)c)
			return (u8 *)(uintptr_t)p + i;
	return NULL;
}

/* Memory, counted; what holds a running timer is not freed.  All of it must be charged to
 * the memory control group. */
#define GFP_KERNEL 1
#define __GFP_ACCOUNT 2
#define GFP_KERNEL_ACCOUNT 3
#define GFP_ATOMIC 4
#define __GFP_ZERO 0
#define __GFP_NOWARN 0
typedef int gfp_t;
struct page;
extern long fake_blocks;
void *fake_alloc(size_t n, gfp_t gfp);
void fake_free(void *p);
#define kzalloc(n, gfp)			fake_alloc(n, gfp)
#define kcalloc(n, size, gfp)		fake_alloc((n) * (size), gfp)
#define kvzalloc_node(n, gfp, node)	fake_alloc(n, gfp)
#define kvcalloc(n, size, gfp)		fake_alloc((n) * (size), gfp)
#define alloc_pages_node(node, gfp, order) \
	((void)(node), (struct page *)fake_alloc(8, gfp))
#define __free_page(p)			fake_free(p)
#define VM_MAP 0
#define VM_USERMAP 0
#define PAGE_KERNEL 0
/* Its pages have been charged. */
#define vmap(pages, n, flags, prot) \
	fake_alloc((n) * PAGE_SIZE, GFP_KERNEL_ACCOUNT)
#define vunmap				fake_free
#define cond_resched()			((void)0)
#define cpu_relax()			((void)0)
#define kfree				fake_free
#define kvfree				fake_free
#define totalram_pages()		(1ul << 20)
#define cpu_to_node(cpu)		0

/* The program's memory, which may be missing. */
extern bool fake_fault;
static inline unsigned long copy_to_user(void *to, const void *from,
					 unsigned long n)
{
	if (fake_fault)
		return n;
	memcpy(to, from, n);
	return 0;
}

/* Lists and locks. */
struct list_head { struct list_head *next, *prev; };
struct hlist_node { struct hlist_node *next, **pprev; };
struct hlist_head { struct hlist_node *first; };
#define LIST_HEAD(name)	struct list_head name = { &name, &name }
static inline void list_add_tail_rcu(struct list_head *e, struct list_head *l)
{
	e->next = l;
	e->prev = l->prev;
	l->prev->next = e;
	l->prev = e;
}
static inline void list_del_rcu(struct list_head *e)
{
	e->next->prev = e->prev;
	e->prev->next = e->next;
}
#define list_for_each_entry(e, head, member) \
	for (e = container_of((head)->next, __typeof__(*e), member); \
	     &e->member != (head); \
	     e = container_of(e->member.next, __typeof__(*e), member))
#define list_for_each_entry_rcu	list_for_each_entry
static inline void hlist_add_head_rcu(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	n->pprev = &h->first;
	if (n->next)
		n->next->pprev = &n->next;
	h->first = n;
}
static inline void hlist_del(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
}
#define hlist_del_rcu		hlist_del
#define hlist_at(p, e, member) \
	((p) ? container_of(p, __typeof__(*e), member) : NULL)
#define hlist_for_each_entry_rcu(e, head, member) \
	for (e = hlist_at(fake_read((head)->first), e, member); e; \
	     e = hlist_at(e->member.next, e, member))
#define hlist_for_each_entry_safe(e, after, head, member) \
	for (e = hlist_at((head)->first, e, member); \
	     e && ((after) = e->member.next, true); \
	     e = hlist_at(after, e, member))
#define ilog2(n)		(__builtin_ctz(n))
#define hash_ptr(p, bits)	(((uintptr_t)(p) >> 4) % (1u << (bits)))

extern unsigned int fake_locks;	/* that are held */
struct mutex { bool held; };
#define DEFINE_MUTEX(name)	struct mutex name
static inline void mutex_lock(struct mutex *m)
{
	fake_check(!m->held, "a lock is taken twice");
	m->held = true;
	fake_locks++;
}
static inline void mutex_unlock(struct mutex *m)
{
	m->held = false;
	fake_locks--;
}
static inline void mutex_init(struct mutex *m) { m->held = false; }
typedef struct mutex spinlock_t;
#define spin_lock_init		mutex_init
#define spin_lock_irqsave(l, flags)	((flags) = 0, mutex_lock(l))
#define spin_unlock_irqrestore(l, flags)	((void)(flags), mutex_unlock(l))
typedef struct { unsigned int n; } seqcount_t;
#define seqcount_init(s)	((s)->n = 0)
#define write_seqcount_begin(s)	((void)(s)->n++)
#define write_seqcount_end(s)	((void)(s)->n++)
#define read_seqcount_begin(s)	((s)->n)
#define read_seqcount_retry(s, seq)	((s)->n != (seq))
typedef struct { int n; } wait_queue_head_t;
#define init_waitqueue_head(q)	((void)(q))
#define wake_up_interruptible(q)	((void)(q))
typedef struct { s64 n; } atomic64_t;
typedef struct { long n; } atomic_long_t;
#define atomic64_read(a)	((u64)(a)->n)
#define atomic_long_add_return(v, a)	((unsigned long)((a)->n += (long)(v)))
#define atomic_long_sub(v, a)	((void)((a)->n -= (long)(v)))
#define atomic64_inc(a)		((void)(a)->n++)
#define synchronize_rcu()	((void)0)
extern unsigned int fake_rcu;	/* readers that are inside */
struct rcu_head { int n; };
static inline void rcu_read_lock(void) { fake_rcu++; }
void rcu_read_unlock(void);
/* Frees it when the last reader has left. */
void fake_free_later(void *p);
#define kfree_rcu(p, member)	fake_free_later(p)
#define fake_read(p)		(fake_check(fake_rcu, "read without RCU"), (p))
struct user_struct { atomic_long_t locked_vm; };
struct cred { struct user_struct *user; };
extern const struct cred fake_cred;
#define get_current_cred()	(&fake_cred)
#define put_cred(c)		((void)(c))
#define rlimit(what)		(8ul << 20)
#define capable(what)		false
#define num_online_cpus()	2ul
#define smp_mb()		((void)0)
struct irq_work { void (*fn)(struct irq_work *); };
#define irq_work_queue(w)	((void)(w))
#define init_irq_work(w, f)	((w)->fn = (f))
#define irq_work_sync(w)	((void)(w))
struct pid_namespace { int n; };
extern struct pid_namespace fake_ns;
#define task_active_pid_ns(t)	(&fake_ns)
#define get_pid_ns(ns)		(ns)
#define put_pid_ns(ns)		((void)(ns))
/* Threads. */
enum pid_type { PIDTYPE_PID, PIDTYPE_TGID };
enum { __TASK_STOPPED = 4, __TASK_TRACED = 8, TASK_DEAD = 0x80 };
struct task_struct {
	u32 tid, flags;
	bool idle, on_rq;
	void *mm;
};
enum { PF_EXITING = 4 };
struct pid;
struct pid *find_vpid(int nr);
struct task_struct *pid_task(struct pid *pid, enum pid_type type);
int __task_pid_nr_ns(struct task_struct *t, enum pid_type type,
		     struct pid_namespace *ns);
bool pid_alive(const struct task_struct *t);
typedef int pid_t;
/* Tracepoints. */
struct tracepoint { const char *name; };
void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *data),
				void *data);
int tracepoint_probe_register(struct tracepoint *tp, void *fn, void *data);
int tracepoint_probe_unregister(struct tracepoint *tp, void *fn, void *data);
#define tracepoint_synchronize_unregister()	((void)0)
extern struct task_struct *fake_current;
extern bool fake_interrupt;
#define current			fake_current
#define is_idle_task(t)		((t)->idle)
#define in_task()		(!fake_interrupt)
#define get_cycles()		0ull
#define get_random_u64()	12345ull
#define security_locked_down(what)	0
/* Whether security modules let the kernel be sampled. */
int perf_allow_kernel(void);
struct pt_regs;
struct cgroup;

/* Processors. */
#define NR_CPUS 2
enum { nr_cpu_ids = NR_CPUS };
extern unsigned int fake_cpu;		/* where this runs */
struct cpumask { unsigned long bits; };
extern struct cpumask fake_online;
extern const struct cpumask fake_possible, fake_cpus[NR_CPUS];
#define cpu_online_mask			(&fake_online)
#define cpumask_of(cpu)			(&fake_cpus[cpu])
#define topology_core_cpumask(cpu)	(&fake_possible)
#define cpumask_size()			sizeof(struct cpumask)
#define cpumask_copy(to, from)		((to)->bits = (from)->bits)
#define cpumask_test_cpu(cpu, m)	((m)->bits >> (cpu) & 1)
#define for_each_possible_cpu(cpu)	for (cpu = 0; cpu < NR_CPUS; cpu++)
#define for_each_cpu(cpu, m) \
	for_each_possible_cpu(cpu) if ((m)->bits >> (cpu) & 1)
#define for_each_cpu_and(cpu, a, b) \
	for_each_possible_cpu(cpu) if ((a)->bits & (b)->bits & 1ul << (cpu))
#define DEFINE_PER_CPU(type, name)	type name[NR_CPUS]
#define smp_processor_id()		fake_cpu
#define this_cpu_ptr(p)			(&(*(p))[fake_cpu])
#define per_cpu_ptr(p, cpu)		(&(*(p))[cpu])
#define cpus_read_lock()	((void)fake_locks++)
#define cpus_read_unlock()	((void)fake_locks--)
#define preempt_disable()	((void)0)
#define preempt_enable()	((void)0)
#define local_irq_save(flags)	((flags) = 0, (void)fake_irqs_off++)
#define local_irq_restore(flags)	((void)(flags), (void)fake_irqs_off--)
extern unsigned int fake_irqs_off;
int smp_call_function_single(unsigned int cpu, void (*fn)(void *), void *arg,
			     int wait);
#define on_each_cpu(fn, arg, wait)	(fn)(arg)
#define CPUHP_AP_ONLINE_DYN 1
int cpuhp_setup_state(int state, const char *name, int (*up)(unsigned int),
		      int (*down)(unsigned int));
#define cpuhp_remove_state(s)	((void)(s))
extern int (*fake_cpu_up)(unsigned int), (*fake_cpu_down)(unsigned int);

/* Suspend. */
struct notifier_block {
	int (*notifier_call)(struct notifier_block *, unsigned long, void *);
};
enum {
	NOTIFY_OK,
	PM_SUSPEND_PREPARE, PM_POST_SUSPEND, PM_HIBERNATION_PREPARE,
	PM_POST_HIBERNATION, PM_RESTORE_PREPARE, PM_POST_RESTORE,
};
extern struct notifier_block *fake_pm;
static inline int register_pm_notifier(struct notifier_block *n)
{
	fake_pm = n;
	return 0;
}
#define unregister_pm_notifier(n)	((void)(n))

/* Time. */
typedef s64 ktime_t;
u64 ktime_get_mono_fast_ns(void);
#define ns_to_ktime(ns)	((ktime_t)(ns))
#define ktime_to_ns(t)	(t)
#define ktime_sub(a, b)	((a) - (b))
#define hrtimer_get_remaining(t)	((ktime_t)500)
#define msleep(ms)	((void)(ms))
enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum { CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD };
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *);
	bool ready, active;
	unsigned int cpu;
	ktime_t expires;
};
void hrtimer_init(struct hrtimer *t, int clock, int mode);
void hrtimer_start(struct hrtimer *t, ktime_t ahead, int mode);
int hrtimer_cancel(struct hrtimer *t);
u64 hrtimer_forward_now(struct hrtimer *t, ktime_t ahead);
#define hrtimer_get_expires(t)	((t)->expires)
extern struct pt_regs *fake_irq_regs;	/* of what a timer interrupts */
#define get_irq_regs()	fake_irq_regs

/* The processor. */
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 1, 0)
#define KERNEL_VERSION(a, b, c)	((a) << 16 | (b) << 8 | (c))
struct vm_area_struct { unsigned long vm_flags; };
enum { VM_DONTCOPY = 1, VM_DONTEXPAND = 2, VM_DONTDUMP = 4, VM_MAYEXEC = 8 };
u64 fake_rdmsr(u32 msr);
void fake_wrmsr(u32 msr, u64 v);
#define rdmsrl(msr, v)		((v) = fake_rdmsr(msr))
#define wrmsrl(msr, v)		fake_wrmsr(msr, v)
#define rdmsrl_safe(msr, v)	(*(v) = fake_rdmsr(msr), 0)
#define wrmsrl_safe(msr, v)	(fake_wrmsr(msr, v), 0)
#define APIC_LVTPC	0x340
#define APIC_DM_NMI	0x400
struct apic { u32 (*read)(u32 reg); void (*write)(u32 reg, u32 v); };
extern const struct apic *apic;
enum { X86_FEATURE_APIC, X86_FEATURE_PERFCTR_CORE, X86_FEATURE_HYBRID_CPU };
enum { X86_VENDOR_INTEL, X86_VENDOR_AMD = 2 };
#define boot_cpu_has(f)	((f) == X86_FEATURE_APIC)
struct cpuinfo_x86 {
	u8 x86_vendor, x86, x86_model;
	int cpuid_level;
	u32 extended_cpuid_level;
};
#define cpuid_eax(leaf)	0u
#define cpuid_ebx(leaf)	0u
extern struct cpuinfo_x86 boot_cpu_data;
enum { NMI_DONE, NMI_LOCAL = 0 };
bool reserve_perfctr_nmi(u32 msr);
bool reserve_evntsel_nmi(u32 msr);
void release_perfctr_nmi(u32 msr);
void release_evntsel_nmi(u32 msr);
typedef int nmi_handler_t(unsigned int cmd, struct pt_regs *regs);
int register_nmi_handler(int type, nmi_handler_t *fn, int flags,
			 const char *name);
void unregister_nmi_handler(int type, const char *name);

#endif
