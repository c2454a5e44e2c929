// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the rings in order of time, and the counters.  Also runs the thread that
 * drains the rings in between.
 *
 * Recorders that wake rarely (`calm`) read the rings directly, because copying all stacks
 * costs about as much as unwinding them.  Their thread only moves records when the
 * recorder is late or busy with something else.  So does the thread of recordings without
 * copies of stacks (`own_rounds`): to move a record in one thread and to read it in another
 * costs more than to do both in one.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "launch/priority.h"
#include "record/perf/perf_source_internal.h"

enum { ORDER_LIMIT = 256 << 20 };	/* maximum bytes waiting to be merged */

/* Context of order_flush for delivering records. */
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

static bool reports_lost_switches(const struct perf_source *p, const struct record *r)
{
	/* The next event in that ring reports its losses. */
	return p->waits && r->kind == RECORD_LOST && r->event != SOURCE_NONE &&
	       r->event >= perf_switches(p);
}

/* What a BPF program reported, in a stream of `order`. */
struct reported {
	uint32_t type, cpu;	/* REPORTED: unlike the type of any perf record */
	struct perf_bpf_report r;	/* `lost`: number directly before it */
};

enum { REPORTED = 0x74706272 };

static int deliver_wakeup(struct delivery *d, uint64_t time, const struct reported *p)
{
	struct record out = { .kind = RECORD_WAKE, .event = SOURCE_NONE, .cpu = p->cpu,
			      .time_ns = time };

	out.pid = p->r.out_pid;
	out.tid = p->r.out_tid;
	out.wake.tid = p->r.in_tid;
	out.wake.interrupt = p->r.flags & PERF_BPF_INTERRUPT;
	return d->cb(d->ctx, &out, d->err);
}

static int deliver_switch(struct delivery *d, uint64_t time, const struct reported *p)
{
	struct record out = { .kind = RECORD_SWITCH, .event = SOURCE_NONE,
			      .cpu = p->cpu, .time_ns = time };
	int rc = 0;

	if (p->r.out_tid) {
		out.pid = p->r.out_pid;
		out.tid = p->r.out_tid;
		out.change.out = true;
		out.change.preempted = p->r.flags & PERF_BPF_RUNNABLE;
		out.change.ended = p->r.flags & PERF_BPF_ENDED;
		out.change.ran_ns = p->r.ran_ns;
		out.change.stopped = p->r.flags & PERF_BPF_STOPPED;
		out.change.has_call = p->r.flags & PERF_BPF_CALL;
		out.change.call = p->r.call;
		rc = d->cb(d->ctx, &out, d->err);
	}
	if (rc < 0 || !p->r.in_tid)
		return rc;
	out.pid = p->r.in_pid;
	out.tid = p->r.in_tid;
	memset(&out.change, 0, sizeof(out.change));
	return d->cb(d->ctx, &out, d->err);
}

static int deliver_reported(struct delivery *d, uint64_t time, const struct reported *p)
{
	struct record gap = { .kind = RECORD_SWITCH_GAP, .event = SOURCE_NONE,
			      .time_ns = time };
	int rc = 0;

	if (p->r.lost) {
		gap.lost = p->r.lost;
		d->p->switches_lost += p->r.lost;
		rc = d->cb(d->ctx, &gap, d->err);
	}
	return rc < 0 ? rc : p->r.flags & PERF_BPF_WAKEUP ? deliver_wakeup(d, time, p)
							  : deliver_switch(d, time, p);
}

