// SPDX-License-Identifier: GPL-2.0
/*
 * A source of samples: the kernel's own events, which are counters and clocks that
 * the kernel attaches to threads or CPUs and virtualises.  At an overflow the kernel
 * calls our handler in an NMI, in an interrupt, or (software events) where the event
 * occurs.
 *
 * Events are created and released in sleeping context with perf->lock.  No lock is
 * taken before it, because perf_event_create_kernel_counter() may take
 * cpus_read_lock().  A CPU that comes online therefore gets its events by a work
 * item.  The kernel detaches the events of a CPU that goes offline.  New ones
 * replace them when it comes back.
 *
 * Processors with several kinds of cores have a PMU for each.  A CPU has the counter of
 * its kind, and a thread those of all kinds; the kernel runs each only on CPUs of its
 * kind.
 *
 * A handler may still run when its event is released.  session_free() waits for an
 * RCU grace period before it frees what handlers use.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "tally.h"

struct counter {
	struct list_head list;
	struct perf_event *event;
	unsigned int which;		/* index of the event in the recording */
	unsigned int cpu;		/* nr_cpu_ids if attached to a thread */
};

/* A thread that TASKS named. */
struct follow {
	struct hlist_node node;
	struct pid *pid;
};

struct perf_state {
	struct mutex lock;
	struct session *s;
	bool on;
	struct list_head counters;
	struct hlist_head threads[TASK_BUCKETS];	/* by their pid */
	unsigned int nthreads;
	struct work_struct work;
	struct cpumask *stale;		/* CPUs that went offline or came online */
	u8 *kind_of;			/* by CPU, see tally/kmod.h; NULL: one kind */
	struct tally_perf_count past[TALLY_EVENTS_MAX];	/* counts of released
							 * counters */
	/* The context of a handler. */
	struct perf_slot {
		struct session *s;
		unsigned int which;
	} slot[TALLY_EVENTS_MAX];
};

static unsigned int perf_present(u32 which)
{
	return 1;
}

