// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings: creation, start, stop and end; CPU hotplug and suspend.
 *
 * A recording is in one of three states; the machine is awake or asleep:
 *
 *		 SETUP		 START: begin(), CPUs start if awake
 *	new -------------> idle ------------------------------------> started
 *			   idle <------------------------------------ started
 *				 STOP: CPUs stop, end()
 *
 * A started recording holds its source from begin() to end(), even while the machine
 * sleeps.  No other user can thus take the counters before it wakes.  A CPU of the
 * recording runs (start_cpu was called, stop_cpu not yet) exactly while
 *
 *	the recording is started, the machine is awake, and the CPU is online
 *	and asked for.
 *
 * START, STOP, closing the file, suspend, resume and hotplug each only restore this
 * invariant.  In a recording of threads, a running CPU is paused while none of them
 * has the processor.  Its waits are recorded while it runs, paused or not.
 *
 * tests/kmod/test_lives.c visits all states of two recordings.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "tally.h"

LIST_HEAD(sessions);
DEFINE_MUTEX(sessions_lock);
static int hotplug_state;
static DEFINE_MUTEX(setup_lock);	/* guards session.watches; the outermost
					 * lock */
static bool asleep;		/* guarded by sessions_lock */
static atomic_long_t all_pages;	/* pages of the rings of all recordings */

const struct source *source_find(u32 which)
{
	switch (which) {
	case TALLY_TIMER:
		return &timer_source;
	case TALLY_PMU_K8:
	case TALLY_PMU_P6:
	case TALLY_PMU_AMD:
	case TALLY_PMU_INTEL:
		return &pmu_source;
	case TALLY_PERF:
		return &perf_source;
	default:
		return NULL;
	}
}

struct session *session_new(void)
{
	struct session *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);

	if (!s)
		return NULL;
	s->cpu = kcalloc(nr_cpu_ids, sizeof(*s->cpu), GFP_KERNEL_ACCOUNT);
	s->waits = kcalloc(nr_cpu_ids, sizeof(*s->waits), GFP_KERNEL_ACCOUNT);
	s->cpus = kzalloc(cpumask_size(), GFP_KERNEL_ACCOUNT);
	if (!s->cpu || !s->waits || !s->cpus) {
		kfree(s->cpu);
		kfree(s->waits);
		kfree(s->cpus);
		kfree(s);
		return NULL;
	}
	/* The credentials hold a reference to the user, because 6.1 exports
	 * free_uid only in its later releases. */
	s->cred = get_current_cred();
	s->memlock = rlimit(RLIMIT_MEMLOCK);
	s->may_lock = capable(CAP_IPC_LOCK);
	s->ns = get_pid_ns(task_active_pid_ns(current));
	init_waitqueue_head(&s->wait);
	spin_lock_init(&s->task_lock);
	mutex_init(&s->count_lock);
	mutex_lock(&sessions_lock);
	list_add_tail_rcu(&s->list, &sessions);
	mutex_unlock(&sessions_lock);
	return s;
}

static void wake(struct irq_work *w)
{
	struct cpu_state *c = container_of(w, struct cpu_state, wake);

	wake_up_interruptible(&c->s->wait);
}

/* perf's default allowance of locked memory per user and CPU
 * (perf_event_mlock_kb). */
#define FREE_PAGES ((516u << 10) / PAGE_SIZE)

void pages_release(struct session *s, size_t n)
{
	atomic_long_sub(n, &s->cred->user->locked_vm);
	atomic_long_sub(n, &all_pages);
}

/* Rings and tables of all recordings together may use an eighth of the memory.
 * Those of a user count as locked memory, as perf's do. */
int pages_charge(struct session *s, size_t n)
{
	unsigned long all = atomic_long_add_return(n, &all_pages);
	unsigned long own = atomic_long_add_return(n, &s->cred->user->locked_vm);
	unsigned long most = FREE_PAGES * num_online_cpus() +
			     (s->memlock >> PAGE_SHIFT);

	if (all <= totalram_pages() / 8 && (own <= most || s->may_lock))
		return 0;
	pages_release(s, n);
	return -ENOMEM;
}

static void state_free(struct cpu_state *c)
{
	counts_free(c);
	vunmap(c->ring);
	while (c->npages)
		__free_page(c->pages[--c->npages]);
	kvfree(c->pages);
	kvfree(c);
}

