// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/perf_source.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "record/cpu_watch.h"
#include "record/order.h"
#include "record/perf_decode.h"
#include "record/perf_open.h"
#include "record/perf_ring.h"

/* An open counter: one event of one thread on one CPU. */
struct counter {
	int fd;
	uint32_t event, cpu;
	uint64_t lost;		/* already reported */
};

struct perf_source {
	struct source base;
	struct perf_features features;
	struct perf_event *events;
	struct source_event *seen;
	VEC(struct counter) counters;
	VEC(int) tracking;
	/* By CPU of the target: rings of mappings, forks, exits; then those of
	 * samples. */
	struct perf_ring *rings;
	int *leaders;		/* events that own the rings, or -1 */
	size_t nrings;
	uint32_t *cpus;
	size_t ncpus;		/* with those that may come online */
	size_t nopen;		/* at the start */
	bool *away;		/* by place in cpus: has no events (now) */
	struct cpu_watch watch;
	struct u64map ids;
	struct perf_decoder decoder;
	struct order order;
	size_t news_bytes;	/* of each of the first rings */
	uint64_t round_ns;	/* the clock at the start of the last round */
	bool per_task, inherit, started;
	int cgroup_fd;
	bool doubt;		/* what happened meanwhile is to be asked */
	struct perf_beside beside;
	bool shared;		/* a ring has samples and mappings */
	uint64_t news_lost;	/* already reported */
	uint64_t gap_ns;	/* when a ring was found full, or 0 */
	struct pmu_units kinds;	/* of cores, where there are several */
};

enum {
	ORDER_LIMIT = 256 << 20,	/* bytes that may wait for their turn */
	WATERMARK_DIVISOR = 4,
	WATERMARK_COPIES = 16,	/* they fill a ring sooner */
	/* Rings of mappings, forks and exits wake us for each mapping: who made
	 * it may be gone soon. */
	NEWS_BYTES = 64 << 10,
	NEWS_BYTES_PRIVILEGED = 512 << 10,
	NEWS_WATERMARK = 100,	/* two forks, or a mapping */
};

static uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct perf_source *of(struct source *s)
{
	return (struct perf_source *)s;
}

static void perf_close(struct source *s)
{
	struct perf_source *p = of(s);

	for (size_t i = 0; i < p->counters.n; i++)
		close(p->counters.v[i].fd);
	for (size_t i = 0; p->rings && i < p->nrings; i++)
		perf_ring_close(&p->rings[i]);
	for (size_t i = 0; i < p->tracking.n; i++)
		close(p->tracking.v[i]);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	vec_fini(&p->counters);
	vec_fini(&p->tracking);
	pmu_units_fini(&p->kinds);
	order_fini(&p->order);
	u64map_fini(&p->ids);
	cpu_watch_close(&p->watch);
	free(p->rings);
	free(p->cpus);
	free(p->away);
	free(p->leaders);
	free(p->events);
	free(p->seen);
	free(p);
}

