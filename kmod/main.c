// SPDX-License-Identifier: GPL-2.0
/* The device /dev/tally and its ioctls: see include/tally/kmod.h. */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "tally.h"

unsigned int max_rate = 20000;
module_param(max_rate, uint, 0444);
MODULE_PARM_DESC(max_rate, "maximum samples per second of a recording on each CPU, at least 100");

bool all_counters;
module_param(all_counters, bool, 0444);
MODULE_PARM_DESC(all_counters, "also offer counters that were tested only with models of their registers (AMD from family 10h on, Intel from Core on)");

static int tally_open(struct inode *inode, struct file *file)
{
	struct session *s;

	if (!perfmon_capable())
		return -EPERM;
	s = session_new();
	if (!s)
		return -ENOMEM;
	file->private_data = s;
	return nonseekable_open(inode, file);
}

static int tally_release(struct inode *inode, struct file *file)
{
	session_free(file->private_data);
	return 0;
}

/* Reads a struct that begins with its size, according to the version rule. */
static int struct_in(void *to, size_t size, const void __user *from)
{
	u32 theirs;

	if (get_user(theirs, (const u32 __user *)from))
		return -EFAULT;
	if (theirs < sizeof(u32) || theirs > PAGE_SIZE)
		return -EINVAL;
	return copy_struct_from_user(to, size, from, theirs);
}

/* Writes as much of the answer as there is room for, with its size. */
static int struct_out(void __user *to, void *from, size_t size, u32 theirs)
{
	u32 n = min_t(size_t, size, theirs);

	*(u32 *)from = n;
	return copy_to_user(to, from, n) ? -EFAULT : 0;
}

static int ioctl_info(void __user *arg)
{
	struct tally_info in = { 0 }, out = {
		.abi_major = TALLY_ABI_MAJOR, .abi_minor = TALLY_ABI_MINOR,
		.cpus = nr_cpu_ids, .max_rate = max_rate,
	};
	int r = struct_in(&in, sizeof(in), arg);
	unsigned int i, n;

	if (r)
		return r;
	mutex_lock(&sessions_lock);
	for (i = TALLY_TIMER; i <= TALLY_PMU_INTEL; i++) {
		n = source_find(i)->present(i);
		if (!n)
			continue;
		out.sources |= 1u << i;
		if (i != TALLY_TIMER && i != TALLY_PERF)
			out.counters = n;
	}
	mutex_unlock(&sessions_lock);
	return struct_out(arg, &out, sizeof(out), in.size);
}

/* Reads a bitmap of CPUs.  It must name at least one CPU, and only possible ones. */
static int cpus_in(struct cpumask *out, const struct tally_setup *u)
{
	const u8 __user *from = (const u8 __user *)(unsigned long)u->cpus;
	u32 i;

	if (!u->cpus) {
		cpumask_copy(out, cpu_possible_mask);
		return u->cpu_bits ? -EINVAL : 0;
	}
	if (!u->cpu_bits || u->cpu_bits > NR_CPUS ||
	    u->cpus != (unsigned long)u->cpus)
		return -EINVAL;
	for (i = 0; i < u->cpu_bits; i++) {
		u8 byte;

		if (get_user(byte, from + i / 8))
			return -EFAULT;
		if (!(byte >> i % 8 & 1))
			continue;
		if (i >= nr_cpu_ids || !cpu_possible(i))
			return -EINVAL;
		cpumask_set_cpu(i, out);
	}
	return cpumask_empty(out) ? -EINVAL : 0;
}

/* Reads the kind of each CPU, nr_cpu_ids bytes. */
static int kinds_in(u8 *out, const struct tally_setup *u)
{
	const u8 __user *from = (const u8 __user *)(unsigned long)u->kind_of;
	u32 i;

	memset(out, TALLY_KIND_UNKNOWN, nr_cpu_ids);
	if (u->kind_cpus > NR_CPUS || u->kind_of != (unsigned long)u->kind_of)
		return -EINVAL;
	for (i = 0; i < u->kind_cpus; i++) {
		u8 kind;

		if (get_user(kind, from + i))
			return -EFAULT;
		if (kind >= u->nkinds && kind != TALLY_KIND_UNKNOWN)
			return -EINVAL;
		if (i < nr_cpu_ids)
			out[i] = kind;
	}
	return 0;
}