/* Allocates the ring page by page: vmalloc_user can neither charge its pages to the
 * caller's memory cgroup nor choose the CPU's own node. */
static struct cpu_state *state_new(unsigned int cpu, size_t bytes, bool counts)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	int node = cpu_to_node(cpu);
	size_t n = bytes >> PAGE_SHIFT;
	struct cpu_state *c = kvzalloc_node(sizeof(*c), GFP_KERNEL_ACCOUNT, node);

	if (!c)
		return NULL;
	c->pages = kvcalloc(n, sizeof(*c->pages), GFP_KERNEL_ACCOUNT);
	while (c->pages && c->npages < n) {
		struct page *page = alloc_pages_node(node, gfp, 0);

		if (!page)
			break;
		c->pages[c->npages++] = page;
		cond_resched();
	}
	if (c->npages == n)
		c->ring = vmap(c->pages, n, VM_MAP | VM_USERMAP, PAGE_KERNEL);
	if (c->ring && (!counts || !counts_new(c, node)))
		return c;
	state_free(c);
	return NULL;
}

/* Makes a ring with `data` bytes and tables of `counts` bytes, and charges both with
 * the state itself, which is larger than the smallest rings.  Returns NULL if the limit
 * is reached. */
static struct cpu_state *state_add(struct session *s, unsigned int cpu,
				   size_t data, size_t counts)
{
	size_t bytes = PAGE_SIZE + data;
	size_t all = bytes + counts + sizeof(struct cpu_state);
	size_t pages = (all + PAGE_SIZE - 1) >> PAGE_SHIFT;
	struct cpu_state *c;
	unsigned int i;

	if (pages_charge(s, pages) < 0)
		return NULL;
	c = state_new(cpu, bytes, counts);
	if (!c) {
		pages_release(s, pages);
		return NULL;
	}
	s->pages += pages;
	c->s = s;
	c->cpu = cpu;
	c->data = (u8 *)c->ring + PAGE_SIZE;
	c->size = data;
	c->random = get_random_u64() | 1;
	c->stack_key = get_random_u64();
	seqcount_init(&c->clock);
	init_irq_work(&c->wake, wake);
	for (i = 0; i < TALLY_EVENTS_MAX; i++)
		c->ev[i].owner = c;
	c->ring->magic = TALLY_RING_MAGIC;
	c->ring->abi_major = TALLY_ABI_MAJOR;
	c->ring->abi_minor = TALLY_ABI_MINOR;
	c->ring->cpu = cpu;
	c->ring->data_offset = PAGE_SIZE;
	c->ring->data_size = c->size;
	return c;
}

static int wait_add(struct session *s, unsigned int cpu)
{
	u64 bytes = s->setup.wait_bytes;
	struct cpu_state *c;

	if (!(s->setup.flags & TALLY_SETUP_WAITS) || s->waits[cpu])
		return 0;
	c = state_add(s, cpu, bytes, 0);
	if (!c)
		return -ENOMEM;
	c->watermark = bytes / 4;
	c->reserve = bytes / 4;
	c->copy_bytes = s->setup.wait_copy_bytes;
	/* As in cpu_add(). */
	smp_store_release(&s->waits[cpu], c);
	return 0;
}

static int cpu_add(struct session *s, unsigned int cpu)
{
	struct cpu_state *c;
	unsigned int i;

	if (s->cpu[cpu])
		return 0;
	if (wait_add(s, cpu) < 0)
		return -ENOMEM;
	c = state_add(s, cpu, s->setup.ring_bytes, counts_bytes(s));
	if (!c)
		return -ENOMEM;
	for (i = 0; i < s->setup.nevents; i++)
		c->ev[i].mean = s->setup.events[i].period;
	c->watermark = s->setup.watermark;
	c->copy_bytes = s->setup.copy_bytes;
	/* When a CPU comes online, poll and handlers may see it at once. */
	smp_store_release(&s->cpu[cpu], c);
	return 0;
}

static void state_drop(struct cpu_state **at)
{
	if (!*at)
		return;
	irq_work_sync(&(*at)->wake);
	state_free(*at);
	*at = NULL;
}