static bool is_clock(const struct tally_perf_event *p)
{
	return p->type == PERF_TYPE_SOFTWARE &&
	       (p->config == PERF_COUNT_SW_CPU_CLOCK ||
		p->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool is_none(const struct tally_perf_event *p)
{
	return p->type == TALLY_PERF_NONE;
}

static bool is_sampled(const struct tally_perf_event *p)
{
	return !p->reserved && p->type != PERF_TYPE_TRACEPOINT &&
	       p->type != PERF_TYPE_BREAKPOINT && !is_none(p);
}

/* Checks what the kernel counts for an event.  *clock is set if it may be a clock. */
static bool kernel_events_fit(const struct tally_setup *u, unsigned int i,
			      bool *clock)
{
	unsigned int k;

	*clock = is_clock(&u->perf[i]);
	if (!(u->events[i].flags & TALLY_EVENT_KINDS))
		return is_sampled(&u->perf[i]);
	for (k = 0; k < u->nkinds; k++) {
		const struct tally_perf_event *p = &u->kinds[k][i];

		*clock |= is_clock(p);
		if (is_none(p) ? p->config || p->config1 || p->config2 ||
				 p->reserved : !is_sampled(p))
			return false;
	}
	return true;
}

/* The kernel's own refusals, and that of probes, appear at START. */
static int perf_check(const struct tally_setup *u)
{
	unsigned int i;
	u64 rate = 0;

	for (i = 0; i < u->nevents; i++) {
		const struct tally_event *e = &u->events[i];
		bool clock;

		if (!kernel_events_fit(u, i, &clock) ||
		    e->event || e->umask || e->cmask || e->allowed ||
		    e->flags & TALLY_EVENT_PMU_FLAGS)
			return -EINVAL;
		if (!e->freq && (!e->period || e->period >> 62))
			return -EINVAL;
		rate += e->freq;
		if (!e->freq && clock)
			rate += div64_u64(NSEC_PER_SEC, e->period);
		if (e->freq > max_rate || rate > max_rate)
			return -EINVAL;
	}
	return 0;
}

/* Skips samples above the rate limit: one of two is taken, then one of four, and
 * so on, with the weight of the skipped ones.  Below half of the limit, more are
 * taken again. */
static bool thinned(struct cpu_event *e, u64 weight)
{
	if (!(++e->turn & (e->thin - 1)))
		return false;
	e->owed += weight;
	e->stats.throttled++;
	return true;
}

static void handle(struct perf_event *event, struct perf_sample_data *data,
		   struct pt_regs *regs)
{
	struct perf_slot *slot = event->overflow_handler_context;
	struct cpu_state *c = READ_ONCE(slot->s->cpu[smp_processor_id()]);
	u64 weight = data->period;
	struct cpu_event *e;
	unsigned int what;

	if (!c || !READ_ONCE(c->running) || !regs)
		return;
	e = &c->ev[slot->which];
	/* An NMI interrupted another event's handler, and there is only one record
	 * buffer. */
	if (c->busy) {
		c->nested++;
		e->stats.missed++;
		e->stats.weight += weight;
		return;
	}
	c->busy = true;
	barrier();
	if (!thinned(e, weight)) {
		what = sample_take(c, slot->which, regs, weight + e->owed);
		if (what & SAMPLE_WANTED)
			e->owed = 0;
		if (what & SAMPLE_TOO_FAST)
			sample_thinner(c, slot->which);
	}
	barrier();
	c->busy = false;
}

/* Leaves out guests of virtual machines, whose samples would have the host's
 * registers.  Some PMUs cannot. */
static struct perf_event *event_new(struct perf_event_attr *attr, int cpu,
				    struct task_struct *t,
				    struct perf_slot *slot)
{
	struct perf_event *event;

	attr->exclude_guest = 1;
	event = perf_event_create_kernel_counter(attr, cpu, t, handle, slot);
	if (event != ERR_PTR(-EINVAL))
		return event;
	attr->exclude_guest = 0;
	return perf_event_create_kernel_counter(attr, cpu, t, handle, slot);
}

/* Probes (kprobe, uprobe) are tracepoints of other types, which are not constants.  What
 * they name is read from the program, but a CPU that comes online gets its events from a
 * work item, in which another program's memory may be mapped. */
static bool is_probe(const struct perf_event *event)
{
#ifdef CONFIG_EVENT_TRACING
	return event->tp_event;
#else
	return false;
#endif
}

static int counter_add(struct perf_state *p, unsigned int which,
		       const struct tally_perf_event *what, unsigned int cpu,
		       struct task_struct *t)
{
	const struct tally_setup *u = &p->s->setup;
	const struct tally_event *e = &u->events[which];
	struct perf_event_attr attr = {
		.type = what->type, .size = sizeof(attr),
		.config = what->config,
		.config1 = what->config1,
		.config2 = what->config2,
		.exclude_user = !(e->flags & TALLY_EVENT_USER),
		.exclude_kernel = !(e->flags & TALLY_EVENT_KERNEL),
		.exclude_hv = !(e->flags & TALLY_EVENT_KERNEL),
	};
	struct counter *c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	int r = 0;

	if (!c)
		return -ENOMEM;
	attr.freq = e->freq != 0;
	if (attr.freq)
		attr.sample_freq = e->freq;
	else
		attr.sample_period = e->period;
	if (t) {
		attr.inherit = !!(u->flags & TALLY_SETUP_INHERIT);
		attr.enable_on_exec = !!(u->flags & TALLY_SETUP_ON_EXEC);
		attr.disabled = attr.enable_on_exec;
	}
	c->which = which;
	c->cpu = t ? nr_cpu_ids : cpu;
	c->event = event_new(&attr, t ? -1 : (int)cpu, t, &p->slot[which]);
	if (IS_ERR(c->event)) {
		r = PTR_ERR(c->event);
	} else if (is_probe(c->event)) {
		perf_event_release_kernel(c->event);
		r = -EOPNOTSUPP;
	}
	if (r) {
		kfree(c);
		return r;
	}
	list_add_tail(&c->list, &p->counters);
	return 0;
}

/* Adds the counters of an event on a CPU, or of a thread on all of them. */
static int counters_add(struct perf_state *p, unsigned int which,
			unsigned int cpu, struct task_struct *t)
{
	const struct tally_setup *u = &p->s->setup;
	u8 known = TALLY_KIND_UNKNOWN;
	bool none = false;
	unsigned int k;
	int r = 0;

	if (!(u->events[which].flags & TALLY_EVENT_KINDS))
		return counter_add(p, which, &u->perf[which], cpu, t);
	if (!t)
		known = p->kind_of[cpu];
	for (k = 0; k < u->nkinds; k++) {
		const struct tally_perf_event *what = &u->kinds[k][which];

		if (known != TALLY_KIND_UNKNOWN && k != known)
			continue;
		if (is_none(what)) {
			none = true;
			continue;
		}
		r = counter_add(p, which, what, cpu, t);
		/* PMUs refuse CPUs of other kinds with ENOENT. */
		if (t ? r : r != -ENOENT)
			return r;
	}
	/* The CPU may be of a kind that does not count the event. */
	return none && r == -ENOENT ? 0 : r;
}

static void count_add(struct tally_perf_count *to, struct perf_event *event)
{
	u64 enabled, running;

	to->value += perf_event_read_value(event, &enabled, &running);
	to->enabled_ns += enabled;
	to->running_ns += running;
}

static void counter_drop(struct perf_state *p, struct counter *c)
{
	count_add(&p->past[c->which], c->event);
	perf_event_release_kernel(c->event);
	list_del(&c->list);
	kfree(c);
}

/* Releases the counters of a CPU, or all of them for nr_cpu_ids + 1. */
static void counters_drop(struct perf_state *p, unsigned int cpu)
{
	struct counter *c, *next;

	list_for_each_entry_safe(c, next, &p->counters, list)
		if (cpu > nr_cpu_ids || c->cpu == cpu)
			counter_drop(p, c);
}

static int cpu_attach(struct perf_state *p, unsigned int cpu)
{
	unsigned int i;
	int r = 0;

	for (i = 0; i < p->s->setup.nevents && !r; i++)
		r = counters_add(p, i, cpu, NULL);
	return r;
}

static int cpus_attach(struct perf_state *p)
{
	unsigned int cpu;
	int r, some = 0;

	for_each_cpu(cpu, p->s->cpus) {
		if (!cpu_online(cpu))
			continue;
		r = cpu_attach(p, cpu);
		some += !r;
		if (!r)
			continue;
		counters_drop(p, cpu);
		/* The CPU may just have gone offline.  While it comes or goes, perf
		 * has none of it (ENODEV) although it is online; if it comes,
		 * perf_cpu_changed() will be called. */
		if (r != -ENODEV && cpu_online(cpu))
			return r;
	}
	return some ? 0 : -ENODEV;
}

static void thread_drop(struct perf_state *p, struct follow *f)
{
	hlist_del(&f->node);
	put_pid(f->pid);
	kfree(f);
	p->nthreads--;
}

/* Attaches the events to a thread.  Returns -ESRCH if it has ended. */
static int thread_attach(struct perf_state *p, struct follow *f)
{
	struct task_struct *t = get_pid_task(f->pid, PIDTYPE_PID);
	unsigned int i;
	int r = 0;

	if (!t)
		return -ESRCH;
	for (i = 0; i < p->s->setup.nevents && !r; i++)
		r = counters_add(p, i, 0, t);
	put_task_struct(t);
	return r;
}

static int threads_attach(struct perf_state *p)
{
	unsigned int i, some = 0;
	struct follow *f;
	int r;

	for (i = 0; i < TASK_BUCKETS; i++)
		hlist_for_each_entry(f, &p->threads[i], node) {
			r = thread_attach(p, f);
			if (r && r != -ESRCH)
				return r;
			some += !r;
			cond_resched();
		}
	return some ? 0 : -ESRCH;
}

static void cpus_added(struct work_struct *work)
{
	struct perf_state *p = container_of(work, struct perf_state, work);
	unsigned int cpu;

	mutex_lock(&p->lock);
	for_each_cpu(cpu, p->stale) {
		if (!p->on || !cpu_online(cpu))
			continue;
		cpumask_clear_cpu(cpu, p->stale);
		counters_drop(p, cpu);
		if (cpumask_test_cpu(cpu, p->s->cpus) && cpu_attach(p, cpu))
			counters_drop(p, cpu);
	}
	mutex_unlock(&p->lock);
}

/* Called within hotplug. */
static void perf_cpu_changed(struct session *s, unsigned int cpu, bool came)
{
	if (s->setup.flags & TALLY_SETUP_TASKS)
		return;
	cpumask_set_cpu(cpu, s->perf->stale);
	if (came)
		schedule_work(&s->perf->work);
}

static void perf_close(struct session *s)
{
	struct perf_state *p = s->perf;

	mutex_lock(&p->lock);
	p->on = false;
	counters_drop(p, nr_cpu_ids + 1);
	mutex_unlock(&p->lock);
}

static int perf_open(struct session *s)
{
	struct perf_state *p = s->perf;
	int r = -EBADFD;

	mutex_lock(&p->lock);
	if (!p->on) {
		r = s->setup.flags & TALLY_SETUP_TASKS ? threads_attach(p)
						       : cpus_attach(p);
		p->on = !r;
		if (r)
			counters_drop(p, nr_cpu_ids + 1);
	}
	mutex_unlock(&p->lock);
	return r;
}

static bool has_ended(struct pid *pid)
{
	bool ended;

	rcu_read_lock();
	ended = !pid_task(pid, PIDTYPE_PID);
	rcu_read_unlock();
	return ended;
}

static void threads_forget_ended(struct perf_state *p)
{
	struct hlist_node *next;
	struct follow *f;
	unsigned int i;

	for (i = 0; i < TASK_BUCKETS; i++)
		hlist_for_each_entry_safe(f, next, &p->threads[i], node)
			if (has_ended(f->pid))
				thread_drop(p, f);
}

/* Takes over `pid`, unless it returns an error.  One that is there already would be
 * counted twice. */
static int thread_add(struct perf_state *p, struct pid *pid)
{
	struct hlist_head *bucket = &p->threads[hash_ptr(pid, ilog2(TASK_BUCKETS))];
	struct follow *f;

	if (p->on)
		return -EBADFD;
	hlist_for_each_entry(f, bucket, node)
		if (f->pid == pid) {
			put_pid(pid);
			return 0;
		}
	if (p->nthreads >= TALLY_TASKS_MAX)
		threads_forget_ended(p);
	if (p->nthreads >= TALLY_TASKS_MAX)
		return -EBADFD;
	f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);
	if (!f)
		return -ENOMEM;
	f->pid = pid;
	hlist_add_head(&f->node, bucket);
	p->nthreads++;
	return 0;
}

static int perf_add_thread(struct session *s, u32 tid)
{
	struct pid *pid = tid <= INT_MAX ? find_get_pid(tid) : NULL;
	struct perf_state *p = s->perf;
	int r = -ESRCH;

	if (pid && !has_ended(pid)) {
		mutex_lock(&p->lock);
		r = thread_add(p, pid);
		mutex_unlock(&p->lock);
	}
	if (r)
		put_pid(pid);
	return r;
}

static void perf_counts(struct session *s, struct tally_stats *out)
{
	struct perf_state *p = s->perf;
	struct counter *c;

	mutex_lock(&p->lock);
	memcpy(out->perf, p->past, sizeof(out->perf));
	list_for_each_entry(c, &p->counters, list)
		count_add(&out->perf[c->which], c->event);
	mutex_unlock(&p->lock);
}

static void state_free(struct perf_state *p)
{
	if (p) {
		kfree(p->kind_of);
		kfree(p->stale);
	}
	kfree(p);
}

static int perf_prepare(struct session *s, const u8 *kind_of)
{
	struct perf_state *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (p)
		p->stale = kzalloc(cpumask_size(), GFP_KERNEL_ACCOUNT);
	if (p && kind_of)
		p->kind_of = kmemdup(kind_of, nr_cpu_ids, GFP_KERNEL_ACCOUNT);
	if (!p || !p->stale || (kind_of && !p->kind_of)) {
		state_free(p);
		return -ENOMEM;
	}
	mutex_init(&p->lock);
	p->s = s;
	INIT_LIST_HEAD(&p->counters);
	INIT_WORK(&p->work, cpus_added);
	for (i = 0; i < TALLY_EVENTS_MAX; i++)
		p->slot[i] = (struct perf_slot){ s, i };
	s->perf = p;
	return 0;
}

/* The recording is in no list any more, so hotplug no longer reports CPUs to it. */
static void perf_forget(struct session *s)
{
	struct perf_state *p = s->perf;
	struct hlist_node *next;
	struct follow *f;
	unsigned int i;

	cancel_work_sync(&p->work);
	for (i = 0; i < TASK_BUCKETS; i++)
		hlist_for_each_entry_safe(f, next, &p->threads[i], node)
			thread_drop(p, f);
	state_free(p);
	s->perf = NULL;
}

static int perf_begin(struct session *s)
{
	return 0;
}

static void perf_end(struct session *s)
{
}

/* Handlers check c->running. */
static void perf_start_cpu(struct cpu_state *c)
{
	unsigned int i;

	for (i = 0; i < TALLY_EVENTS_MAX; i++)
		c->ev[i].thin = 1;
}

static void perf_stop_cpu(struct cpu_state *c)
{
}

const struct source perf_source = {
	.by_kernel = true,
	.present = perf_present,
	.check = perf_check,
	.prepare = perf_prepare,
	.forget = perf_forget,
	.open = perf_open,
	.close = perf_close,
	.add_thread = perf_add_thread,
	.cpu_changed = perf_cpu_changed,
	.counts = perf_counts,
	.begin = perf_begin,
	.end = perf_end,
	.start_cpu = perf_start_cpu,
	.stop_cpu = perf_stop_cpu,
};