static int deliver(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct delivery *d = ctx;
	const struct perf_extra *b = &d->p->extra;
	const void *p = bytes;
	const struct reported *reported = p;
	struct record r;

	if (b->decode && b->decode(b->ctx, bytes, size, &r)) {
		r.time_ns = time;
		return d->cb(d->ctx, &r, d->err);
	}
	if (size == sizeof(*reported) && reported->type == REPORTED)
		return deliver_reported(d, time, reported);
	if (!perf_decode(&d->p->decoder, bytes, size, &r))
		return 0;
	r.time_ns = time;
	if (reports_lost_switches(d->p, &r)) {
		r.kind = RECORD_SWITCH_GAP;
		d->p->switches_lost += r.lost;
		return d->cb(d->ctx, &r, d->err);
	}
	/* Losses come from the counters where the kernel keeps them.  Those identify
	 * the event, and the last loss of a ring has no record. */
	if (r.kind == RECORD_LOST && d->p->features.lost)
		return 0;
	/* Events that only report mappings and processes have no event index. */
	if (r.kind == RECORD_LOST && (r.event == SOURCE_NONE || d->p->shared)) {
		int rc = deliver_gap(d, time, r.lost);

		if (rc < 0 || r.event == SOURCE_NONE)
			return rc;
	}
	return d->cb(d->ctx, &r, d->err);
}

/* Removes rings whose thread has ended from epoll, because they report that forever.
 * Their records are still read. */
static void forget_hangups(struct perf_source *p)
{
	struct epoll_event ev[64];
	int n = epoll_wait(p->rings_fd, ev, 64, 0);

	for (int i = 0; i < n; i++)
		if (ev[i].events & (EPOLLHUP | EPOLLERR))
			epoll_ctl(p->rings_fd, EPOLL_CTL_DEL, ev[i].data.fd,
				  NULL);
}

/* Returns the number of mapping and process records lost since the last call. */
static uint64_t sideband_lost(struct perf_source *p)
{
	uint64_t sum = 0, before = p->sideband_lost;

	for (size_t i = 0; i < p->tracking.n; i++) {
		uint64_t v[4] = { 0 };

		if (read(p->tracking.v[i], v, sizeof(v)) == sizeof(v))
			sum += v[3];
	}
	p->sideband_lost = sum;
	return sum > before ? sum - before : 0;
}

/* Reports a ring's last loss of switches, which has no record. */
static int last_lost_switches(struct perf_source *p, struct delivery *d)
{
	struct record gap = { .kind = RECORD_SWITCH_GAP, .event = SOURCE_NONE,
			      .time_ns = p->round_ns };
	uint64_t sum = 0;

	for (size_t i = 0; i < p->counters.n; i++) {
		uint64_t v[4] = { 0 };

		if (p->counters.v[i].event >= perf_switches(p) &&
		    read(p->counters.v[i].fd, v, sizeof(v)) == sizeof(v))
			sum += v[3];
	}
	for (size_t i = 0; i < p->ncpus && perf_bpf_is_open(&p->bpf); i++)
		sum += perf_bpf_lost(&p->bpf, p->cpus[i]);
	return sum > p->switches_lost ? d->cb(d->ctx, &gap, d->err) : 0;
}

/* Delivers everything up to a time.  A gap follows the records of the ring that was
 * full. */
static int flush(struct perf_source *p, uint64_t upto, struct delivery *d)
{
	uint64_t gap = __atomic_load_n(&p->gap_ns, __ATOMIC_ACQUIRE);
	int r = 0;

	if (gap && gap <= upto) {
		uint64_t lost = sideband_lost(p);

		r = order_flush(&p->order, gap, deliver, d);
		if (r >= 0 && (lost || p->must_reread))
			r = deliver_gap(d, gap, lost);
		p->must_reread = false;
		__atomic_store_n(&p->gap_ns, 0, __ATOMIC_RELEASE);
	}
	return r < 0 ? r : order_flush(&p->order, upto, deliver, d);
}

/* Notes what is in ring i before it is read. */
static void see_ring(struct perf_source *p, size_t i)
{
	bool sideband = i < p->ncpus;

	if (sideband && perf_ring_waiting(&p->rings[i]))
		__atomic_store_n(&p->sideband_pending, true, __ATOMIC_RELAXED);
	if ((sideband || p->shared) && p->features.lost &&
	    !__atomic_load_n(&p->gap_ns, __ATOMIC_ACQUIRE) &&
	    perf_ring_tight(&p->rings[i]))
		__atomic_store_n(&p->gap_ns, clock_now(), __ATOMIC_RELEASE);
}

