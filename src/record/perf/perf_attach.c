// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens events for threads and CPUs, including CPUs that come online later. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "record/perf/perf_source_internal.h"

/* Size at which rings of mappings wake tally: when a program starts, but not for each
 * of its mappings.  The mapping thread pays for each wakeup, up to 10 us in a virtual
 * machine. */
enum { SIDEBAND_WATERMARK = 1024 };

int perf_switch(const struct counter *c, bool on)
{
	if (c->ended && on)
		return 0;
	return ioctl(c->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int perf_start_from(struct perf_source *p, size_t first, struct error *err)
{
	for (size_t i = first; i < p->counters.n; i++)
		if (perf_switch(&p->counters.v[i], true) < 0)
			return error_errno(err, errno, "cannot start events");
	perf_switch_reports(p, true);
	perf_pace_begin(p);
	return 0;
}

/* Samples that the recorder's rounds permit on a CPU: twice what 2 % of 0.2 s
 * suffice for (perf_pace.h). */
enum { WINDOW_SAMPLES = 1600 };

bool perf_permit_samples(struct perf_source *p, size_t cpu)
{
	const uint64_t each = p->each_wait ? UINT64_MAX >> 2 : WINDOW_SAMPLES;

	return perf_bpf_is_open(&p->bpf) && perf_bpf_permit(&p->bpf, p->cpus[cpu], each);
}

void perf_switch_reports(struct perf_source *p, bool on)
{
	for (size_t i = 0; i < p->ncpus && perf_bpf_is_open(&p->bpf); i++) {
		perf_permit_samples(p, i);
		perf_bpf_switch(&p->bpf, p->cpus[i], on);
		perf_bpf_sample(&p->bpf, PERF_BPF_BLOCKED, p->cpus[i], on);
		perf_bpf_sample(&p->bpf, PERF_BPF_WAKING, p->cpus[i], on);
	}
}

void perf_disable(struct perf_source *p)
{
	/* Neither perf_pace_waits nor a CPU that comes online starts events again. */
	p->started = false;
	perf_switch_reports(p, false);
	for (size_t i = 0; i < p->counters.n; i++)
		perf_switch(&p->counters.v[i], false);
}

static int share_ring(int fd, int leader, struct error *err)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, leader) < 0)
		return error_errno(err, errno, "cannot share a ring");
	return 0;
}

/* Opens a ring on the first event of its kind that can be opened on its CPU.  The
 * other events share it. */