/* Those of p->counters from `first` on. */
static int start_from(struct perf_source *p, size_t first, struct error *err)
{
	for (size_t i = first; i < p->counters.n; i++)
		if (ioctl(p->counters.v[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
			return error_errno(err, errno, "cannot start events");
	return 0;
}

static int perf_start(struct source *s, struct error *err)
{
	of(s)->started = true;
	return start_from(of(s), 0, err);
}

static void perf_stop(struct source *s)
{
	struct perf_source *p = of(s);

	for (size_t i = 0; i < p->counters.n; i++)
		ioctl(p->counters.v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* What order_flush needs to hand records on. */
struct delivery {
	struct perf_source *p;
	record_cb *cb;
	void *ctx;
	struct error *err;
};

static int deliver_gap(struct delivery *d, uint64_t time, uint64_t lost)
{
	struct record gap = { .kind = RECORD_GAP, .event = SOURCE_NONE,
			      .time_ns = time };

	gap.lost = lost;
	return d->cb(d->ctx, &gap, d->err);
}

static int deliver(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct delivery *d = ctx;
	const struct perf_beside *b = &d->p->beside;
	struct record r;

	if (b->decode && b->decode(b->ctx, bytes, size, &r)) {
		r.time_ns = time;
		return d->cb(d->ctx, &r, d->err);
	}
	if (!perf_decode(&d->p->decoder, bytes, size, &r))
		return 0;
	/* Losses are read from the counters where the kernel keeps them: those
	 * know the event, and the last loss of a ring has no record. */
	if (r.kind == RECORD_LOST && d->p->features.lost)
		return 0;
	r.time_ns = time;
	/* Events that only tell of mappings and processes have no number of
	 * ours. */
	if (r.kind == RECORD_LOST && (r.event == SOURCE_NONE || d->p->shared)) {
		int rc = deliver_gap(d, time, r.lost);

		if (rc < 0 || r.event == SOURCE_NONE)
			return rc;
	}
	return d->cb(d->ctx, &r, d->err);
}

/* Rings whose thread has ended report that forever: watch them no more.  Their
 * records are still read. */
static void forget_hangups(struct source *s)
{
	struct epoll_event ev[64];
	int n = epoll_wait(s->wake_fd, ev, 64, 0);

	for (int i = 0; i < n; i++)
		if (ev[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(s->wake_fd, EPOLL_CTL_DEL, ev[i].data.fd,
				  NULL);
}

/* Records of mappings and processes that were lost since the last time. */
static uint64_t news_lost(struct perf_source *p)
{
	uint64_t sum = 0, before = p->news_lost;

	for (size_t i = 0; i < p->tracking.n; i++) {
		uint64_t v[4] = { 0 };

		if (read(p->tracking.v[i], v, sizeof(v)) == sizeof(v))
			sum += v[3];
	}
	p->news_lost = sum;
	return sum > before ? sum - before : 0;
}

/* Delivers all up to a time; a gap comes behind what was in the full ring. */
static int flush(struct perf_source *p, uint64_t upto, struct delivery *d)
{
	int r = 0;

	if (p->gap_ns && p->gap_ns <= upto) {
		uint64_t lost = news_lost(p);

		r = order_flush(&p->order, p->gap_ns, deliver, d);
		if (r >= 0 && (lost || p->doubt))
			r = deliver_gap(d, p->gap_ns, lost);
		p->gap_ns = 0;
		p->doubt = false;
	}
	return r < 0 ? r : order_flush(&p->order, upto, deliver, d);
}

/* Moves what is in ring i to be ordered. */
static int drain_ring(struct perf_source *p, size_t i)
{
	bool news = i < p->ncpus;

	if (!p->rings[i].page)
		return 0;
	if (news)
		p->base.news |= perf_ring_waiting(&p->rings[i]);
	if ((news || p->shared) && p->features.lost && !p->gap_ns &&
	    perf_ring_tight(&p->rings[i]))
		p->gap_ns = clock_now();
	return perf_ring_drain(&p->rings[i], &(struct perf_intake){
				       &p->order, i, &p->decoder,
				       &p->base.damaged }, clock_now);
}

static void look_at_cpus(struct perf_source *p);

/*
 * A record written before the clock was read at the start of the last round is
 * in its ring by now, unless its CPU has stood still within the kernel's write
 * for the whole round: all up to there is complete and can be merged.
 */
static int perf_drain(struct source *s, bool all, record_cb *cb, void *ctx,
		      struct error *err)
{
	struct perf_source *p = of(s);
	struct delivery d = { p, cb, ctx, err };
	uint64_t start = clock_now(), upto = p->round_ns;
	int r = 0;

	forget_hangups(s);
	s->news = false;
	for (size_t i = 0; i < p->nrings && r >= 0; i++)
		r = drain_ring(p, i);
	if (r >= 0 && !all && cpu_watch_changed(&p->watch))
		look_at_cpus(p);
	if (r >= 0 && p->beside.fill)
		r = p->beside.fill(p->beside.ctx, &p->order, p->nrings,
				   &s->damaged);
	if (r < 0)
		return error_set(err, ERR_NOMEM, "out of memory for samples "
				 "that wait to be ordered");
	p->round_ns = start;
	/* Too much waits: all that was certainly there when this round began,
	 * for rings that were read early lack what came meanwhile. */
	if (p->order.waiting > ORDER_LIMIT)
		upto = start;
	if (all)
		upto = UINT64_MAX - 1;
	r = flush(p, upto, &d);
	if (all)
		p->order.flushed = start;
	s->late = p->order.late;
	return r;
}

static uint64_t wanted_samples(const struct perf_source *p, size_t event,
			       const struct source_count *c)
{
	const struct source_event *e = &p->seen[event];

	if (!e->freq)
		return e->period ? c->value / e->period : 0;
	/* A rate is a promise only for what counts whenever a task runs. */
	if (e->exclude_user || e->exclude_kernel)
		return 0;
	if (e->is_time || (p->per_task && e->type == PERF_TYPE_HARDWARE &&
			   e->config == PERF_COUNT_HW_CPU_CYCLES))
		return (uint64_t)((double)c->running_ns / 1e9 *
				  (double)e->freq);
	return 0;
}

static int report_lost(struct counter *c, uint64_t lost, record_cb *cb,
		       void *ctx, struct error *err)
{
	struct record r = { .kind = RECORD_LOST };

	if (lost <= c->lost)
		return 0;
	r.event = c->event;
	r.cpu = c->cpu;
	r.time_ns = clock_now();
	r.lost = lost - c->lost;
	c->lost = lost;
	return cb(ctx, &r, err);
}

static int perf_count(struct source *s, size_t event, struct source_count *out,
		      record_cb *cb, void *ctx, struct error *err)
{
	struct perf_source *p = of(s);
	int result = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < p->counters.n && !result; i++) {
		struct counter *c = &p->counters.v[i];
		uint64_t v[4] = { 0 };

		if (c->event != event || read(c->fd, v, sizeof(v)) < 24)
			continue;
		out->value += v[0];
		out->enabled_ns += v[1];
		out->running_ns += v[2];
		result = report_lost(c, v[3], cb, ctx, err);
	}
	/* A thread's events on the other CPUs count as enabled, too, while it
	 * runs. */
	if (p->per_task)
		out->enabled_ns /= p->nopen;
	/* Both are read while time goes on: a thousandth is no multiplexing. */
	if (out->enabled_ns < out->running_ns + out->running_ns / 1000)
		out->enabled_ns = out->running_ns;
	out->wanted = wanted_samples(p, event, out);
	return result;
}

static int no_memory(struct error *err)
{
	return error_set(err, ERR_NOMEM, "out of memory for events");
}

static int share_ring(int fd, int leader, struct error *err)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, leader) < 0)
		return error_errno(err, errno, "cannot share a ring");
	return 0;
}

/* A ring, on the first event of its kind that can be opened on its CPU; the
 * others share it. */
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
	if (epoll_ctl(p->base.wake_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return error_errno(err, errno, "epoll");
	return 0;
}

/* Where no more memory may be locked, mappings go with the samples. */
static int join_news(struct perf_source *p, size_t cpu, int fd,
		     struct error *err)
{
	int r = join_ring(p, cpu, fd, &p->news_bytes, err);

	if (r != -ERR_PERM || p->leaders[p->ncpus + cpu] < 0)
		return r;
	p->leaders[cpu] = p->leaders[p->ncpus + cpu];
	p->shared = true;
	return share_ring(fd, p->leaders[cpu], err);
}

/* 1 opened, 0 nobody there, or an error. */
static int open_tracking(struct perf_source *p, const struct perf_place *at,
			 bool inherit, int *fd, struct error *err)
{
	struct perf_event_attr a;

	perf_tracking_prepare(&a, &p->features, inherit, NEWS_WATERMARK);
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

/* The group of events that is being opened at one place. */
struct group {
	uint32_t number;	/* event_spec.group */
	int leader;		/* file + 1, or 0 */
};

/* An event in its group, or alone where that does not hold it. */
static int open_grouped(struct perf_event *e, struct group *g,
			const struct perf_place *at, struct error *err)
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
			perf_event_note(e, "not always counted at the same time "
					"as its group: that does not fit the "
					"counters");
	}
	if (fd >= 0 && !g->leader && e->spec.group)
		g->leader = fd + 1;
	return fd;
}

static int open_counter(struct perf_source *p, uint32_t event, size_t cpu,
			const struct perf_place *at, struct group *g,
			struct error *err)
{
	int fd = open_grouped(&p->events[event], g, at, err);
	struct counter c = { fd, event, (uint32_t)at->cpu, 0 };
	uint64_t id;
	uint32_t *slot;
	int r;

	if (fd == INT_MIN)
		return -err->code;
	if (fd < 0)
		return 0;
	if (vec_push(&p->counters, c) < 0) {
		close(fd);
		return no_memory(err);
	}
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

/* All events of one thread (or of everybody) on one CPU. */
static int open_place(struct perf_source *p, size_t cpu,
		      const struct perf_place *at, bool inherit,
		      struct error *err)
{
	int fd, r = open_tracking(p, at, inherit, &fd, err);
	struct group g = { 0, 0 };

	if (r <= 0)
		return r;
	for (size_t k = 0; k < p->kinds.n; k++)
		if (pmu_kind_has("/sys", &p->kinds.v[k], (uint32_t)at->cpu))
			for (size_t e = 0; e < p->base.nevents; e++)
				perf_event_on_kind(&p->events[e],
						   &p->kinds.v[k]);
	for (size_t e = 0; e < p->base.nevents; e++) {
		r = open_counter(p, (uint32_t)e, cpu, at, &g, err);
		if (r < 0)
			return r;
	}
	return join_news(p, cpu, fd, err);
}

/* A thread, or with tid 0 everybody whom we watch, on one CPU. */
static int open_for(struct perf_source *p, size_t cpu, uint32_t tid,
		    struct error *err)
{
	struct perf_place at = { -1, (int)p->cpus[cpu], 0 };

	if (tid) {
		at.pid = (int)tid;
	} else if (p->cgroup_fd >= 0) {
		at.pid = p->cgroup_fd;
		at.flags = PERF_FLAG_PID_CGROUP;
	}
	return open_place(p, cpu, &at, p->inherit, err);
}

static int open_all(struct perf_source *p, const struct perf_target *t,
		    struct error *err)
{
	size_t ntids = t->tids ? t->ntids : 1;

	/* A thread on all CPUs before the next: what it starts meanwhile is
	 * followed on all of them or on none. */
	for (size_t i = 0; i < ntids; i++) {
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
	return 0;
}

/* The events of a CPU that went are gone for good (perf_event_exit_cpu,
 * kernel/events/core.c); their counts can still be read. */
static void forget_rings(struct perf_source *p, size_t cpu)
{
	for (size_t i = cpu; i < p->nrings; i += p->ncpus) {
		if (p->leaders[i] >= 0)
			epoll_ctl(p->base.wake_fd, EPOLL_CTL_DEL,
				  p->leaders[i], NULL);
		perf_ring_close(&p->rings[i]);
		p->leaders[i] = -1;
	}
}

/* What follows from a processor is more than can be told: names are asked for
 * anew, and losses told, but the recording goes on. */
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
		start_from(p, first, &ignored);
	p->away[cpu] = false;
	p->doubt = true;
	p->gap_ns = clock_now();
}

/* CPUs have come or gone.  Which threads there are, we must be told. */
static void look_at_cpus(struct perf_source *p)
{
	for (size_t i = 0; i < p->ncpus; i++) {
		if (!cpu_watch_has(&p->watch, p->cpus[i])) {
			p->away[i] = true;
			continue;
		}
		if (!p->away[i])
			continue;
		forget_rings(p, i);
		if (p->per_task)
			p->base.cpu_came = true;
		else
			came(p, i, NULL, 0);
	}
}

static int perf_follow(struct source *s, const uint32_t *tids, size_t n,
		       struct error *err)
{
	struct perf_source *p = of(s);

	(void)err;
	s->cpu_came = false;
	for (size_t i = 0; i < p->ncpus; i++)
		if (p->away[i] && cpu_watch_has(&p->watch, p->cpus[i]))
			came(p, i, tids, n);
	return 0;
}

static const struct source_ops perf_ops = {
	.name = "perf_event",
	.start = perf_start,
	.stop = perf_stop,
	.drain = perf_drain,
	.count = perf_count,
	.follow = perf_follow,
	.close = perf_close,
};

/* The CPUs to record, and behind them those that may come. */
static int plan_cpus(struct perf_source *p, const struct perf_target *t)
{
	long all = sysconf(_SC_NPROCESSORS_CONF);
	size_t n = t->ncpus;

	p->nopen = n;
	p->ncpus = t->all_cpus && all > 0 && (size_t)all > n ? (size_t)all : n;
	p->cpus = calloc(p->ncpus, sizeof(*p->cpus));
	p->away = calloc(p->ncpus, sizeof(*p->away));
	if (!p->cpus || !p->away)
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
	p->nrings = 2 * p->ncpus;
	return 0;
}

/* Samples a second and CPU that the events ask for, or 0. */
static uint64_t rate_of(const struct perf_source_options *o)
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
			const struct perf_source_options *o,
			const struct perf_target *t, struct perf_sampling *how)
{
	struct perf_copies plan;

	p->base.ring_bytes = o->ring_bytes ? o->ring_bytes : perf_ring_size();
	if (!o->callchain || !o->copy || !p->features.copy || !o->events->n)
		return;
	plan = perf_copies_plan(rate_of(o), t->ncpus, o->copy_bytes,
				o->ring_bytes);
	p->base.ring_bytes = plan.ring_bytes;
	p->base.copy_bytes = how->copy_bytes = plan.copy_bytes;
}

static int perf_prepare(struct perf_source *p,
			const struct perf_source_options *o,
			const struct perf_target *t, struct error *err)
{
	struct perf_sampling how = {
		o->callchain, o->inherit && t->tids, o->enable_on_exec,
		o->kernel_only, o->user_only, o->freq, o->period, 0,
	};
	size_t n = o->events->n;

	if (o->beside)
		p->beside = *o->beside;
	plan_copies(p, o, t, &how);
	if (plan_cpus(p, t) < 0)
		return no_memory(err);
	p->rings = calloc(p->nrings, sizeof(*p->rings));
	p->leaders = calloc(p->nrings, sizeof(*p->leaders));
	p->events = calloc(n + 1, sizeof(*p->events));
	p->seen = calloc(n + 1, sizeof(*p->seen));
	if (!p->rings || !p->leaders || !p->events || !p->seen ||
	    order_init(&p->order, p->nrings + p->beside.nstreams) < 0)
		return no_memory(err);
	for (size_t i = 0; i < p->nrings; i++)
		p->leaders[i] = -1;
	p->news_bytes = p->base.ring_bytes > NEWS_BYTES_PRIVILEGED
			? NEWS_BYTES_PRIVILEGED : NEWS_BYTES;
	for (size_t i = 0; i < n; i++) {
		p->events[i].spec = o->events->v[i];
		p->events[i].is_default = o->default_event;
		perf_event_prepare(&p->events[i], &p->features, &how);
		p->events[i].attr.watermark = 1;
		p->events[i].attr.wakeup_watermark = (uint32_t)
			(p->base.ring_bytes / (how.copy_bytes
			 ? WATERMARK_COPIES : WATERMARK_DIVISOR));
	}
	p->base.nevents = n;
	p->per_task = t->tids != NULL;
	p->inherit = how.inherit;
	p->started = o->enable_on_exec;
	p->cgroup_fd = t->cgroup_fd;
	cpu_watch_open(&p->watch, "/sys/devices/system/cpu/online");
	p->base.max_stack = p->features.max_stack;
	p->decoder = (struct perf_decoder){
		&p->ids, how.callchain, p->base.max_stack,
		p->base.copy_bytes != 0,
	};
	if (pmu_core_kinds("/sys", &p->kinds) < 0)
		return no_memory(err);
	p->base.wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (p->base.wake_fd < 0)
		return error_errno(err, errno, "epoll");
	return 0;
}

int perf_source_open(const struct perf_target *target,
		     const struct perf_source_options *o, struct source **out,
		     struct error *err)
{
	struct perf_source *p = calloc(1, sizeof(*p));
	int r;

	*out = NULL;
	if (!p)
		return no_memory(err);
	p->base.ops = &perf_ops;
	p->base.wake_fd = p->watch.fd = -1;
	r = perf_reachable(err);
	if (!r)
		r = perf_features_probe(&p->features, err);
	if (!r)
		r = perf_prepare(p, o, target, err);
	if (!r)
		r = open_all(p, target, err);
	if (r < 0) {
		perf_close(&p->base);
		return r;
	}
	for (size_t i = 0; i < p->base.nevents; i++)
		p->seen[i] = p->events[i].seen;
	p->base.events = p->seen;
	p->round_ns = clock_now();
	*out = &p->base;
	return 0;
}