static int ioctl_setup(struct session *s, const void __user *arg)
{
	struct tally_setup *u = kzalloc(sizeof(*u), GFP_KERNEL);
	struct cpumask *cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	u8 *kind_of = kmalloc(nr_cpu_ids, GFP_KERNEL);
	int r = u && cpus && kind_of ? 0 : -ENOMEM;

	if (!r)
		r = struct_in(u, sizeof(*u), arg);
	if (!r)
		r = cpus_in(cpus, u);
	if (!r)
		r = kinds_in(kind_of, u);
	if (!r)
		r = session_setup(s, u, cpus, u->nkinds ? kind_of : NULL);
	kfree(kind_of);
	kfree(cpus);
	kfree(u);
	return r;
}

static int ioctl_tasks(struct session *s, const void __user *arg)
{
	struct tally_tasks u = { 0 };
	const u32 __user *tids;
	bool ready;
	int r = struct_in(&u, sizeof(u), arg);
	u32 i, tid, found = 0;

	if (r)
		return r;
	if (!u.n || u.n > TALLY_TASKS_MAX || u.tids != (unsigned long)u.tids)
		return -EINVAL;
	mutex_lock(&sessions_lock);
	ready = s->source && s->setup.flags & TALLY_SETUP_TASKS;
	mutex_unlock(&sessions_lock);
	if (!ready)
		return -EBADFD;
	tids = (const u32 __user *)(unsigned long)u.tids;
	for (i = 0; i < u.n; i++) {
		r = get_user(tid, tids + i) ? -EFAULT
		    : s->source->add_thread ? s->source->add_thread(s, tid) : 0;
		if (!r && session_knows(s))
			r = tasks_add(s, tid);
		if (r && r != -ESRCH)
			break;
		found += !r;
		r = 0;
		cond_resched();
	}
	if (session_follows(s))
		session_resync(s);
	return r ? r : found ? 0 : -ESRCH;
}

static int ioctl_stats(struct session *s, void __user *arg)
{
	struct tally_stats *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int r = -ENOMEM;
	u32 cpu, room;

	if (!t)
		return r;
	r = struct_in(t, sizeof(*t), arg);
	cpu = t->cpu;
	room = t->size;
	if (!r && cpu != TALLY_ALL_CPUS &&
	    (cpu >= nr_cpu_ids || !READ_ONCE(s->cpu[cpu])))
		r = -ENXIO;
	if (!r) {
		memset(t, 0, sizeof(*t));
		t->cpu = cpu;
		session_stats(s, cpu, t);
		r = struct_out(arg, t, sizeof(*t), room);
	}
	kfree(t);
	return r;
}

/* Handles the ioctls of unwind tables. */
static int ioctl_rows(struct session *s, unsigned int cmd,
		      const void __user *arg)
{
	union {
		struct tally_table table;
		struct tally_page page;
		struct tally_space space;
	} u = { 0 };
	int r;

	/* The tables exist from SETUP until the file is closed. */
	if (!smp_load_acquire(&s->source) || !s->rows)
		return -EBADFD;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(TALLY_IOC_TABLE):
		r = struct_in(&u.table, sizeof(u.table), arg);
		return r ? r : rows_table(s, &u.table);
	case _IOC_NR(TALLY_IOC_PAGE):
		r = struct_in(&u.page, sizeof(u.page), arg);
		return r ? r : rows_page(s, &u.page);
	default:
		r = struct_in(&u.space, sizeof(u.space), arg);
		return r ? r : rows_space(s, &u.space);
	}
}

static int ioctl_counts(struct session *s, void __user *arg)
{
	struct tally_counts u = { 0 };
	int r = struct_in(&u, sizeof(u), arg);

	if (r)
		return r;
	/* SETUP has written the flags before. */
	if (!smp_load_acquire(&s->source) ||
	    !(s->setup.flags & TALLY_SETUP_COUNT))
		return -EBADFD;
	if (u.n < TALLY_COUNTS_MAX || u.reserved ||
	    u.to != (unsigned long)u.to)
		return -EINVAL;
	if (u.cpu >= nr_cpu_ids || !READ_ONCE(s->cpu[u.cpu]))
		return -ENXIO;
	r = counts_take(s, u.cpu, (void __user *)(unsigned long)u.to, &u.n);
	return r ? r : struct_out(arg, &u, sizeof(u), u.size);
}

