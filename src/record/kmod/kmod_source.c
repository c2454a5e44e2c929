// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the kernel module as a source of samples. */
#include "record/kmod/kmod_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "record/kmod/kmod_events.h"
#include "record/kmod/kmod_kinds.h"
#include "record/kmod/kmod_ring.h"
#include "record/kmod/kmod_rows.h"
#include "record/perf/perf_open.h"
#include "record/perf/perf_plan.h"
#include "record/source/rights.h"
#include "tally/kmod.h"

static int not_opened(int errnum, struct error *err)
{
	if (errnum == ENOENT || errnum == ENXIO || errnum == ENODEV)
		return error_set(err, ERR_NOTFOUND, "the kernel module is not "
				 "loaded (no " TALLY_DEVICE "): \"sudo modprobe "
				 "tally\" loads it; where it is not installed, "
				 "\"make -C kmod\" in tally's source builds it");
	if (errnum == EACCES || errnum == EPERM)
		return error_set(err, ERR_PERM, "not allowed to open "
				 TALLY_DEVICE ": run as root or with the "
				 "capability %s", rights_perfmon_name());
	return error_errno(err, errnum, TALLY_DEVICE);
}

/* Opens the device and reads its abilities into *info.  Returns the descriptor, or an
 * error that names the smallest fix. */
