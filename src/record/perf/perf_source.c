// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements perf events as a source of samples. */
#include "record/perf/perf_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "record/perf/perf_plan.h"
#include "record/perf/perf_source_internal.h"

enum {
	WATERMARK_DIVISOR = 4,
	WATERMARK_COPIES = 16,	/* copies fill a ring sooner */
	/* Limit of pending samples. */
	WAITING_MIN = 16 << 20,
	WAITING_PER_CPU = 4 << 20,
	/* Copy size for a thread that leaves its CPU.  The rest of its stack is read
	 * while it sleeps. */
	WAIT_COPY = 2048,
};

static void perf_close(struct source *s)
{
	struct perf_source *p = perf_of(s);

	perf_drainer_end(p);
	perf_bpf_close(&p->bpf);
	for (size_t i = 0; i < p->counters.n; i++)
		close(p->counters.v[i].fd);
	for (size_t i = 0; p->rings && i < p->nrings; i++)
		perf_ring_close(&p->rings[i]);
	for (size_t i = 0; i < p->tracking.n; i++)
		close(p->tracking.v[i]);
	if (s->wake_fd >= 0 && s->wake_fd != p->rings_fd)
		close(s->wake_fd);
	if (p->rings_fd >= 0)
		close(p->rings_fd);
	free(p->pressure.dropped);
	free(p->pressure.thinned);
	free(p->pressure.thinning);
	free(p->dropped_reported);
	vec_fini(&p->counters);
	vec_fini(&p->tracking);
	pmu_units_fini(&p->kinds);
	order_fini(&p->order);
	free(p->record);
	u64map_fini(&p->ids);
	cpu_watch_close(&p->watch);
	free(p->rings);
	free(p->cpus);
	free(p->away);
	free(p->paced);
	free(p->reports_lost);
	free(p->leaders);
	free(p->events);
	free(p->seen);
	free(p);
}

static int perf_start(struct source *s, struct error *err)
{
	struct perf_source *p = perf_of(s);
	int r;

	perf_lock(p);
	p->started = true;
	r = perf_start_from(p, 0, err);
	perf_unlock(p);
	return r;
}

static void perf_stop(struct source *s)
{
	struct perf_source *p = perf_of(s);

	perf_lock(p);
	perf_disable(p);
	perf_unlock(p);
}

static int perf_enable(struct source *s, uint32_t event, bool on,
		       struct error *err)
{
	struct perf_source *p = perf_of(s);
	int r = 0;

	perf_lock(p);
	if (event == SOURCE_NONE) {
		p->started = on;
		perf_switch_reports(p, on);
	}
	for (size_t i = 0; i < p->counters.n; i++) {
		const struct counter *c = &p->counters.v[i];

		if ((event == SOURCE_NONE || c->event == event) &&
		    perf_switch(c, on) < 0)
			r = error_errno(err, errno, "cannot switch events");
	}
	if (on)
		perf_pace_begin(p);
	perf_unlock(p);
	return r;
}

static const struct source_ops perf_ops = {
	.name = "perf_event",
	.start = perf_start,
	.stop = perf_stop,
	.enable = perf_enable,
	.drain = perf_drain,
	.count = perf_count,
	.follow = perf_follow,
	.pace = perf_pace,
	.end_at = perf_end_at,
	.close = perf_close,
};

/* Lists the CPUs to record, followed by those that may come online. */
static int plan_cpus(struct perf_source *p, const struct source_target *t)
{
	long all = sysconf(_SC_NPROCESSORS_CONF);
	size_t n = t->ncpus;

	p->nopen = n;
	p->ncpus = t->all_cpus && all > 0 && (size_t)all > n ? (size_t)all : n;
	p->cpus = calloc(p->ncpus, sizeof(*p->cpus));
	p->away = calloc(p->ncpus, sizeof(*p->away));
	p->paced = calloc(p->ncpus + 1, sizeof(*p->paced));
	p->reports_lost = calloc(p->ncpus, sizeof(*p->reports_lost));
	if (!p->cpus || !p->away || !p->paced || !p->reports_lost)
		return -ERR_NOMEM;
	memcpy(p->cpus, t->cpus, n * sizeof(*p->cpus));
	for (uint32_t c = 0; n < p->ncpus; c++) {
		size_t i = 0;

		while (i < t->ncpus && t->cpus[i] != c)
			i++;
		if (i < t->ncpus)
			continue;
		p->away[n] = true;
		p->cpus[n++] = c;
	}
	p->nrings = (p->waits ? 3 : 2) * p->ncpus;
	return 0;
}