static void cpus_free(struct session *s)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		state_drop(&s->cpu[cpu]);
		state_drop(&s->waits[cpu]);
	}
	pages_release(s, s->pages);
	s->pages = 0;
}

/* What is not used must be 0. */
static bool kinds_fit(const struct tally_setup *u)
{
	unsigned int k, i;

	if (u->nkinds > TALLY_KINDS_MAX || (u->nkinds && u->source != TALLY_PERF))
		return false;
	if (!u->nkinds && (u->kind_of || u->kind_cpus))
		return false;
	for (i = 0; i < TALLY_EVENTS_MAX; i++) {
		bool kinds = u->events[i].flags & TALLY_EVENT_KINDS;

		if (kinds && (!u->nkinds ||
			      memchr_inv(&u->perf[i], 0, sizeof(u->perf[i]))))
			return false;
		for (k = kinds ? u->nkinds : 0; k < TALLY_KINDS_MAX; k++)
			if (memchr_inv(&u->kinds[k][i], 0,
				       sizeof(u->kinds[k][i])))
				return false;
	}
	return true;
}

static bool ring_valid(u64 bytes)
{
	return bytes >= TALLY_RING_MIN && bytes >= PAGE_SIZE &&
	       bytes <= TALLY_RING_MAX && !(bytes & (bytes - 1));
}

static bool waits_valid(const struct tally_setup *u)
{
	if (u->reserved2)
		return false;
	if (!(u->flags & TALLY_SETUP_WAITS))
		return !(u->flags & TALLY_SETUP_WAKES) && !u->wait_bytes &&
		       !u->wait_copy_bytes;
	return u->flags & TALLY_SETUP_CHAIN && ring_valid(u->wait_bytes) &&
	       !(u->wait_copy_bytes % 8) &&
	       u->wait_copy_bytes <= u->copy_bytes &&
	       u->wait_copy_bytes <= u->wait_bytes / 8;
}

static int setup_check(const struct tally_setup *u)
{
	u64 ring = u->ring_bytes;
	unsigned int i;

	if (u->flags & ~TALLY_SETUP_FLAGS || u->reserved || !u->nevents ||
	    u->nevents > TALLY_EVENTS_MAX)
		return -EINVAL;
	if (!ring_valid(ring) || !u->watermark || u->watermark > ring ||
	    !waits_valid(u))
		return -EINVAL;
	if (u->flags & TALLY_SETUP_CHAIN
	    ? !u->max_chain || u->max_chain > TALLY_CHAIN_MAX : u->max_chain)
		return -EINVAL;
	if (u->copy_bytes && (!(u->flags & TALLY_SETUP_CHAIN) ||
	    u->copy_bytes % 8 || u->copy_bytes > TALLY_COPY_MAX ||
	    u->copy_bytes > ring / 2))
		return -EINVAL;
	if (u->flags & TALLY_SETUP_UNWIND && !u->copy_bytes)
		return -EINVAL;
	if (u->flags & TALLY_SETUP_PROOF && !(u->flags & TALLY_SETUP_UNWIND))
		return -EINVAL;
	if (u->flags & TALLY_SETUP_STACKS && !(u->flags & TALLY_SETUP_CHAIN))
		return -EINVAL;
	if (u->flags & TALLY_SETUP_COUNT &&
	    (!(u->flags & TALLY_SETUP_STACKS) || u->flags & TALLY_SETUP_PROOF))
		return -EINVAL;
	if (u->source != TALLY_PERF &&
	    memchr_inv(u->perf, 0, sizeof(u->perf)))
		return -EINVAL;
	if (!kinds_fit(u))
		return -EINVAL;
	if (u->flags & TALLY_SETUP_CGROUP ? u->flags & TALLY_SETUP_TASKS
					  : u->cgroup_fd)
		return -EINVAL;
	if (!(u->flags & TALLY_SETUP_TASKS) &&
	    u->flags & (TALLY_SETUP_INHERIT | TALLY_SETUP_ON_EXEC))
		return -EINVAL;
	for (i = 0; i < TALLY_EVENTS_MAX; i++) {
		const struct tally_event *e = &u->events[i];

		if (i >= u->nevents) {
			if (memchr_inv(e, 0, sizeof(*e)) ||
			    memchr_inv(&u->perf[i], 0, sizeof(u->perf[i])))
				return -EINVAL;
			continue;
		}
		if (e->flags & ~TALLY_EVENT_FLAGS ||
		    !(e->flags & (TALLY_EVENT_USER | TALLY_EVENT_KERNEL)))
			return -EINVAL;
	}
	return 0;
}