/* Moves the records of ring i to `order`. */
static int drain_ring(struct perf_source *p, size_t i)
{
	if (!p->rings[i].page)
		return 0;
	see_ring(p, i);
	return perf_ring_drain(&p->rings[i], &(struct perf_intake){
				       &p->order, i, &p->decoder, &p->damaged,
				       p->drainer.running ? &p->pressure
							  : NULL,
				       &p->paced[i % p->ncpus].pace.taken },
			       clock_now);
}

/* Moves what BPF programs reported on a CPU to `order`. */
static int drain_reports(struct perf_source *p, size_t cpu)
{
	struct reported one = { .type = REPORTED, .cpu = p->cpus[cpu] };
	size_t stream = p->nrings + cpu;

	while (perf_bpf_next(&p->bpf, one.cpu, &one.r)) {
		uint8_t *to = order_room(&p->order, stream, sizeof(one));
		uint32_t lost = one.r.lost;

		if (!to)
			return -ERR_NOMEM;
		one.r.lost = lost - p->reports_lost[cpu];
		p->reports_lost[cpu] = lost;
		memcpy(to, &one, sizeof(one));
		order_commit(&p->order, stream, sizeof(one), one.r.time_ns);
		p->paced[cpu].pace.taken.reported++;
	}
	return 0;
}

/* Gives a borrowed record back. */
static void give_back(struct perf_source *p)
{
	if (!p->borrowed.bytes)
		return;
	perf_ring_free(&p->rings[p->lender], &p->borrowed);
	p->borrowed.bytes = NULL;
	perf_unlock(p);
}

static bool extra_peek(struct perf_source *p, size_t stream, uint64_t upto,
		       uint64_t *time)
{
	return p->extra.peek && p->extra.peek(p->extra.ctx, stream, upto, time,
					      &p->damaged);
}

static bool feed_peek(void *ctx, size_t i, uint64_t upto, uint64_t *time)
{
	struct perf_source *p = ctx;
	bool found;

	if (i >= p->nrings)
		return extra_peek(p, i - p->nrings, upto, time);
	/* Otherwise all records are moved. */
	if (!p->rounds.round_ms)
		return false;
	give_back(p);
	perf_lock(p);
	found = p->rings[i].page &&
		perf_ring_peek(&p->rings[i], p->round_ns, p->before_ns, upto, time,
			       &p->damaged);
	perf_unlock(p);
	return found;
}

static bool feed_take(void *ctx, size_t i, struct order_record *out)
{
	struct perf_source *p = ctx;

	if (i >= p->nrings)
		return p->extra.take(p->extra.ctx, i - p->nrings, out);
	give_back(p);
	perf_lock(p);
	if (!p->slow_rounds && p->rings[i].page &&
	    perf_ring_borrow(&p->rings[i], out)) {
		/* The thread waits until it is given back, which gives its priority to
		 * the recorder. */
		p->borrowed = *out;
		p->lender = i;
		return true;
	}
	out->bytes = p->record;
	out->size = p->rings[i].page ? perf_ring_fetch(&p->rings[i], &p->decoder,
						       p->record) : 0;
	perf_unlock(p);
	return out->size;
}

int perf_feed_init(struct perf_source *p)
{
	p->feed = (struct order_feed){ feed_peek, feed_take, p };
	if (p->rounds.round_ms || p->extra.peek)
		p->order.feed = &p->feed;
	if (!p->rounds.round_ms)
		return 0;
	p->record = malloc(PERF_RING_RECORD_MAX);
	return p->record ? 0 : -ERR_NOMEM;
}

/* Time after which records are in their ring, with `calm`. */
#define CALM_SETTLE_NS 20000000u

/* Returns the time up to which the rings are complete at `now`. */
static uint64_t complete_at(const struct perf_source *p, uint64_t now)
{
	uint64_t upto = p->round_ns;

	/* Rounds are far apart, and records need not wait for the next one. */
	if (p->calm && now - CALM_SETTLE_NS > upto)
		upto = now - CALM_SETTLE_NS;
	return upto;
}