/* Returns the sum of the events' sampling rates per CPU, in Hz, or 0. */
static uint64_t rate_of(const struct source_options *o)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < o->events->n; i++) {
		const struct event_spec *s = &o->events->v[i];

		if (s->period || (!s->freq && o->period))
			return 0;
		sum += s->freq ? s->freq : o->freq;
	}
	return sum;
}

static void plan_copies(struct perf_source *p,
			const struct source_options *o,
			const struct source_target *t, struct perf_sampling *how)
{
	struct perf_copies plan;

	p->base.ring_bytes = perf_ring_size();
	if (!o->callchain || !o->copy || !p->features.copy || !o->events->n)
		return;
	/* With waits, half of the memory is for switch records. */
	plan = o->calm ? perf_copies_plan_calm(rate_of(o), t->ncpus << o->waits,
					       o->copy_bytes)
		       : perf_copies_plan(rate_of(o), t->ncpus << o->waits,
					  o->copy_bytes);
	p->base.ring_bytes = plan.ring_bytes;
	p->base.copy_bytes = how->copy_bytes = plan.copy_bytes;
}

/* Numbers the events of waits.  They are the last, and not all of them are opened. */
static void number_waits(struct perf_source *p, size_t n,
			 const struct perf_sampling *how)
{
	p->base.waking = p->base.latency = SOURCE_NONE;
	if (!p->waits)
		return;
	p->base.blocked = (uint32_t)n++;
	if (perf_bpf_is_open(&p->bpf) ||
	    perf_wakes_prepare(&p->wakes, &p->features, how, &p->woken_at,
			       p->no_wakes, sizeof(p->no_wakes)))
		p->base.waking = (uint32_t)n++;
	p->base.runnable = (uint32_t)n++;
	if (p->latency)
		p->base.latency = (uint32_t)n++;
	p->base.nevents = n;
}

/* Starts the BPF programs, where permitted. */
static void start_bpf(struct perf_source *p, const struct source_target *t, bool inherit)
{
	struct perf_bpf_scope scope = { .everyone = !t->tids, .inherit = inherit };
	char why[PERF_BPF_WHY];

	for (size_t i = 0; i < p->ncpus; i++)
		if (scope.ncpus <= p->cpus[i])
			scope.ncpus = p->cpus[i] + 1;
	/* The programs do not know the control groups of threads. */
	if (t->cgroup_fd < 0)
		perf_bpf_open(&p->bpf, &scope, why, sizeof(why));
}

static void prepare_waits(struct perf_source *p, struct perf_sampling how)
{
	uint32_t samples = (uint32_t)(p->base.ring_bytes / WATERMARK_DIVISOR);

	if (how.copy_bytes > WAIT_COPY)
		how.copy_bytes = WAIT_COPY;
	perf_waits_prepare(&p->events[p->base.blocked], &p->features, &how);
	if (perf_has_wakes(p))
		perf_waking_prepare(&p->events[p->base.waking], &p->features,
				    &how, &p->wakes);
	for (size_t i = p->base.blocked; i < perf_opened(p); i++) {
		p->events[i].attr.watermark = 1;
		p->events[i].attr.wakeup_watermark = samples;
	}
	perf_switches_prepare(&p->switches, &p->features, &how,
			      (uint32_t)(p->switch_bytes / WATERMARK_DIVISOR));
	for (uint32_t i = p->base.blocked; i < perf_opened(p); i++)
		if (perf_is_reported(p, i))
			perf_bpf_prepare(&p->events[i].attr);
	p->wakes.watermark = 1;
	p->wakes.wakeup_watermark = p->switches.wakeup_watermark;
}

static void plan_rings(struct perf_source *p, size_t ncpus)
{
	struct perf_rings r = perf_rings_plan(p->base.ring_bytes, ncpus,
					      p->waits, p->calm);

	p->base.ring_bytes = r.samples;
	p->sideband_bytes = r.sideband;
	p->switch_bytes = r.switches;
}

/* Returns the number of bytes of samples that wakes the recorder. */
static uint32_t watermark(const struct perf_source *p, uint32_t copy_bytes)
{
	size_t ring = p->base.ring_bytes;

	if (p->calm)
		return (uint32_t)(ring / PERF_CALM_PART);
	if (p->own_rounds)
		return (uint32_t)(ring / 2);
	return (uint32_t)(ring / (copy_bytes ? WATERMARK_COPIES
					     : WATERMARK_DIVISOR));
}