/* Asks for consent to sample the kernel, and to use the scheduler's tracepoints, for
 * which perf asks, too. */
static int setup_allowed(const struct tally_setup *u)
{
	bool kernel = false;
	unsigned int i;

	for (i = 0; i < u->nevents; i++)
		kernel |= u->events[i].flags & TALLY_EVENT_KERNEL;
	/* perf also refuses this where the kernel is locked down, even for root. */
	if (kernel && security_locked_down(LOCKDOWN_PERF))
		return -EPERM;
	return (kernel || u->flags & TALLY_SETUP_WAITS) && tally_allow_kernel()
	       ? -EACCES : 0;
}

/* Starts watching once, even if SETUP then fails; closing the file undoes it. */
static int session_watch(struct session *s, const struct tally_setup *u,
			 const struct source *source)
{
	unsigned int what = 0;
	int r;

	if (u->flags & TALLY_SETUP_WAITS ||
	    (u->flags & TALLY_SETUP_TASKS && !source->by_kernel))
		what |= WATCH_SWITCHES;
	if (u->flags & TALLY_SETUP_WAKES)
		what |= WATCH_WAKES;
	mutex_lock(&setup_lock);
	what &= ~s->watches;
	r = tasks_watch(what);
	if (!r)
		s->watches |= what;
	mutex_unlock(&setup_lock);
	return r;
}

int session_setup(struct session *s, const struct tally_setup *setup,
		  const struct cpumask *cpus, const u8 *kind_of)
{
	const struct source *source = source_find(setup->source);
	unsigned int cpu;
	int r;

	if (!source)
		return -EINVAL;
	r = setup_check(setup);
	if (!r)
		r = setup_allowed(setup);
	if (!r)
		r = source->check(setup);
	if (!r)
		r = session_watch(s, setup, source);
	if (r)
		return r;
	cpus_read_lock();
	mutex_lock(&sessions_lock);
	if (s->source)
		r = -EBADFD;
	else if (!source->present(setup->source))
		r = -ENODEV;
	if (!r && setup->flags & TALLY_SETUP_CGROUP)
		r = cgroup_follow(s, setup->cgroup_fd);
	if (r)
		goto out;
	s->setup = *setup;
	cpumask_copy(s->cpus, cpus);
	if (setup->flags & TALLY_SETUP_UNWIND)
		r = rows_new(s);
	for_each_cpu_and(cpu, s->cpus, cpu_online_mask) {
		if (!r)
			r = cpu_add(s, cpu);
	}
	/* Comes last: forget(), which undoes it, waits for work that takes such locks. */
	if (!r && source->prepare)
		r = source->prepare(s, kind_of);
	if (r) {
		cpus_free(s);
		cgroup_forget(s);
		rows_free(s);
	} else {
		/* From here on other threads and handlers use all of the above. */
		smp_store_release(&s->source, source);
	}
out:
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	return r;
}

static void clock_run(struct cpu_state *c)
{
	WRITE_ONCE(c->since_ns, ktime_get_mono_fast_ns());
}

static void clock_halt(struct cpu_state *c)
{
	write_seqcount_begin(&c->clock);
	c->enabled_ns += ktime_get_mono_fast_ns() - c->since_ns;
	WRITE_ONCE(c->since_ns, 0);
	write_seqcount_end(&c->clock);
}

/* Returns the enabled time so far, from any CPU; the clocks of two may differ a little. */
static u64 clock_read(const struct cpu_state *c)
{
	u64 ns, since, now;
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&c->clock);
		ns = c->enabled_ns;
		since = READ_ONCE(c->since_ns);
		now = ktime_get_mono_fast_ns();
	} while (read_seqcount_retry(&c->clock, seq));
	return since && now > since ? ns + now - since : ns;
}