/* Lets the thread sleep until the next round is late. */
static void put_off_thread(struct perf_source *p)
{
	enum { SLACK_MS = 5 };
	uint32_t pace = __atomic_load_n(&p->drainer.pace_ms, __ATOMIC_RELAXED);
	uint32_t ms = p->own_rounds ? pace + pace / 4 + SLACK_MS : p->rounds.rescue_ms;
	struct itimerspec when = { .it_value = { ms / 1000, ms % 1000 * 1000000 } };

	if (p->drainer.late_fd >= 0)
		timerfd_settime(p->drainer.late_fd, 0, &when, NULL);
}

static void round_done(struct perf_source *p, uint64_t start, uint64_t upto)
{
	put_off_thread(p);
	__atomic_store_n(&p->round_ns, start, __ATOMIC_RELAXED);
	/* Too much is waiting.  Deliver all that was certainly present when this
	 * round began; rings read early lack later records. */
	if (!p->drainer.running && order_waiting(&p->order) > ORDER_LIMIT)
		upto = start;
	__atomic_store_n(&p->complete_ns, upto, __ATOMIC_RELEASE);
}

/*
 * Drains all rings once.  A record written before the clock was read at the start of
 * the last round is in its ring by now.  The exception is a CPU that stood still
 * inside the kernel's write for the whole round.  Everything up to that time is
 * therefore complete and can be merged.
 */
static int perf_round(struct perf_source *p)
{
	uint64_t start, upto;
	int r = 0;

	perf_lock(p);
	start = clock_now();
	upto = complete_at(p, start);
	forget_hangups(p);
	for (size_t i = 0; i < p->nrings && r >= 0; i++)
		r = drain_ring(p, i);
	for (size_t i = 0; i < p->ncpus && r >= 0 && perf_bpf_is_open(&p->bpf); i++)
		r = drain_reports(p, i);
	if (r >= 0 && p->extra.fill)
		r = p->extra.fill(p->extra.ctx, &p->order, p->nrings,
				  &p->damaged);
	if (p->base.wait_stacks)
		perf_pace_waits(p);
	if (r >= 0)
		round_done(p, start, upto);
	perf_unlock(p);
	return r < 0 ? r : 0;
}

/* A round that takes longer than this is followed by some whose records are copied. */
#define SLOW_NS 100000000u

/* Delivers what the rings hold, record by record.  Records are borrowed from the ring,
 * which saves a copy.  But a ring cannot be emptied meanwhile, so that it would overflow
 * if one takes very long, for example because another thread holds a lock on its
 * process's memory. */
static int drain_directly(struct perf_source *p, struct delivery *d)
{
	enum { SLOW_ROUNDS = 32 };
	uint64_t now, upto, wakes;
	int r;

	if (p->drainer.running && read(p->base.wake_fd, &wakes, sizeof(wakes)) < 0)
		wakes = 0;
	perf_lock(p);
	now = clock_now();
	upto = complete_at(p, now);
	forget_hangups(p);
	for (size_t i = 0; i < p->nrings; i++) {
		if (!p->rings[i].page)
			continue;
		see_ring(p, i);
		perf_ring_look(&p->rings[i]);
	}
	p->before_ns = p->round_ns;
	round_done(p, now, upto);
	perf_unlock(p);
	r = flush(p, upto, d);
	give_back(p);
	if (clock_now() - now > SLOW_NS)
		p->slow_rounds = SLOW_ROUNDS;
	else if (p->slow_rounds)
		p->slow_rounds--;
	return r;
}

/* Returns whether a round is due that the recorder makes itself.  After one of the thread
 * it is not: a record that is being written while a round begins must be in its ring
 * before the next. */
static bool round_is_due(const struct perf_source *p)
{
	enum { GAP_NS = 1000000 };

	return p->own_rounds && clock_now() >= GAP_NS +
		__atomic_load_n(&p->round_ns, __ATOMIC_RELAXED);
}