static int join_ring(struct perf_source *p, size_t ring, int fd, size_t *bytes,
		     struct error *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };
	int r;

	if (p->leaders[ring] >= 0)
		return share_ring(fd, p->leaders[ring], err);
	r = perf_ring_open(&p->rings[ring], fd, *bytes, err);
	if (r < 0)
		return r;
	p->leaders[ring] = fd;
	*bytes = p->rings[ring].size;
	/* Samples come at a known rate: how full their rings are follows from the time. */
	if (p->rounds.round_ms && ring >= p->ncpus)
		return 0;
	if (epoll_ctl(p->rings_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return error_errno(err, errno, "epoll");
	return 0;
}

/* Opens the ring of mappings.  Where no more memory may be locked, mappings share the
 * ring of samples. */
static int join_sideband(struct perf_source *p, size_t cpu, int fd,
			 struct error *err)
{
	int r = join_ring(p, cpu, fd, &p->sideband_bytes, err);

	if (r != -ERR_PERM || p->leaders[p->ncpus + cpu] < 0)
		return r;
	p->leaders[cpu] = p->leaders[p->ncpus + cpu];
	p->shared = true;
	return share_ring(fd, p->leaders[cpu], err);
}

/* Opens the tracking event.  Returns 1 if opened, 0 if the target is gone, or an
 * error. */
static int open_tracking(struct perf_source *p, const struct perf_scope *at,
			 bool inherit, int *fd, struct error *err)
{
	struct perf_event_attr a;

	perf_tracking_prepare(&a, &p->features, inherit,
			      p->calm ? (uint32_t)p->sideband_bytes /
					PERF_CALM_PART
				      : SIDEBAND_WATERMARK);
	*fd = perf_sys_open(&a, at);
	if (*fd == -ESRCH || *fd == -ENODEV)
		return 0;
	if (*fd < 0)
		return perf_refused(-*fd, "", at, err);
	if (vec_push(&p->tracking, *fd) < 0) {
		close(*fd);
		return no_memory(err);
	}
	return 1;
}

/* The group of events being opened in one place. */
struct group {
	uint32_t number;	/* event_spec.group */
	int leader;		/* file descriptor + 1, or 0 */
};

/* Opens an event in its group, or alone if the group has no room for it. */
static int open_grouped(struct perf_event *e, struct group *g,
			const struct perf_scope *at, struct error *err)
{
	struct perf_event before = *e;
	int fd;

	if (e->spec.group != g->number)
		*g = (struct group){ e->spec.group, 0 };
	e->leader = e->spec.group && !e->split ? g->leader : 0;
	fd = perf_event_open(e, at, err);
	if (fd == INT_MIN && e->leader) {
		*e = before;
		e->split = true;
		e->leader = 0;
		fd = perf_event_open(e, at, err);
		if (fd >= 0)
			source_event_note(&e->seen, "not always counted at "
					  "the same time as its group, which "
					  "does not fit the counters");
	}
	if (fd >= 0 && !g->leader && e->spec.group)
		g->leader = fd + 1;
	return fd;
}

static int open_counter(struct perf_source *p, uint32_t event, size_t cpu,
			const struct perf_scope *at, struct group *g,
			struct error *err)
{
	int fd = open_grouped(&p->events[event], g, at, err);
	struct counter c = { fd, event, (uint32_t)at->cpu, 0, false };
	uint64_t id;
	uint32_t *slot;
	int r;

	if (fd == INT_MIN)
		return -err->code;
	if (fd < 0)
		return 0;
	/* It would have no samples, but take time at each switch. */
	if (p->events[event].waits && p->events[event].attr.exclude_kernel) {
		close(fd);
		return 0;
	}
	if (vec_push(&p->counters, c) < 0) {
		close(fd);
		return no_memory(err);
	}
	r = perf_event_filter(&p->events[event], fd, err);
	if (r < 0)
		return r;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
		return error_errno(err, errno, "cannot set up event %s",
				   p->events[event].spec.text);
	r = join_ring(p, p->ncpus + cpu, fd, &p->base.ring_bytes, err);
	if (r < 0)
		return r;
	slot = u64map_slot(&p->ids, id);
	if (!slot)
		return no_memory(err);
	*slot = event;
	return 0;
}

/* Opens the event of switches or of wakeups, with a ring of their own.  Where no more
 * memory may be locked, they share the ring of samples. */
static int open_switches(struct perf_source *p, size_t cpu, uint32_t event,
			 const struct perf_scope *at, struct perf_event_attr a,
			 struct error *err)
{
	struct counter c = { -1, event, (uint32_t)at->cpu, 0, false };
	size_t ring = 2 * p->ncpus + cpu;
	uint64_t id;
	uint32_t *slot;
	int r;

	c.fd = perf_sys_open(&a, at);
	if (c.fd == -ESRCH || c.fd == -ENODEV)
		return 0;
	if (c.fd < 0)
		return perf_refused(-c.fd, "", at, err);
	if (vec_push(&p->counters, c) < 0) {
		close(c.fd);
		return no_memory(err);
	}
	if (ioctl(c.fd, PERF_EVENT_IOC_ID, &id) < 0)
		return error_errno(err, errno, "cannot set up events of waits");
	slot = u64map_slot(&p->ids, id);
	if (!slot)
		return no_memory(err);
	*slot = c.event;
	r = join_ring(p, ring, c.fd, &p->switch_bytes, err);
	if (r != -ERR_PERM || p->leaders[p->ncpus + cpu] < 0)
		return r;
	p->leaders[ring] = p->leaders[p->ncpus + cpu];
	return share_ring(c.fd, p->leaders[ring], err);
}

/* Opens an event for samples by BPF programs. */
static int open_reported(struct perf_source *p, size_t cpu, uint32_t event,
			 const struct perf_scope *at, struct error *err)
{
	enum perf_bpf_sample kind = event == p->base.blocked ? PERF_BPF_BLOCKED
							     : PERF_BPF_WAKING;
	struct group none = { 0, 0 };
	size_t first = p->counters.n;
	int r = open_counter(p, event, cpu, at, &none, err);

	if (r < 0 || first == p->counters.n)
		return r;
	r = perf_bpf_sample_to(&p->bpf, kind, p->cpus[cpu], p->counters.v[first].fd);
	return r < 0 ? error_errno(err, -r, "cannot set up events of waits") : 0;
}

/* Opens the events of waits that belong to a CPU, not to threads: those of samples by BPF
 * programs, and that of all wakeups.  Threads are often woken by an interrupt, which a
 * thread's own events do not report. */
static int open_of_cpu(struct perf_source *p, size_t cpu, struct error *err)
{
	const struct perf_scope all = { -1, (int)p->cpus[cpu], 0 };
	int r = 0;

	for (uint32_t e = 0; e < perf_opened(p) && r >= 0; e++)
		if (perf_is_reported(p, e))
			r = open_reported(p, cpu, e, &all, err);
	return r >= 0 && perf_opens_wakes(p)
	       ? open_switches(p, cpu, perf_wakes(p), &all, p->wakes, err) : r;
}

/* Opens all events of one thread (or of all threads) on one CPU. */
static int open_place(struct perf_source *p, size_t cpu,
		      const struct perf_scope *at, bool inherit,
		      struct error *err)
{
	int fd, r = open_tracking(p, at, inherit, &fd, err);
	const struct pmu_unit *kind = NULL;
	struct group g = { 0, 0 };

	if (r <= 0)
		return r;
	for (size_t k = 0; k < p->kinds.n; k++)
		if (pmu_kind_has("/sys", &p->kinds.v[k], (uint32_t)at->cpu))
			kind = &p->kinds.v[k];
	for (size_t e = 0; e < perf_opened(p); e++) {
		const struct pmu_unit *own = event_own_kind(&p->events[e].spec,
							    &p->kinds);

		if ((own && own != kind) || perf_is_of_cpu(p, (uint32_t)e))
			continue;
		if (kind)
			perf_event_on_kind(&p->events[e], kind);
		r = open_counter(p, (uint32_t)e, cpu, at, &g, err);
		if (r < 0)
			return r;
	}
	if (p->waits && !perf_bpf_is_open(&p->bpf)) {
		struct perf_event_attr a = p->switches;

		a.inherit = inherit;
		r = open_switches(p, cpu, perf_switches(p), at, a, err);
		if (r < 0)
			return r;
	}
	return join_sideband(p, cpu, fd, err);
}

/* Opens a thread, or with tid 0 all recorded threads, on one CPU. */
static int open_for(struct perf_source *p, size_t cpu, uint32_t tid,
		    struct error *err)
{
	struct perf_scope at = { -1, (int)p->cpus[cpu], 0 };

	if (tid) {
		at.pid = (int)tid;
	} else if (p->cgroup_fd >= 0) {
		at.pid = p->cgroup_fd;
		at.flags = PERF_FLAG_PID_CGROUP;
	}
	return open_place(p, cpu, &at, p->inherit, err);
}

static int follow_switches(struct perf_source *p, uint32_t tid, struct error *err)
{
	int r = perf_bpf_is_open(&p->bpf)
		? perf_bpf_follow(&p->bpf, tid, p->starts_at_exec) : 0;

	return r < 0 ? error_errno(err, -r, "cannot follow thread %u", tid) : 0;
}

int perf_open_all(struct perf_source *p, const struct source_target *t,
		  struct error *err)
{
	size_t ntids = t->tids ? t->ntids : 1;

	/* Open each thread on all CPUs before the next thread: threads that it starts
	 * in the meantime are then followed on all CPUs or on none. */
	for (size_t i = 0; i < ntids; i++) {
		if (t->tids && follow_switches(p, t->tids[i], err) < 0)
			return -err->code;
		for (size_t c = 0; c < p->nopen; c++) {
			int r = open_for(p, c, t->tids ? t->tids[i] : 0, err);

			if (r < 0)
				return r;
		}
	}
	if (!p->counters.n && (p->base.nevents || !p->tracking.n))
		return error_set(err, ERR_NOTFOUND, t->tids
				 ? "the processes to record have ended"
				 : "none of the CPUs is online");
	for (size_t e = 0; e < perf_opened(p); e++)
		if (!p->events[e].settled &&
		    event_own_kind(&p->events[e].spec, &p->kinds))
			return error_set(err, ERR_UNSUPPORTED, "event %s: none of "
					 "the CPUs to record is of this kind",
					 p->events[e].spec.text);
	for (size_t c = 0; c < p->nopen; c++) {
		int r = open_of_cpu(p, c, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static void forget_rings(struct perf_source *p, size_t cpu)
{
	for (size_t i = cpu; i < p->nrings; i += p->ncpus) {
		if (p->leaders[i] >= 0)
			epoll_ctl(p->rings_fd, EPOLL_CTL_DEL, p->leaders[i],
				  NULL);
		perf_ring_close(&p->rings[i]);
		p->leaders[i] = -1;
	}
}

/* A CPU that goes offline ends its own events for good (perf_event_exit_cpu,
 * kernel/events/core.c), but their counts can still be read.  After a sleep of the
 * machine, some were never offline, and their events still count.  The events of
 * threads count again when the CPU is back. */
static void end_own_events(struct perf_source *p, size_t cpu)
{
	for (size_t i = 0; i < p->counters.n; i++) {
		struct counter *c = &p->counters.v[i];

		if (c->cpu != p->cpus[cpu] ||
		    (p->per_task && !perf_is_of_cpu(p, c->event)))
			continue;
		perf_switch(c, false);
		c->ended = true;
	}
}

/* Opens and starts the events of waits of a CPU that came online. */
static void cpu_events_came(struct perf_source *p, size_t cpu)
{
	size_t first = p->counters.n;
	struct error ignored;

	open_of_cpu(p, cpu, &ignored);
	if (p->started)
		perf_start_from(p, first, &ignored);
	p->away[cpu] = false;
}

/* Handles a CPU that came online.  Records may be missing in between: names are read
 * again, losses are reported, and the recording goes on. */
static void came(struct perf_source *p, size_t cpu, const uint32_t *tids,
		 size_t n)
{
	static const uint32_t everybody;
	size_t first = p->counters.n;
	struct error ignored;
	int r = 0;

	if (!tids) {
		tids = &everybody;
		n = 1;
	}
	for (size_t i = 0; i < n && r >= 0; i++)
		r = open_for(p, cpu, tids[i], &ignored);
	if (p->started)
		perf_start_from(p, first, &ignored);
	cpu_events_came(p, cpu);
	p->must_reread = true;
	__atomic_store_n(&p->gap_ns, clock_now(), __ATOMIC_RELEASE);
}

/* Returns whether threads have events on the CPU, which outlive its absence. */
static bool has_task_events(const struct perf_source *p, size_t cpu)
{
	return p->per_task && p->leaders[cpu] >= 0;
}

/* Checks whether CPUs have come or gone.  The caller must supply the threads. */
void perf_look_at_cpus(struct perf_source *p)
{
	perf_lock(p);
	for (size_t i = 0; i < p->ncpus; i++) {
		bool here = cpu_watch_has(&p->watch, p->cpus[i]);

		if (!here || cpu_watch_went(&p->watch, p->cpus[i]))
			p->away[i] = true;
		if (!here || !p->away[i])
			continue;
		end_own_events(p, i);
		if (has_task_events(p, i)) {
			cpu_events_came(p, i);
		} else if (p->per_task) {
			p->base.cpu_came = true;
		} else {
			forget_rings(p, i);
			came(p, i, NULL, 0);
		}
	}
	perf_unlock(p);
}

int perf_follow(struct source *s, const uint32_t *tids, size_t n,
		struct error *err)
{
	struct perf_source *p = perf_of(s);

	(void)err;
	s->cpu_came = false;
	perf_lock(p);
	for (size_t i = 0; i < p->ncpus; i++)
		if (p->away[i] && cpu_watch_has(&p->watch, p->cpus[i]))
			came(p, i, tids, n);
	perf_unlock(p);
	return 0;
}