static void start_here(void *arg)
{
	struct cpu_state *c = arg;

	c->paused = false;
	c->s->source->start_cpu(c);
	WRITE_ONCE(c->running, true);
	clock_run(c);
	if (c->s->waits[c->cpu])
		WRITE_ONCE(c->s->waits[c->cpu]->running, true);
	if (session_follows(c->s))
		session_switch(c->s, tasks_current(c->s));
}

static void stop_here(void *arg)
{
	struct cpu_state *c = arg, *w = c->s->waits[c->cpu];

	if (w && c->s->started)
		waits_interrupted(w);
	if (w)
		WRITE_ONCE(w->running, false);
	WRITE_ONCE(c->running, false);
	if (!c->paused)
		clock_halt(c);
	c->s->source->stop_cpu(c);
}

void session_switch(struct session *s, bool on)
{
	struct cpu_state *c;

	/* Until the source is set, SETUP may fail and free the CPUs. */
	if (!smp_load_acquire(&s->source))
		return;
	c = READ_ONCE(s->cpu[smp_processor_id()]);
	if (!c || !c->running || c->paused == !on)
		return;
	c->paused = !on;
	if (on) {
		clock_run(c);
		s->source->resume_cpu(c);
	} else {
		s->source->pause_cpu(c);
		clock_halt(c);
	}
}

static void resync_here(void *arg)
{
	session_switch(arg, tasks_current(arg));
}

void session_resync(struct session *s)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		smp_call_function_single(cpu, resync_here, s, 1);
	cpus_read_unlock();
}

static void cpu_start(struct cpu_state *c)
{
	if (!c->running)
		smp_call_function_single(c->cpu, start_here, c, 1);
}

static void cpu_stop(struct cpu_state *c)
{
	if (c && c->running)
		smp_call_function_single(c->cpu, stop_here, c, 1);
}

void session_restart_cpu(struct session *s, unsigned int cpu)
{
	cpu_stop(s->cpu[cpu]);
	cpu_start(s->cpu[cpu]);
}

static void cpus_start(struct session *s)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, s->cpus, cpu_online_mask)
		if (s->cpu[cpu])
			cpu_start(s->cpu[cpu]);
}

static void cpus_stop(struct session *s)
{
	unsigned int cpu;

	for_each_cpu(cpu, cpu_online_mask)
		cpu_stop(s->cpu[cpu]);
}

int session_start(struct session *s)
{
	/* Another thread's SETUP may be under way.  What follows is all after it. */
	const struct source *source = smp_load_acquire(&s->source);
	int r;

	if (!source)
		return -EBADFD;
	r = source->open ? source->open(s) : 0;
	if (r)
		return r;
	r = -EBADFD;
	cpus_read_lock();
	mutex_lock(&sessions_lock);
	if (!s->started)
		r = source->begin(s);
	if (!r) {
		s->started = true;
		if (!asleep)
			cpus_start(s);
	}
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	if (r && source->close)
		source->close(s);
	return r;
}

int session_stop(struct session *s)
{
	/* As in session_start(). */
	const struct source *source = smp_load_acquire(&s->source);
	int r = -EBADFD;

	if (!source)
		return r;
	cpus_read_lock();
	mutex_lock(&sessions_lock);
	if (s->started) {
		s->started = false;
		cpus_stop(s);
		source->end(s);
		r = 0;
	}
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	if (!r && source->close)
		source->close(s);
	return r;
}

void session_free(struct session *s)
{
	session_stop(s);
	tasks_unwatch(s->watches);
	mutex_lock(&sessions_lock);
	list_del_rcu(&s->list);
	mutex_unlock(&sessions_lock);
	synchronize_rcu();
	if (s->perf)
		s->source->forget(s);
	tasks_free(s);
	rows_free(s);
	cpus_free(s);
	cgroup_forget(s);
	put_pid_ns(s->ns);
	put_cred(s->cred);
	kfree(s->cpus);
	kfree(s->cpu);
	kfree(s->waits);
	kfree(s);
}

static void waits_add(struct tally_stats *out, const struct cpu_state *c)
{
	const struct wait_counts *n = &c->waits;

	out->unwound += c->unwound;
	out->copied += c->copied;
	out->ring_bytes += READ_ONCE(c->head);
	out->wait_cycles += c->cycles;
	out->switches += n->switches;
	out->switches_lost += n->switches_lost;
	out->wakes += n->wakes;
	out->wakes_lost += n->wakes_lost;
	out->wait_stacks += n->stacks;
	out->wait_stacks_lost += n->stacks_lost;
}