/* Takes what the thread has moved.  Without the thread, at the end, and if a round of
 * its own is due, drains the rings. */
static int fill_order(struct perf_source *p, bool all, struct error *err)
{
	uint64_t wakes;
	int r = 0;

	if (p->drainer.running && !all) {
		if (read(p->base.wake_fd, &wakes, sizeof(wakes)) < 0)
			wakes = 0;
		r = __atomic_load_n(&p->drainer.result, __ATOMIC_ACQUIRE);
		if (r >= 0 && round_is_due(p))
			r = perf_round(p);
	} else {
		perf_drainer_end(p);
		r = perf_round(p);
	}
	return r < 0 ? error_set(err, ERR_NOMEM, "out of memory for samples "
				 "that wait to be ordered") : 0;
}

/* Looks for CPUs that come or go, with `calm` once a second. */
static void look_at_cpus(struct perf_source *p)
{
	enum { CALM_LOOK_NS = 1000000000 };
	uint64_t now = p->calm ? clock_now() : 0;

	if (p->calm && now - p->looked_ns < CALM_LOOK_NS)
		return;
	p->looked_ns = now;
	if (cpu_watch_changed(&p->watch))
		perf_look_at_cpus(p);
}

/* Time after a pause in which records of wakeups may be missing, or pauses may go on. */
#define PAUSED_NS 1000000000u

int perf_drain(struct source *s, bool all, record_cb *cb, void *ctx,
	       struct error *err)
{
	struct perf_source *p = perf_of(s);
	struct delivery d = { p, cb, ctx, err };
	bool direct = p->rounds.round_ms && !all;
	int r = direct ? drain_directly(p, &d) : fill_order(p, all, err);

	if (r < 0)
		return r;
	s->sideband_pending = __atomic_exchange_n(&p->sideband_pending, false,
						  __ATOMIC_RELAXED);
	if (!all)
		look_at_cpus(p);
	if (!direct)
		r = flush(p, all ? UINT64_MAX - 1
			 : __atomic_load_n(&p->complete_ns, __ATOMIC_ACQUIRE),
			  &d);
	if (all && r >= 0 && p->waits &&
	    (p->features.lost || perf_bpf_is_open(&p->bpf)))
		r = last_lost_switches(p, &d);
	if (all) {
		p->order.flushed = p->round_ns;
		s->damaged = p->damaged;
	}
	s->shortened = __atomic_load_n(&p->pressure.shortened, __ATOMIC_RELAXED);
	s->thinned = 0;
	for (size_t e = 0; e < s->nevents; e++)
		s->thinned += __atomic_load_n(&p->pressure.thinned[e],
					      __ATOMIC_RELAXED);
	s->late = p->order.late;
	s->paused_ns = __atomic_load_n(&p->paused_ns, __ATOMIC_RELAXED);
	s->wakes_missing = perf_opens_wakes(p) && s->paused_ns && clock_now() < PAUSED_NS +
		__atomic_load_n(&p->paused_last_ns, __ATOMIC_ACQUIRE);
	return r;
}

static uint64_t wanted_samples(const struct perf_source *p, size_t event,
			       const struct source_count *c)
{
	const struct source_event *e = &p->seen[event];

	if (!e->freq)
		return e->period ? c->value / e->period : 0;
	/* The rate determines a number of samples only for events that count whenever
	 * a task runs. */
	if (e->exclude_user || e->exclude_kernel)
		return 0;
	if (e->is_time || (p->per_task && e->type == PERF_TYPE_HARDWARE &&
			   e->config == PERF_COUNT_HW_CPU_CYCLES))
		return (uint64_t)((double)c->running_ns / 1e9 *
				  (double)e->freq);
	return 0;
}