static int perf_prepare(struct perf_source *p, const struct source_options *o,
			const struct perf_extra *extra,
			const struct source_target *t, struct error *err)
{
	struct perf_sampling how = {
		o->callchain, o->inherit && t->tids, o->enable_on_exec,
		o->kernel_only, o->user_only, o->freq, o->period, 0,
	};
	size_t n = o->events->n;

	if (extra)
		p->extra = *extra;
	p->calm = o->calm;
	p->waits = o->waits;
	p->each_wait = o->each_wait;
	p->latency = o->waits && o->latency;
	p->base.nevents = n;
	if (plan_cpus(p, t) < 0)
		return no_memory(err);
	if (p->waits)
		start_bpf(p, t, how.inherit);
	number_waits(p, n, &how);
	plan_copies(p, o, t, &how);
	plan_rings(p, t->ncpus);
	if (o->calm && !o->waits && !extra)
		p->rounds = perf_rounds_plan(rate_of(o), p->base.ring_bytes,
					     how.copy_bytes);
	p->own_rounds = !o->calm && !o->waits && !extra && !how.copy_bytes;
	p->base.round_ms = p->rounds.round_ms;
	p->rings = calloc(p->nrings, sizeof(*p->rings));
	p->leaders = calloc(p->nrings, sizeof(*p->leaders));
	p->events = calloc(p->base.nevents + 1, sizeof(*p->events));
	p->seen = calloc(p->base.nevents + 1, sizeof(*p->seen));
	if (!p->rings || !p->leaders || !p->events || !p->seen ||
	    order_init(&p->order, p->nrings + p->extra.nstreams +
		       (perf_bpf_is_open(&p->bpf) ? p->ncpus : 0)) < 0)
		return no_memory(err);
	for (size_t i = 0; i < p->nrings; i++)
		p->leaders[i] = -1;
	for (size_t i = 0; i < n; i++) {
		p->events[i].spec = o->events->v[i];
		p->events[i].is_default = o->default_event ||
			event_is_cycles(&o->events->v[i]);
		perf_event_prepare(&p->events[i], &p->features, &how);
		p->events[i].attr.watermark = 1;
		p->events[i].attr.wakeup_watermark = watermark(p, how.copy_bytes);
	}
	if (p->waits)
		prepare_waits(p, how);
	p->per_task = t->tids != NULL;
	p->inherit = how.inherit;
	p->started = p->starts_at_exec = o->enable_on_exec;
	perf_switch_reports(p, p->started);
	p->cgroup_fd = t->cgroup_fd;
	cpu_watch_open(&p->watch, "/sys/devices/system/cpu/online");
	p->base.max_stack = p->features.max_stack;
	p->base.tells_code = p->features.all_ksymbols;
	p->decoder = (struct perf_decoder){
		&p->ids, how.callchain, p->base.max_stack, p->features.cgroup,
		p->base.copy_bytes != 0,
		perf_has_wakes(p) ? perf_wakes(p) : 0,
		perf_has_wakes(p) ? p->base.waking : 0, p->woken_at,
		perf_bpf_is_open(&p->bpf) ? offsetof(struct perf_bpf_woken, tid)
					  : p->woken_at,
		p->waits ? p->base.blocked : 0,
	};
	if (pmu_core_kinds("/sys", &p->kinds) < 0)
		return no_memory(err);
	if (perf_feed_init(p) < 0)
		return no_memory(err);
	p->base.wake_fd = p->rings_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->rings_fd < 0)
		return error_errno(err, errno, "epoll");
	return 0;
}

/* Sets the limit of pending samples, which grows with the number of CPUs. */
static int plan_pressure(struct perf_source *p, size_t ncpus)
{
	size_t n = p->base.nevents + 1;
	struct perf_pressure *q = &p->pressure;

	q->limit = WAITING_MIN + WAITING_PER_CPU * ncpus;
	q->nstreams = p->nrings;
	q->dropped = calloc(n, sizeof(*q->dropped));
	q->thinned = calloc(n, sizeof(*q->thinned));
	q->thinning = calloc(n * (q->nstreams + 1), sizeof(*q->thinning));
	p->dropped_reported = calloc(n, sizeof(*p->dropped_reported));
	return q->dropped && q->thinned && q->thinning && p->dropped_reported
	       ? 0 : -ERR_NOMEM;
}