static void stats_add(struct tally_stats *out, const struct cpu_state *c)
{
	unsigned int i;

	out->enabled_ns += clock_read(c);
	out->unclaimed += c->unclaimed;
	out->unwound += c->unwound;
	out->copied += c->copied;
	out->nested += c->nested;
	out->ring_bytes += READ_ONCE(c->head);
	out->counted += c->counted;
	out->cycles += c->cycles;
	for (i = 0; i < TALLY_HISTOGRAM; i++)
		out->histogram[i] += c->histogram[i];
	for (i = 0; i < TALLY_EVENTS_MAX; i++) {
		const struct tally_event_stats *from = &c->ev[i].stats;
		struct tally_event_stats *to = &out->events[i];

		to->samples += from->samples;
		to->lost += from->lost;
		to->throttled += from->throttled;
		to->missed += from->missed;
		to->weight += from->weight;
		to->counter = from->counter;
	}
}

void session_stats(struct session *s, u32 cpu, struct tally_stats *out)
{
	/* As in session_start(). */
	const struct source *source = smp_load_acquire(&s->source);
	unsigned int i;

	if (source && source->counts && cpu == TALLY_ALL_CPUS)
		source->counts(s, out);
	mutex_lock(&sessions_lock);
	/* A SETUP that fails frees the tables again. */
	out->table_bytes = rows_bytes(s);
	out->untracked = atomic64_read(&s->untracked);
	for_each_possible_cpu(i) {
		if (!s->cpu[i] || (cpu != TALLY_ALL_CPUS && cpu != i))
			continue;
		stats_add(out, s->cpu[i]);
		if (s->waits[i])
			waits_add(out, s->waits[i]);
	}
	mutex_unlock(&sessions_lock);
}

/* Called on the CPU itself, which already runs threads and interrupts. */
static int cpu_online_cb(unsigned int cpu)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, list) {
		if (!s->source || !cpumask_test_cpu(cpu, s->cpus))
			continue;
		/* Without memory for its ring, a CPU is not recorded.  Bringing it
		 * online matters more. */
		if (cpu_add(s, cpu) < 0)
			continue;
		if (s->started && !asleep)
			cpu_start(s->cpu[cpu]);
		if (s->source->cpu_changed)
			s->source->cpu_changed(s, cpu, true);
	}
	mutex_unlock(&sessions_lock);
	return 0;
}

static int cpu_offline_cb(unsigned int cpu)
{
	struct session *s;

	mutex_lock(&sessions_lock);
	list_for_each_entry(s, &sessions, list) {
		cpu_stop(s->cpu[cpu]);
		if (s->source && s->source->cpu_changed)
			s->source->cpu_changed(s, cpu, false);
	}
	mutex_unlock(&sessions_lock);
	return 0;
}

/* Nothing runs during suspend and resume, because counters lose their contents. */
static int sleep_cb(struct notifier_block *nb, unsigned long what, void *data)
{
	bool sleeping = what == PM_SUSPEND_PREPARE ||
			what == PM_HIBERNATION_PREPARE ||
			what == PM_RESTORE_PREPARE;
	struct session *s;

	cpus_read_lock();
	mutex_lock(&sessions_lock);
	if (sleeping != asleep)
		list_for_each_entry(s, &sessions, list) {
			if (!s->started)
				continue;
			if (sleeping)
				cpus_stop(s);
			else
				cpus_start(s);
		}
	asleep = sleeping;
	mutex_unlock(&sessions_lock);
	cpus_read_unlock();
	return NOTIFY_OK;
}

static struct notifier_block sleep_notifier = { .notifier_call = sleep_cb };

int sessions_init(void)
{
	int r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "tally:online",
				  cpu_online_cb, cpu_offline_cb);

	if (r < 0)
		return r;
	hotplug_state = r;
	r = register_pm_notifier(&sleep_notifier);
	if (r)
		cpuhp_remove_state(hotplug_state);
	return r;
}

void sessions_exit(void)
{
	unregister_pm_notifier(&sleep_notifier);
	cpuhp_remove_state(hotplug_state);
}