static long tally_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct session *s = file->private_data;
	void __user *p = (void __user *)arg;

	/* Structs contain their size. */
	if (_IOC_TYPE(cmd) != TALLY_IOC)
		return -ENOTTY;
	switch (_IOC_NR(cmd)) {
	case _IOC_NR(TALLY_IOC_INFO):
		return ioctl_info(p);
	case _IOC_NR(TALLY_IOC_SETUP):
		return ioctl_setup(s, p);
	case _IOC_NR(TALLY_IOC_TASKS):
		return ioctl_tasks(s, p);
	case _IOC_NR(TALLY_IOC_START):
		return arg ? -EINVAL : session_start(s);
	case _IOC_NR(TALLY_IOC_STOP):
		return arg ? -EINVAL : session_stop(s);
	case _IOC_NR(TALLY_IOC_STATS):
		return ioctl_stats(s, p);
	case _IOC_NR(TALLY_IOC_TABLE):
	case _IOC_NR(TALLY_IOC_PAGE):
	case _IOC_NR(TALLY_IOC_SPACE):
		return ioctl_rows(s, cmd, p);
	case _IOC_NR(TALLY_IOC_COUNTS):
		return ioctl_counts(s, p);
	default:
		return -ENOTTY;
	}
}

/* Finds the ring with `n` pages from page `at` of the file on: those of CPUs, then those
 * of their waits. */
static int ring_at(const struct session *s, unsigned long at, unsigned long n,
		   struct cpu_state **out)
{
	unsigned long pages = 1 + (s->setup.ring_bytes >> PAGE_SHIFT), cpu;
	struct cpu_state **of = s->cpu;

	if (s->setup.flags & TALLY_SETUP_WAITS && at >= pages * nr_cpu_ids) {
		at -= pages * nr_cpu_ids;
		pages = 1 + (s->setup.wait_bytes >> PAGE_SHIFT);
		of = s->waits;
	}
	cpu = at / pages;
	if (at % pages || n != pages)
		return -EINVAL;
	if (cpu >= nr_cpu_ids || !of[cpu])
		return -ENXIO;
	*out = of[cpu];
	return 0;
}

/* The offset selects the ring that is mapped.  A mapping keeps the file open and thus
 * the ring alive. */
static int tally_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct session *s = file->private_data;
	struct cpu_state *c = NULL;
	int r = -EBADFD;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	mutex_lock(&sessions_lock);
	if (s->source)
		r = ring_at(s, vma->vm_pgoff, vma_pages(vma), &c);
	mutex_unlock(&sessions_lock);
	if (r)
		return r;
	tally_vma_private(vma);
	return remap_vmalloc_range(vma, c->ring, 0);
}

static bool is_due(const struct cpu_state *c)
{
	return c && READ_ONCE(c->head) - READ_ONCE(c->ring->tail) >=
		    c->watermark;
}

static __poll_t tally_poll(struct file *file, poll_table *wait)
{
	struct session *s = file->private_data;
	unsigned int cpu;
	__poll_t what = 0;

	poll_wait(file, &s->wait, wait);
	/* Rings are created before the source is set, and freed with the file. */
	if (!smp_load_acquire(&s->source))
		return 0;
	for_each_possible_cpu(cpu)
		if (is_due(READ_ONCE(s->cpu[cpu])) ||
		    is_due(READ_ONCE(s->waits[cpu])))
			what = EPOLLIN | EPOLLRDNORM;
	return what;
}

static const struct file_operations tally_fops = {
	.owner = THIS_MODULE,
	.open = tally_open,
	.release = tally_release,
	.unlocked_ioctl = tally_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = tally_mmap,
	.poll = tally_poll,
	.llseek = noop_llseek,
};

/* open() checks permissions. */
static struct miscdevice tally_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tally",
	.fops = &tally_fops,
	.mode = 0666,
};

static int __init tally_init(void)
{
	int r;

	/* A lower one cannot be told from none within a window. */
	if (max_rate < NSEC_PER_SEC / WINDOW_NS) {
		pr_err("tally: max_rate must be at least %ld\n",
		       NSEC_PER_SEC / WINDOW_NS);
		return -EINVAL;
	}
	pmu_init();
	r = tasks_init();
	if (r)
		return r;
	r = sessions_init();
	if (r)
		goto no_sessions;
	r = misc_register(&tally_device);
	if (r)
		goto no_device;
	return 0;
no_device:
	sessions_exit();
no_sessions:
	tasks_exit();
	return r;
}

static void __exit tally_exit(void)
{
	misc_deregister(&tally_device);
	sessions_exit();
	pmu_exit();
	tasks_exit();
}

module_init(tally_init);
module_exit(tally_exit);
MODULE_DESCRIPTION("samples for tally, by timers and performance counters");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