/* Reports samples dropped because too many were waiting after the rings. */
static int report_dropped(struct perf_source *p, size_t event, record_cb *cb,
			  void *ctx, struct error *err)
{
	struct record r = { .kind = RECORD_LOST, .event = (uint32_t)event };
	uint64_t n = __atomic_load_n(&p->pressure.dropped[event],
				     __ATOMIC_RELAXED);

	if (n <= p->dropped_reported[event])
		return 0;
	r.time_ns = clock_now();
	r.lost = n - p->dropped_reported[event];
	p->dropped_reported[event] = n;
	return cb(ctx, &r, err);
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

int perf_count(struct source *s, size_t event, struct source_count *out,
	       record_cb *cb, void *ctx, struct error *err)
{
	struct perf_source *p = perf_of(s);
	uint64_t thinned;
	int result;

	memset(out, 0, sizeof(*out));
	/* A wait whose sample was lost still has a known length. */
	if (p->waits && event >= p->base.blocked)
		return 0;
	result = report_dropped(p, event, cb, ctx, err);
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
	/* While a thread runs, its events on the other CPUs count as enabled, too.  How
	 * long it was on cores of one kind is unknown. */
	if (p->per_task)
		out->enabled_ns = event_own_kind(&p->events[event].spec, &p->kinds)
				  ? out->running_ns : out->enabled_ns / p->nopen;
	/* Both are read while time passes: a difference of 1/1000 is not
	 * multiplexing. */
	if (out->enabled_ns < out->running_ns + out->running_ns / 1000)
		out->enabled_ns = out->running_ns;
	out->wanted = wanted_samples(p, event, out);
	/* A lower rate reduces the expected number. */
	thinned = __atomic_load_n(&p->pressure.thinned[event],
				  __ATOMIC_RELAXED);
	out->wanted -= thinned < out->wanted ? thinned : out->wanted;
	return result;
}

/*
 * The thread that drains the rings.  It has no other work, and precedes all other
 * threads where permitted.  Records that it moves to `order` wait there until the
 * recorder has time.  It also ends sampling on time.
 */

enum {
	PACE_MS = 5,		/* interval until the recorder sets another */
	PACE_MAX_MS = 200,	/* without records */
	/* Minimum time between wakeups by rings of mappings, for programs that start
	 * others all the time. */
	GAP_MS = 4,
	BPF_PACE_MS = 200,	/* with 300,000 reports of a CPU a second */
	FDS = 2 + PERF_END_FDS,
};

static bool is_stopped(const struct perf_drainer *d)
{
	return __atomic_load_n(&d->stopped_ns, __ATOMIC_RELAXED);
}

/* Returns how long poll waits: up to an hour if a timer tells that a round is late. */
static int timeout_ms(const struct perf_source *p, uint64_t now)
{
	const struct perf_drainer *d = &p->drainer;
	uint32_t pace = __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED);
	uint64_t wait = (p->own_rounds && d->late_fd >= 0 ? 3600000 : pace) * 1000000ull;
	uint64_t end = __atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE);

	if (end && !is_stopped(d) && end < now + wait)
		wait = end > now ? end - now : 0;
	return (int)((wait + 999999) / 1000000);
}

/* Returns whether a descriptor other than the rings' is ready. */
static bool was_called(const struct pollfd *fds, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (fds[i].revents)
			return true;
	return false;
}

static size_t fill_fds(const struct perf_source *p, struct pollfd *fds)
{
	const struct perf_drainer *d = &p->drainer;
	size_t n = 2;

	fds[0] = (struct pollfd){ p->rings_fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ d->kick_fd, POLLIN, 0 };
	if (!__atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE) || is_stopped(d))
		return n;
	for (size_t i = 0; i < d->nend; i++)
		fds[n++] = (struct pollfd){ d->end_fds[i], POLLIN, 0 };
	return n;
}

/* Returns whether a ring is half full; where that follows from the time for rings of
 * samples, asks those of mappings only. */
static bool are_filling(struct perf_source *p)
{
	size_t n = p->rounds.round_ms ? p->ncpus : p->nrings;
	bool found = false;

	perf_lock(p);
	forget_hangups(p);
	for (size_t i = 0; i < n && !found; i++)
		found = p->rings[i].page &&
			perf_ring_used(&p->rings[i]) >= p->rings[i].size / 2;
	perf_unlock(p);
	return found;
}