static int kmod_open(struct tally_info *info, struct error *err)
{
	int fd = open(TALLY_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return not_opened(errno, err);
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (ioctl(fd, TALLY_IOC_INFO, info) < 0) {
		int e = errno;

		close(fd);
		if (e == ENOTTY)
			return error_set(err, ERR_UNSUPPORTED, "the loaded kernel "
					 "module is older than this tally: load "
					 "the one that belongs to it (\"make -C "
					 "kmod\" builds it)");
		return error_set(err, ERR_UNSUPPORTED, TALLY_DEVICE " does not "
				 "answer as tally's kernel module: %s",
				 strerror(e));
	}
	if (info->abi_major == TALLY_ABI_MAJOR)
		return fd;
	close(fd);
	return error_set(err, ERR_UNSUPPORTED, "the loaded kernel module has "
			 "interface version %u, this tally version %u: load "
			 "the matching module (\"make -C kmod\" builds it)",
			 info->abi_major, TALLY_ABI_MAJOR);
}

/* Sets an error for a call that failed with errnum. */
static int kmod_refused(int errnum, const char *what, struct error *err)
{
	switch (errnum) {
	case EBUSY:
		return error_set(err, ERR_UNSUPPORTED, "the performance "
				 "counters are in use by the kernel's watchdog "
				 "(\"sudo sysctl kernel.nmi_watchdog=0\" stops "
				 "it) or another profiler");
	case ENOENT:
	case EOPNOTSUPP:
		return error_set(err, ERR_UNSUPPORTED, "this kernel cannot sample "
				 "one of the events here; cpu-clock works "
				 "everywhere (-e cpu-clock)");
	case ENODEV:
		return error_set(err, ERR_UNSUPPORTED, "the kernel module finds "
				 "no performance counters here; cpu-clock works "
				 "everywhere (-e cpu-clock)");
	case ESRCH:
		return error_set(err, ERR_NOTFOUND,
				 "the processes to record have ended");
	case EPERM:
		return error_set(err, ERR_PERM, "this kernel is locked down: "
				 "only user space may be sampled (--user)");
	case EACCES:
		return error_set(err, ERR_PERM, "a security module of this kernel "
				 "(SELinux …) does not allow this user to sample "
				 "it: only user space (--user), without waits");
	case EBADF:
		return error_set(err, ERR_UNSUPPORTED, "the kernel module "
				 "follows control groups of version 2 only: "
				 "this one is of version 1 (--source=perf takes "
				 "its perf_event hierarchy)");
	case ENOMEM:
		return error_set(err, ERR_NOMEM, "the kernel has no memory for "
				 "the rings of samples");
	default:
		return error_errno(err, errnum, "kernel module: %s", what);
	}
}

/* Events of waits: blocked, waking, runnable, latency. */
enum { WAIT_EVENTS = 4 };

struct kmod_source {
	struct source base;
	struct source *side;	/* source of mappings, forks, exits */
	struct perf_extra extra;
	int fd;
	struct tally_info info;
	struct tally_setup setup;
	struct source_event seen[TALLY_EVENTS_MAX + WAIT_EVENTS];
	struct kmod_numbers numbers;
	struct kmod_ring *rings;	/* info.cpus rings, by CPU */
	struct kmod_ring *waits;	/* as many rings of waits; NULL: none */
	uint64_t record[KMOD_RECORD_MAX / 8 + 1];	/* the one being delivered */
	uint64_t missed;	/* number of records of waits that are known to be
				 * lost */
	uint8_t *cpus;			/* bitmap of CPUs to record */
	uint8_t *kind_of;		/* kinds of cores, by CPU; or NULL */
	uint32_t ncpus;			/* number of mapped rings */
	uint64_t *lost;			/* by CPU and event: losses already reported */
	struct kmod_stacks stacks;
	struct kmod_rows rows;
	struct tally_count *counts;	/* [TALLY_COUNTS_MAX]; NULL: every sample has
					 * a record */
	bool unwinds;			/* the module unwinds, by rows */
	bool per_task, started;
};

enum {
	WATERMARK_DIVISOR = 4,
	WATERMARK_COPIES = 16,	/* copies fill a ring sooner */
	CPUS_MAX = 1 << 16,
	RING_MIN = 128 << 10,	/* smallest size tried */
	/* Copy size for a thread that leaves its CPU, until the module can unwind such
	 * stacks.  The rest is read while the thread sleeps. */
	WAIT_COPY = 4096,
	WAIT_COPY_DIVISOR = 8,
	NS = 1000000000,
};

static struct kmod_source *of(struct source *s)
{
	return (struct kmod_source *)s;
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int kmod_start(struct source *s, struct error *err)
{
	struct kmod_source *k = of(s);

	if (k->started)
		return 0;
	if (ioctl(k->fd, TALLY_IOC_START, 0) < 0)
		return kmod_refused(errno, "start", err);
	k->started = true;
	return 0;
}

static void kmod_stop(struct source *s)
{
	struct kmod_source *k = of(s);

	if (k->started)
		ioctl(k->fd, TALLY_IOC_STOP, 0);
	k->started = false;
}

/* Maps a ring that is not mapped yet.  Returns whether it did. */
static bool map_ring(struct kmod_source *k, struct kmod_ring *r,
		     uint64_t offset, uint64_t size)
{
	void *p = r->page ? MAP_FAILED
		  : mmap(NULL, page_size() + size, PROT_READ | PROT_WRITE,
			 MAP_SHARED, k->fd, (off_t)offset);

	if (p == MAP_FAILED)
		return false;
	r->page = p;
	r->size = size;
	return true;
}

static void unmap_rings(struct kmod_ring *r, uint32_t n)
{
	for (uint32_t i = 0; r && i < n; i++)
		if (r[i].page)
			munmap(r[i].page, page_size() + r[i].size);
	free(r);
}

/* Maps the rings of CPUs online: at the start, and since. */
static void map_rings(struct kmod_source *k)
{
	const struct tally_setup *u = &k->setup;
	size_t page = page_size();

	for (uint32_t c = 0; c < k->info.cpus; c++) {
		if (!(k->cpus[c / 8] >> c % 8 & 1))
			continue;
		k->ncpus += map_ring(k, &k->rings[c], TALLY_RING_OFFSET(c, page,
				     u->ring_bytes), u->ring_bytes);
		if (k->waits)
			map_ring(k, &k->waits[c],
				 TALLY_WAIT_OFFSET(c, k->info.cpus, page,
						   u->ring_bytes, u->wait_bytes),
				 u->wait_bytes);
	}
}

/* Takes the samples that the module has added up on a CPU.  Their streams follow those
 * of the rings. */
static int take_counts(struct kmod_source *k, uint32_t cpu, struct order *o,
		       size_t first)
{
	struct tally_counts u = {
		.size = sizeof(u), .cpu = cpu, .n = TALLY_COUNTS_MAX,
		.to = (uintptr_t)k->counts,
	};

	if (ioctl(k->fd, TALLY_IOC_COUNTS, &u) < 0 || u.n > TALLY_COUNTS_MAX)
		return 0;
	return kmod_counts_take(k->counts, u.n, o, first + k->info.cpus + cpu,
				clock_now());
}

static int extra_fill(void *ctx, struct order *o, size_t first,
		      uint64_t *damaged)
{
	struct kmod_source *k = ctx;

	for (uint32_t c = 0; c < k->info.cpus; c++) {
		int r;

		if (!k->rings[c].page)
			continue;
		r = k->counts ? take_counts(k, c, o, first) : 0;
		if (r >= 0)
			r = kmod_ring_look(&k->rings[c], o, first + c,
					   clock_now, damaged);
		if (r >= 0 && k->waits && k->waits[c].page)
			r = kmod_ring_look(&k->waits[c], o,
					   first + 2 * k->info.cpus + c,
					   clock_now, damaged);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Returns the ring of a stream, or NULL: those of sums have none. */
static struct kmod_ring *ring_of(struct kmod_source *k, size_t stream)
{
	size_t cpu = stream % k->info.cpus;
	struct kmod_ring *r = stream < k->info.cpus ? &k->rings[cpu]
			      : stream >= 2 * (size_t)k->info.cpus && k->waits
			      ? &k->waits[cpu] : NULL;

	return r && r->page ? r : NULL;
}

static bool extra_peek(void *ctx, size_t stream, uint64_t upto, uint64_t *time,
		       uint64_t *damaged)
{
	struct kmod_ring *r = ring_of(ctx, stream);

	return r && kmod_ring_peek(r, upto, time, damaged);
}

static bool extra_take(void *ctx, size_t stream, struct order_record *out)
{
	struct kmod_source *k = ctx;

	out->bytes = (const uint8_t *)k->record;
	out->size = kmod_ring_fetch(ring_of(k, stream), k->record);
	return out->size;
}

static bool extra_decode(void *ctx, const uint8_t *p, size_t n,
			 struct record *out)
{
	struct kmod_source *k = ctx;

	if (!kmod_decode(p, n, &k->numbers, &k->stacks, out))
		return false;
	if (out->kind == RECORD_SWITCH_GAP)
		k->missed += out->lost;
	if (k->unwinds && out->kind == RECORD_SAMPLE &&
	    (out->sample.copied || out->sample.walked))
		out->sample.rows = &k->rows.base;
	return true;
}

static int send_rows(void *ctx, unsigned long cmd, void *arg)
{
	struct kmod_source *k = ctx;

	return ioctl(k->fd, cmd, arg);
}

/* Reports the last loss of a ring of waits, which has no record. */
static int last_gap(struct kmod_source *k, record_cb *cb, void *ctx,
		    struct error *err)
{
	struct tally_stats t = { .size = sizeof(t), .cpu = TALLY_ALL_CPUS };
	const struct record gap = { .kind = RECORD_SWITCH_GAP,
				    .event = SOURCE_NONE,
				    .time_ns = clock_now() };

	if (!k->waits || ioctl(k->fd, TALLY_IOC_STATS, &t) < 0 ||
	    t.switches_lost + t.wakes_lost <= k->missed)
		return 0;
	k->missed = t.switches_lost + t.wakes_lost;
	return cb(ctx, &gap, err);
}

static int kmod_drain(struct source *s, bool all, record_cb *cb, void *ctx,
		      struct error *err)
{
	struct kmod_source *k = of(s);
	int r = k->side->ops->drain(k->side, all, cb, ctx, err);

	if (all && r >= 0)
		r = last_gap(k, cb, ctx, err);
	/* While the module lacks rows or mappings, it copies stacks.  Others that it
	 * lacks are in the next records. */
	s->sideband_pending = kmod_rows_round(&k->rows) || k->side->sideband_pending;
	s->cpu_came = k->side->cpu_came;
	s->late = k->side->late;
	s->damaged = k->side->damaged;
	return r;
}

static int report_lost(struct kmod_source *k, uint32_t cpu, size_t event,
		       uint64_t lost, record_cb *cb, void *ctx,
		       struct error *err)
{
	uint64_t *reported = &k->lost[cpu * TALLY_EVENTS_MAX + event];
	struct record r = { .kind = RECORD_LOST };

	if (lost <= *reported)
		return 0;
	r.event = (uint32_t)event;
	r.cpu = cpu;
	r.time_ns = clock_now();
	r.lost = lost - *reported;
	*reported = lost;
	return cb(ctx, &r, err);
}

/* Returns whether the module's ABI has at least this minor version. */
static bool minor_is(const struct kmod_source *k, unsigned int minor)
{
	return k->info.abi_minor >= minor;
}

/* Reads the values that exist only as sums over all CPUs. */
static void ask_all(struct kmod_source *k, size_t event, struct source_count *c)
{
	struct tally_stats t = { .size = sizeof(t), .cpu = TALLY_ALL_CPUS };

	if (ioctl(k->fd, TALLY_IOC_STATS, &t) < 0)
		return;
	k->base.unwound = t.unwound;
	k->base.not_unwound = t.copied;
	k->base.record_bytes = t.ring_bytes;
	k->base.handler_cycles = t.cycles;
	if (k->counts) {
		k->base.added_up = t.counted;
		k->base.taken = 0;
		for (size_t i = 0; i < TALLY_EVENTS_MAX; i++)
			k->base.taken += t.events[i].samples;
	}
	k->base.verified = k->rows.verified;
	k->base.differing = k->rows.differing;
	c->value = t.perf[event].value;
	c->enabled_ns = t.perf[event].enabled_ns;
	c->running_ns = t.perf[event].running_ns;
}

/* Uses the kernel's count, which is complete, including throttled time.  In that
 * case, fewer samples arrived than the count has periods. */
static void take_kernels_count(const struct kmod_source *k, size_t event,
			       const struct source_count *all,
			       struct source_count *out)
{
	uint64_t wanted = out->wanted, period = k->seen[event].period;

	*out = *all;
	out->wanted = period && all->value / period > wanted
		      ? all->value / period : wanted;
	if (!k->per_task || !(k->setup.events[event].flags & TALLY_EVENT_KINDS))
		return;
	/* A thread's counters of all kinds of cores count as enabled while it runs,
	 * but only one of them counts.  How long it was on cores of one kind is
	 * unknown. */
	out->enabled_ns /= kmod_kinds_counters(&k->setup, event);
	if (kmod_kinds_counters(&k->setup, event) == 1 ||
	    out->enabled_ns < out->running_ns)
		out->enabled_ns = out->running_ns;
}

static int kmod_count(struct source *s, size_t event, struct source_count *out,
		      record_cb *cb, void *ctx, struct error *err)
{
	struct kmod_source *k = of(s);
	struct source_count all = { 0 };
	uint64_t enabled = 0;
	int r = 0;

	memset(out, 0, sizeof(*out));
	/* A wait whose sample was lost still has a known length. */
	if (event >= k->setup.nevents)
		return 0;
	map_rings(k);
	if (k->unwinds || k->counts || k->setup.source == TALLY_PERF)
		ask_all(k, event, &all);
	for (uint32_t c = 0; c < k->info.cpus && !r; c++) {
		struct tally_stats t = { .size = sizeof(t), .cpu = c };
		const struct tally_event_stats *e = &t.events[event];

		if (!k->rings[c].page || ioctl(k->fd, TALLY_IOC_STATS, &t) < 0)
			continue;
		enabled += t.enabled_ns;
		out->value += e->weight;
		out->wanted += e->samples + e->lost + e->throttled +
			       e->missed;
		r = report_lost(k, c, event, e->lost, cb, ctx, err);
	}
	/* Older modules count all elapsed time.  The periods of a clock then add up
	 * to the time in which the threads ran. */
	out->enabled_ns = !k->per_task || minor_is(k, 2) ? enabled
			  : k->seen[event].is_time ? out->value
			  : k->ncpus ? enabled / k->ncpus : enabled;
	out->running_ns = out->enabled_ns;
	if (k->setup.source == TALLY_PERF)
		take_kernels_count(k, event, &all, out);
	return r;
}

/* The module follows its threads onto all CPUs. */
static int kmod_follow(struct source *s, const uint32_t *tids, size_t n,
		       struct error *err)
{
	struct kmod_source *k = of(s);

	s->cpu_came = false;
	return k->side->ops->follow(k->side, tids, n, err);
}

static void kmod_close(struct source *s)
{
	struct kmod_source *k = of(s);

	kmod_stop(s);
	unmap_rings(k->rings, k->info.cpus);
	unmap_rings(k->waits, k->info.cpus);
	if (k->side)
		k->side->ops->close(k->side);
	if (k->fd >= 0)
		close(k->fd);
	kmod_rows_fini(&k->rows);
	kmod_stacks_fini(&k->stacks);
	free(k->counts);
	free(k->cpus);
	free(k->kind_of);
	free(k->lost);
	free(k);
}

static const struct source_ops kmod_ops = {
	.name = "kernel module",
	.start = kmod_start,
	.stop = kmod_stop,
	.drain = kmod_drain,
	.count = kmod_count,
	.follow = kmod_follow,
	.close = kmod_close,
};

static int open_side(struct kmod_source *k, const struct source_target *t,
		     const struct source_options *o, struct error *err)
{
	k->extra = (struct perf_extra){
		.nstreams = 3 * (size_t)k->info.cpus, .fill = extra_fill,
		.peek = extra_peek, .take = extra_take,
		.decode = extra_decode, .ctx = k,
	};
	return perf_sideband_open(t, o->inherit, &k->extra, &k->side, err);
}

static void plan_rings(struct kmod_source *k, const struct source_target *t,
		       const struct source_options *o)
{
	struct tally_setup *u = &k->setup;
	struct perf_copies plan;
	uint64_t rate = 0;

	u->ring_bytes = perf_ring_size();
	if (!o->callchain || !o->copy || !minor_is(k, 1))
		return;
	for (size_t i = 0; i < k->setup.nevents; i++) {
		const struct source_event *e = &k->seen[i];

		rate += e->is_time && e->period ? NS / e->period : e->freq;
	}
	plan = perf_copies_plan(rate, t->ncpus, o->copy_bytes);
	u->ring_bytes = plan.ring_bytes < TALLY_RING_MAX ? plan.ring_bytes
							 : TALLY_RING_MAX;
	u->copy_bytes = plan.copy_bytes;
	if (u->copy_bytes > u->ring_bytes / 2)
		u->copy_bytes = (uint32_t)(u->ring_bytes / 2) & ~7u;
}

static void plan_waits(struct kmod_source *k)
{
	struct tally_setup *u = &k->setup;
	uint64_t most;

	u->flags |= TALLY_SETUP_WAITS | TALLY_SETUP_WAKES;
	u->wait_bytes = perf_ring_size();
	most = u->wait_bytes / WAIT_COPY_DIVISOR;
	u->wait_copy_bytes = u->copy_bytes < WAIT_COPY ? u->copy_bytes : WAIT_COPY;
	if (u->wait_copy_bytes > most)
		u->wait_copy_bytes = (uint32_t)most;
}

/* Makes the setup call, with smaller rings where memory is short. */
static int call_setup(struct kmod_source *k)
{
	struct tally_setup *u = &k->setup;

	for (;; u->ring_bytes /= 2) {
		u->watermark = (uint32_t)(u->ring_bytes / (u->copy_bytes
			       ? WATERMARK_COPIES : WATERMARK_DIVISOR));
		if (ioctl(k->fd, TALLY_IOC_SETUP, u) >= 0)
			return 0;
		if (errno != ENOMEM || u->ring_bytes / 2 < RING_MIN)
			return -1;
		/* With RING_MIN, the largest copy is still within its share. */
		if (u->wait_bytes / 2 >= RING_MIN)
			u->wait_bytes /= 2;
	}
}

static int set_up(struct kmod_source *k, const struct source_target *t,
		  const struct source_options *o, struct error *err)
{
	struct tally_setup *u = &k->setup;

	/* Older modules support only the fields before copy_bytes. */
	u->size = minor_is(k, 8) ? sizeof(*u)
		  : minor_is(k, 3) ? offsetof(struct tally_setup, wait_bytes)
		  : minor_is(k, 1) ? offsetof(struct tally_setup, perf)
				   : offsetof(struct tally_setup, copy_bytes);
	plan_rings(k, t, o);
	if (o->callchain) {
		u->flags |= TALLY_SETUP_CHAIN;
		if (minor_is(k, 3))
			u->flags |= TALLY_SETUP_STACKS;
		/* Wall-clock time is divided at each sample. */
		if (minor_is(k, 6) && !o->verify_stacks && !o->latency)
			u->flags |= TALLY_SETUP_COUNT;
		k->unwinds = u->copy_bytes && minor_is(k, 3);
		if (k->unwinds)
			u->flags |= TALLY_SETUP_UNWIND |
				    (o->verify_stacks ? TALLY_SETUP_PROOF : 0);
		u->max_chain = k->side->max_stack < TALLY_CHAIN_MAX
			       ? k->side->max_stack : TALLY_CHAIN_MAX;
	}
	if (o->waits)
		plan_waits(k);
	if (t->tids)
		u->flags |= TALLY_SETUP_TASKS |
			    (o->inherit ? TALLY_SETUP_INHERIT : 0) |
			    (o->enable_on_exec ? TALLY_SETUP_ON_EXEC : 0);
	if (!t->tids && t->cgroup_fd >= 0) {
		u->flags |= TALLY_SETUP_CGROUP;
		u->cgroup_fd = (uint32_t)t->cgroup_fd;
	}
	/* All CPUs, including those that come online later. */
	if (t->all_cpus)
		memset(k->cpus, 0xff, k->info.cpus / 8 + 1);
	for (size_t i = 0; i < t->ncpus && !t->all_cpus; i++)
		if (t->cpus[i] < k->info.cpus)
			k->cpus[t->cpus[i] / 8] |= (uint8_t)
						   (1u << t->cpus[i] % 8);
	u->cpus = t->all_cpus ? 0 : (uintptr_t)k->cpus;
	u->cpu_bits = t->all_cpus ? 0 : k->info.cpus;
	if (u->nkinds) {
		u->kind_of = (uintptr_t)k->kind_of;
		u->kind_cpus = k->info.cpus;
	}
	if (u->flags & TALLY_SETUP_COUNT) {
		k->counts = calloc(TALLY_COUNTS_MAX, sizeof(*k->counts));
		if (!k->counts)
			return no_memory(err);
	}
	if (call_setup(k) < 0)
		return kmod_refused(errno, "setup", err);
	map_rings(k);
	if (!k->ncpus)
		return error_set(err, ERR_IO, "cannot map the rings of the "
				 "kernel module");
	k->base.ring_bytes = u->ring_bytes;
	k->base.max_stack = k->side->max_stack;
	k->base.copy_bytes = u->copy_bytes;
	return 0;
}

static int add_tasks(struct kmod_source *k, const struct source_target *t,
		     struct error *err)
{
	struct tally_tasks tasks = {
		.size = sizeof(tasks), .n = (uint32_t)t->ntids,
		.tids = (uintptr_t)t->tids,
	};

	if (t->ntids > TALLY_TASKS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "the kernel module "
				 "attaches to at most %d threads",
				 TALLY_TASKS_MAX);
	if (ioctl(k->fd, TALLY_IOC_TASKS, &tasks) < 0)
		return kmod_refused(errno, "threads", err);
	return 0;
}

/* Returns whether the kernel's own events count cycles, on one kind of cores if there
 * are several (`kind` is not NULL).  On virtual machines they mostly do not. */
static bool counts_cycles(const struct pmu_unit *kind)
{
	const struct event_spec cycles = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,
	};
	const struct perf_scope self = { .pid = 0, .cpu = -1 };
	struct perf_event_attr a = {
		.size = sizeof(a), .sample_period = 1 << 20, .disabled = 1,
	};
	uint32_t type = cycles.type;
	uint64_t config = cycles.config;
	int fd;

	if (kind)
		event_on_unit(&cycles, kind, &type, &config);
	a.type = type;
	a.config = config;
	fd = perf_sys_open(&a, &self);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int choose_events(struct kmod_source *k, const struct source_options *o,
			 struct error *err)
{
	struct pmu_units kinds = { 0 };
	struct kmod_machine here = { .kinds = &kinds };
	int r = kmod_kinds_read("/sys", k->info.cpus, &kinds, &k->kind_of);

	here.has_cycles = kinds.n || counts_cycles(NULL);
	for (size_t i = 0; i < kinds.n; i++)
		here.has_cycles &= counts_cycles(&kinds.v[i]);
	r = r < 0 ? no_memory(err)
	    : kmod_events(&k->info, &here, o, &k->setup, k->seen, err);
	pmu_units_fini(&kinds);
	return r;
}

static uint32_t add_event(struct kmod_source *k, const char *name, uint32_t type,
			  uint64_t config)
{
	struct source_event *e = &k->seen[k->base.nevents];

	*e = (struct source_event){ .is_time = true, .type = type,
				    .config = config };
	snprintf(e->name, sizeof(e->name), "%s", name);
	snprintf(e->actual, sizeof(e->actual), "%s", name);
	return (uint32_t)k->base.nevents++;
}

/* Numbers the events.  Those of waits are the last. */
static int number_events(struct kmod_source *k, const struct source_options *o,
			 struct error *err)
{
	struct source *s = &k->base;

	s->nevents = k->setup.nevents;
	s->waking = s->latency = SOURCE_NONE;
	k->numbers = (struct kmod_numbers){ k->setup.nevents, SOURCE_NONE,
					    SOURCE_NONE };
	if (!o->waits)
		return 0;
	k->waits = calloc(k->info.cpus, sizeof(*k->waits));
	if (!k->waits)
		return no_memory(err);
	s->waits = s->wait_stacks = true;
	s->blocked = add_event(k, "blocked", PERF_TYPE_SOFTWARE,
			       PERF_COUNT_SW_CONTEXT_SWITCHES);
	s->waking = add_event(k, "waking", PERF_TYPE_TRACEPOINT, 0);
	s->runnable = add_event(k, "runnable", PERF_TYPE_SOFTWARE,
				PERF_COUNT_SW_CONTEXT_SWITCHES);
	if (o->latency)
		s->latency = add_event(k, "latency", PERF_TYPE_SOFTWARE,
				       PERF_COUNT_SW_DUMMY);
	k->numbers.blocked = s->blocked;
	k->numbers.waking = s->waking;
	return 0;
}

static int open_all(struct kmod_source *k, const struct source_target *t,
		    const struct source_options *o, struct error *err)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int r;

	if (!t->tids && t->cgroup_fd >= 0 && !minor_is(k, 1))
		return error_set(err, ERR_UNSUPPORTED, "the loaded kernel module "
				 "is too old for control groups: load the one "
				 "that belongs to this tally, or use "
				 "--source=perf");
	if (o->waits && !minor_is(k, 8))
		return error_set(err, ERR_UNSUPPORTED, "the loaded kernel module "
				 "is too old for waits (--wait): load the one "
				 "that belongs to this tally, or use "
				 "--source=perf");
	if (!k->info.cpus || k->info.cpus > CPUS_MAX)
		return error_set(err, ERR_UNSUPPORTED, "the kernel module "
				 "reports %u processors", k->info.cpus);
	k->rings = calloc(k->info.cpus, sizeof(*k->rings));
	k->cpus = calloc(k->info.cpus / 8 + 1, 1);
	k->lost = calloc((size_t)k->info.cpus * TALLY_EVENTS_MAX,
			 sizeof(*k->lost));
	if (!k->rings || !k->cpus || !k->lost ||
	    kmod_stacks_init(&k->stacks, k->info.cpus) < 0 ||
	    kmod_rows_init(&k->rows, send_rows, clock_now, k) < 0)
		return no_memory(err);
	k->per_task = t->tids;
	r = choose_events(k, o, err) ?: number_events(k, o, err) ?:
	    open_side(k, t, o, err) ?: set_up(k, t, o, err);
	if (!r && t->tids)
		r = add_tasks(k, t, err);
	if (r < 0)
		return r;
	ev.data.fd = k->fd;
	if (epoll_ctl(k->side->wake_fd, EPOLL_CTL_ADD, k->fd, &ev) < 0)
		return error_errno(err, errno, "epoll");
	k->base.wake_fd = k->side->wake_fd;
	/* Each thread starts with its own exec. */
	return t->tids && o->enable_on_exec ? kmod_start(&k->base, err) : 0;
}

static int kmod_source_open(const struct source_target *target,
			    const struct source_options *o, struct source **out,
			    struct error *err)
{
	struct kmod_source *k;
	int r;

	*out = NULL;
	k = calloc(1, sizeof(*k));
	if (!k)
		return no_memory(err);
	k->base.ops = &kmod_ops;
	k->base.wake_fd = -1;
	k->fd = kmod_open(&k->info, err);
	r = k->fd < 0 ? k->fd : open_all(k, target, o, err);
	if (r < 0) {
		kmod_close(&k->base);
		return r;
	}
	if (o->callchain && o->copy && !k->base.copy_bytes)
		for (size_t i = 0; i < k->setup.nevents; i++)
			source_event_note(&k->seen[i], "callers by frame "
					  "pointers only: the loaded kernel "
					  "module is too old to copy stacks");
	k->base.events = k->seen;
	*out = &k->base;
	return 0;
}

static int fits(const struct source_options *o, struct error *err)
{
	(void)o;
	if (access(TALLY_DEVICE, R_OK | W_OK))
		return error_errno(err, errno, TALLY_DEVICE);
	return 0;
}

static void diagnose(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "kernel module", DOCTOR_OK);
	struct tally_info info;
	struct error err = { 0 };
	int fd;

	if (access(TALLY_DEVICE, F_OK)) {
		doctor_found(c, "not loaded (no " TALLY_DEVICE "); perf does "
			     "not need it");
		return;
	}
	fd = kmod_open(&info, &err);
	if (fd < 0) {
		doctor_state(c, DOCTOR_LIMITED, "%s", err.msg);
		return;
	}
	close(fd);
	doctor_found(c, "loaded; samples by timers");
	if (info.counters)
		doctor_found(c, " and by %u counters", info.counters);
	if (info.sources & 1u << TALLY_PERF)
		doctor_found(c, ", by the kernel's own events, and unwinds stacks "
			     "in the kernel");
	if (info.abi_minor >= 8)
		doctor_found(c, ", and records waits");
	doctor_found(c, ", up to %u samples per second on each processor; "
		     "select it with --source=kmod", info.max_rate);
}

const struct source_type kmod_source_type = {
	.name = "kmod",
	.sees_kernel = true,
	.fits = fits,
	.open = kmod_source_open,
	.diagnose = diagnose,
};