static void see_waits(struct perf_source *p)
{
	struct source_event *blocked = &p->seen[p->base.blocked],
			    *runnable = &p->seen[p->base.runnable];

	p->base.waits = true;
	p->base.tells_ends = perf_bpf_is_open(&p->bpf);
	p->base.wait_stacks = !blocked->exclude_kernel;
	blocked->period = 0;
	blocked->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	*runnable = *blocked;
	if (!perf_has_wakes(p))
		source_event_note(blocked, "time from being woken to running is "
				  "%s: %s", priority_waited()
				  ? "estimated from schedstat" : "included",
				  p->no_wakes);
	snprintf(runnable->name, sizeof(runnable->name), "runnable");
	snprintf(runnable->actual, sizeof(runnable->actual), "runnable");
	*runnable->note = 0;
	if (perf_has_wakes(p)) {
		struct source_event *waking = &p->seen[p->base.waking];

		/* The tracepoint's number differs between machines. */
		waking->type = PERF_TYPE_TRACEPOINT;
		waking->config = 0;
		waking->freq = waking->period = 0;
	}
	if (!p->latency)
		return;
	p->seen[p->base.latency] = (struct source_event){
		.name = "latency", .actual = "latency", .is_time = true,
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY,
	};
}

static int open_with(const struct source_target *target,
		     const struct source_options *o,
		     const struct perf_extra *extra, struct source **out,
		     struct error *err)
{
	struct perf_source *p = calloc(1, sizeof(*p));
	int r;

	*out = NULL;
	if (!p)
		return no_memory(err);
	p->base.ops = &perf_ops;
	p->base.wake_fd = p->rings_fd = p->watch.fd =
		p->watch.device_fd = -1;
	p->drainer.kick_fd = p->drainer.late_fd = -1;
	r = perf_reachable(err);
	if (!r)
		r = perf_features_probe(&p->features, err);
	if (!r)
		r = perf_prepare(p, o, extra, target, err);
	if (!r && plan_pressure(p, target->ncpus) < 0)
		r = no_memory(err);
	if (!r)
		r = perf_open_all(p, target, err);
	if (r < 0) {
		perf_close(&p->base);
		return r;
	}
	for (size_t i = 0; i < perf_opened(p); i++)
		p->seen[i] = p->events[i].seen;
	if (p->waits)
		see_waits(p);
	p->base.events = p->seen;
	p->round_ns = clock_now();
	/* With `extra`, the other source drains its rings together with perf's. */
	if (!extra)
		perf_drainer_start(p);
	*out = &p->base;
	return 0;
}

static int open_source(const struct source_target *target,
		       const struct source_options *o, struct source **out,
		       struct error *err)
{
	return open_with(target, o, NULL, out, err);
}

int perf_sideband_open(const struct source_target *target, bool inherit,
		       const struct perf_extra *extra, struct source **out,
		       struct error *err)
{
	const struct event_list none = { 0 };
	const struct source_options o = { .events = &none, .inherit = inherit };

	return open_with(target, &o, extra, out, err);
}

static void diagnose_waits(struct doctor *d)
{
	const struct perf_bpf_scope scope = { .everyone = true, .ncpus = 1 };
	struct doctor_check *c = doctor_add(d, "waits", DOCTOR_OK);
	char why[PERF_BPF_WHY];
	struct perf_bpf bpf;

	if (perf_bpf_open(&bpf, &scope, why, sizeof(why))) {
		doctor_found(c, "--wait records switches and wakeups by BPF programs");
		perf_bpf_close(&bpf);
		return;
	}
	doctor_found(c, "--wait records switches by perf events; BPF programs would take "
		     "half the time (%s)", why);
}

static void diagnose(struct doctor *d)
{
	struct doctor_check *c = doctor_add(d, "source perf", DOCTOR_OK);

	if (d->own_user) {
		doctor_found(c, "perf events with all features; the first "
				"choice");
		diagnose_waits(d);
		return;
	}
	c->state = DOCTOR_NO;
	doctor_found(c, "no perf events for this user: see \"own programs\"");
}

const struct source_type perf_source_type = {
	.name = "perf",
	.sees_kernel = true,
	.open = open_source,
	.diagnose = diagnose,
};