/* Returns the time until which the thread waits after its round at `from`.  Each round of
 * a recorder that reads the rings itself puts that off. */
static uint64_t calm_end(struct perf_source *p, uint64_t from)
{
	struct perf_drainer *d = &p->drainer;
	uint64_t stop = __atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE), end;

	end = p->rounds.round_ms
	      ? __atomic_load_n(&p->round_ns, __ATOMIC_RELAXED) +
		p->rounds.rescue_ms * 1000000ull
	      : from + __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED) * 1000000ull;
	return stop && !is_stopped(d) && stop < end ? stop : end;
}

/*
 * Waits for the end of a round that began at `from`.  The kernel reports a ring
 * whenever another part of it was written, even if all before was read
 * (perf_output_begin, kernel/events/ring_buffer.c).  On many CPUs, these moments
 * differ, so only a ring that is half full ends the round early.
 */
static void wait_calm(struct perf_source *p, struct pollfd *fds, size_t n,
		      uint64_t from)
{
	uint64_t now = clock_now(), end = calm_end(p, from);

	do {
		uint64_t wait = now < end ? (end - now) / 1000000 + 1 : 0;
		bool timed = p->drainer.late_fd < 0 ||
			     __atomic_load_n(&p->drainer.end_ns, __ATOMIC_ACQUIRE);

		poll(fds, n, timed ? (int)wait : -1);
		now = clock_now();
		end = calm_end(p, from);
	} while (!was_called(fds, n) && now < end &&
		 !(fds[0].revents && are_filling(p)));
}

/* Waits until there is work.  Returns true when sampling must end. */
static bool wait_turn(struct perf_source *p, uint64_t drained_ns)
{
	struct perf_drainer *d = &p->drainer;
	struct pollfd fds[FDS];
	size_t n = fill_fds(p, fds);
	uint64_t now, end, kicks;
	int left;

	if (p->calm)
		wait_calm(p, fds, n, drained_ns);
	else
		poll(fds, n, timeout_ms(p, clock_now()));
	now = clock_now();
	left = (int)(GAP_MS - (int64_t)(now - drained_ns) / 1000000);
	if (fds[0].revents && !was_called(fds, n) && left > 0 &&
	    __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED) >= GAP_MS) {
		int most = timeout_ms(p, now);

		poll(fds + 1, n - 1, left < most ? left : most);
	}
	if (fds[1].revents && read(d->kick_fd, &kicks, sizeof(kicks)) < 0)
		kicks = 0;
	end = __atomic_load_n(&d->end_ns, __ATOMIC_ACQUIRE);
	return end && !is_stopped(d) &&
	       (clock_now() >= end || (n > 2 && was_called(fds + 1, n - 1)));
}

static void stop_sampling(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;

	pthread_mutex_lock(&d->lock);
	perf_disable(p);
	pthread_mutex_unlock(&d->lock);
	__atomic_store_n(&d->stopped_ns, clock_now(), __ATOMIC_RELEASE);
}

static void wake(int fd)
{
	static const uint64_t one = 1;

	/* This fails only if the counter is full, and then the reader is awake. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* Doubles the interval after a round without records, as the recorder does after each of
 * its own, which it only makes if there are records. */
static void slow_down(struct perf_drainer *d)
{
	uint32_t ms = __atomic_load_n(&d->pace_ms, __ATOMIC_RELAXED);
	uint32_t slower = 2 * ms < PACE_MAX_MS ? 2 * ms : PACE_MAX_MS;

	if (slower > ms)	/* unless the recorder sets another one now */
		__atomic_compare_exchange_n(&d->pace_ms, &ms, slower, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void *drain_main(void *arg)
{
	struct perf_source *p = arg;
	struct perf_drainer *d = &p->drainer;
	uint64_t drained_ns = 0;
	int r = 0;

	priority_first(d->priority);
	while (r >= 0 && !__atomic_load_n(&d->quit, __ATOMIC_ACQUIRE)) {
		if (wait_turn(p, drained_ns))
			stop_sampling(p);
		drained_ns = clock_now();
		r = perf_round(p);
		if (r < 0)
			__atomic_store_n(&d->result, r, __ATOMIC_RELEASE);
		if (r < 0 || order_waiting(&p->order))
			wake(p->base.wake_fd);
		else if (!p->waits && !p->own_rounds)
			slow_down(d);	/* samples of waits may be switched off */
	}
	return NULL;
}

/* Saves a wake-up per round; without the timer, the thread looks at the clock. */
static void open_late_timer(struct perf_source *p)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	ev.data.fd = fd;
	if (fd >= 0 && epoll_ctl(p->rings_fd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		close(fd);
		fd = -1;
	}
	p->drainer.late_fd = fd;
	put_off_thread(p);
}

static int start_thread(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;
	pthread_mutexattr_t attr;
	int e;

	/* Priority inheritance keeps busy programs from delaying the lock's holder
	 * while a real-time thread waits. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	e = pthread_mutex_init(&d->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	if (e)
		return e;
	e = priority_create(&d->thread, drain_main, p);
	if (e)
		pthread_mutex_destroy(&d->lock);
	return e;
}

void perf_drainer_start(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;
	int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	d->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->late_fd = -1;
	d->pace_ms = PACE_MS;
	if (p->rounds.round_ms || p->own_rounds)
		open_late_timer(p);
	p->base.wake_fd = wake_fd;
	d->running = wake_fd >= 0 && d->kick_fd >= 0;
	if (d->running && !start_thread(p))
		return;
	/* From now on, drain calls empty the rings themselves. */
	if (wake_fd >= 0)
		close(wake_fd);
	if (d->kick_fd >= 0)
		close(d->kick_fd);
	if (d->late_fd >= 0)
		close(d->late_fd);
	d->kick_fd = d->late_fd = -1;
	d->running = p->own_rounds = false;
	p->base.wake_fd = p->rings_fd;
}

void perf_drainer_end(struct perf_source *p)
{
	struct perf_drainer *d = &p->drainer;

	if (!d->running)
		return;
	__atomic_store_n(&d->quit, true, __ATOMIC_RELEASE);
	wake(d->kick_fd);
	pthread_join(d->thread, NULL);
	pthread_mutex_destroy(&d->lock);
	d->running = false;
	close(d->kick_fd);
	if (d->late_fd >= 0)
		close(d->late_fd);
	d->late_fd = -1;
	for (size_t i = 0; i < d->nend; i++)
		close(d->end_fds[i]);
	d->nend = 0;
	p->base.stopped_ns = d->stopped_ns;
	p->base.priority = d->priority;
}

void perf_pace(struct source *s, unsigned int ms)
{
	struct perf_source *p = perf_of(s);
	struct perf_drainer *d = &p->drainer;
	const struct perf_bpf *b = &p->bpf;
	uint32_t before;

	if (!d->running)
		return;
	/* No file reports how full the rings of BPF programs are. */
	if (perf_bpf_is_open(b) && ms > BPF_PACE_MS * b->ring / PERF_BPF_RING)
		ms = BPF_PACE_MS * b->ring / PERF_BPF_RING;
	before = __atomic_exchange_n(&d->pace_ms, ms, __ATOMIC_RELAXED);
	if (p->own_rounds) {
		s->round_ms = ms;
		if (ms != before)
			put_off_thread(p);
	} else if (ms < before) {
		wake(d->kick_fd);
	}
}

void perf_end_at(struct source *s, uint64_t end_ns, const int *fds, size_t n)
{
	struct perf_drainer *d = &perf_of(s)->drainer;

	if (!d->running || d->end_ns)
		return;
	for (size_t i = 0; i < n && d->nend < PERF_END_FDS; i++) {
		int fd = dup(fds[i]);

		if (fd >= 0)
			d->end_fds[d->nend++] = fd;
	}
	__atomic_store_n(&d->end_ns, end_ns, __ATOMIC_RELEASE);
	wake(d->kick_fd);
}
