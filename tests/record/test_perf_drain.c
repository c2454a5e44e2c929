// SPDX-License-Identifier: GPL-2.0-or-later
/* What becomes of the bytes in rings and of the counters, without a kernel: rings are plain
 * memory, and counters are files. */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/perf/perf_source_internal.h"

#include "perf_bytes.h"

enum {
	SIDEBAND, SAMPLES, SWITCHES, RINGS,	/* of one CPU */
	CLOCK = 0, BLOCKED, RUNNABLE, EVENTS,
	CLOCK_ID = 71, SWITCH_ID, UNKNOWN_ID,
	RING = 4096, RECORDS = 16, REPORTS = 8,
};

/* The memory of a CPU's BPF programs: perf_bpf.c. */
struct reports {
	uint64_t head, lost;
	_Alignas(64) uint64_t tail;
	_Alignas(4096) struct perf_bpf_report ring[REPORTS];
};

struct drained {
	struct perf_source p;
	struct perf_ring rings[RINGS];
	struct perf_paced_cpu paced[2];
	struct source_event seen[EVENTS];
	struct perf_event events[EVENTS];
	uint64_t dropped[EVENTS], thinned[EVENTS], reported[EVENTS];
	uint32_t cpus[1], reports_lost[1];
	struct reports *reports;
	struct record r[RECORDS];
	size_t n;
};

static int see(void *ctx, const struct record *r, struct error *err)
{
	struct drained *x = ctx;

	(void)err;
	assert_in_range(x->n, 0, RECORDS - 1);
	x->r[x->n++] = *r;
	return 0;
}

static int setup(void **state)
{
	struct drained *x = calloc(1, sizeof(*x));
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_source *p = &x->p;

	if (!x || order_init(&p->order, RINGS + 1) < 0)
		return -1;
	for (size_t i = 0; i < RINGS; i++)
		x->rings[i] = (struct perf_ring){ .page = calloc(1, page + RING),
						  .size = RING };
	*u64map_slot(&p->ids, CLOCK_ID) = CLOCK;
	*u64map_slot(&p->ids, SWITCH_ID) = EVENTS;
	p->decoder.ids = &p->ids;
	p->base.nevents = EVENTS;
	p->base.blocked = BLOCKED;
	p->base.runnable = RUNNABLE;
	p->base.waking = p->base.latency = SOURCE_NONE;
	p->waits = true;
	p->rings_fd = p->watch.fd = p->watch.device_fd = p->drainer.late_fd = -1;
	p->rings = x->rings;
	p->nrings = RINGS;
	p->cpus = x->cpus;
	p->ncpus = p->nopen = 1;
	p->paced = x->paced;
	p->seen = x->seen;
	p->events = x->events;
	p->reports_lost = x->reports_lost;
	p->dropped_reported = x->reported;
	p->pressure.dropped = x->dropped;
	p->pressure.thinned = x->thinned;
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct drained *x = *state;
	struct perf_source *p = &x->p;

	for (size_t i = 0; i < RINGS; i++)
		free(x->rings[i].page);
	for (size_t i = 0; i < p->counters.n; i++)
		close(p->counters.v[i].fd);
	for (size_t i = 0; i < p->tracking.n; i++)
		close(p->tracking.v[i]);
	vec_fini(&p->counters);
	vec_fini(&p->tracking);
	order_fini(&p->order);
	u64map_fini(&p->ids);
	free(x->reports);
	free(x);
	return 0;
}

/* Writes records to a ring. */
static void fill(struct drained *x, size_t ring, const struct buf *b)
{
	struct perf_event_mmap_page *page = x->rings[ring].page;
	uint8_t *data = (uint8_t *)page + sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < b->n; i++)
		data[(page->data_head + i) % RING] = b->p[i];
	page->data_head += b->n;
}

static void put_loss(struct drained *x, size_t ring, uint64_t id, uint64_t time,
		     uint64_t lost)
{
	struct buf b = { 0 };

	put_lost(&b, &(struct stamp){ 1, 1, time, 0, id }, lost);
	fill(x, ring, &b);
	buf_fini(&b);
}

static void put_name(struct drained *x, uint64_t time)
{
	struct buf b = { 0 };

	put_comm(&b, &(struct stamp){ 1, 1, time, 0, CLOCK_ID }, false, "x");
	fill(x, SIDEBAND, &b);
	buf_fini(&b);
}

/* A counter that has these values at one reading after the other. */
static int make_counter(const uint64_t (*v)[4], size_t n)
{
	int fd = memfd_create("counter", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, v, n * sizeof(*v)), n * sizeof(*v));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void drain(struct drained *x, bool all)
{
	struct error err;

	x->n = 0;
	assert_int_equal(perf_drain(&x->p.base, all, see, x, &err), 0);
}

static void assert_loss(const struct drained *x, size_t i, enum record_kind kind,
			uint64_t time, uint64_t lost)
{
	assert_true(i < x->n);
	assert_int_equal(x->r[i].kind, kind);
	assert_int_equal(x->r[i].time_ns, time);
	assert_int_equal(x->r[i].lost, lost);
}

/* Without counters of losses there are only the records. */
static void losses_are_counted_once(void **state)
{
	struct drained *x = *state;

	for (int counters = 0; counters < 2; counters++) {
		x->p.features.lost = counters;
		put_loss(x, SAMPLES, CLOCK_ID, 1000, 5);
		put_loss(x, SIDEBAND, UNKNOWN_ID, 2000, 3);
		put_loss(x, SWITCHES, SWITCH_ID, 3000, 7);
		drain(x, true);
		if (!counters) {
			assert_loss(x, 0, RECORD_LOST, 1000, 5);
			assert_int_equal(x->r[0].event, CLOCK);
			assert_loss(x, 1, RECORD_GAP, 2000, 3);
		}
		assert_int_equal(x->n, counters ? 1 : 3);
		assert_loss(x, x->n - 1, RECORD_SWITCH_GAP, 3000, 7);
	}
	/* The ring holds mappings, too. */
	x->p.features.lost = false;
	x->p.shared = true;
	put_loss(x, SAMPLES, CLOCK_ID, 4000, 5);
	drain(x, true);
	assert_int_equal(x->n, 2);
	assert_loss(x, 0, RECORD_GAP, 4000, 5);
	assert_loss(x, 1, RECORD_LOST, 4000, 5);
}

/* The last loss of a ring has no record. */
static void the_end_shows_losses_of_switches_without_a_record(void **state)
{
	static const uint64_t values[][4] = { { 0, 0, 0, 7 }, { 0, 0, 0, 9 } };
	struct drained *x = *state;
	struct counter c = { .fd = make_counter(values, 2), .event = EVENTS };

	assert_int_equal(vec_push(&x->p.counters, c), 0);
	x->p.features.lost = true;
	put_loss(x, SWITCHES, SWITCH_ID, 3000, 7);
	drain(x, true);
	assert_int_equal(x->n, 1);
	drain(x, true);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->r[0].kind, RECORD_SWITCH_GAP);
}

/* A ring of mappings that was full: what is known is read again from there on. */
static void a_gap_follows_what_was_before_it(void **state)
{
	static const uint64_t values[][4] = {
		{ 0, 0, 0, 5 }, { 0, 0, 0, 8 }, { 0, 0, 0, 8 }, { 0, 0, 0, 8 },
		{ 0, 0, 0, 8 },
	};
	struct drained *x = *state;
	uint64_t later;

	assert_int_equal(vec_push(&x->p.tracking, make_counter(values, 5)), 0);
	put_name(x, 900);
	put_name(x, 1100);
	x->p.gap_ns = 1000;
	drain(x, true);
	assert_int_equal(x->n, 3);
	assert_int_equal(x->r[0].kind, RECORD_COMM);
	assert_loss(x, 1, RECORD_GAP, 1000, 5);
	assert_int_equal(x->r[2].kind, RECORD_COMM);
	drain(x, true);
	assert_int_equal(x->n, 0);
	x->p.gap_ns = 2000;
	drain(x, true);
	assert_int_equal(x->n, 1);
	assert_loss(x, 0, RECORD_GAP, 2000, 3);
	/* It was nearly full, and nothing was lost. */
	x->p.gap_ns = 3000;
	drain(x, true);
	assert_int_equal(x->n, 0);
	/* Threads have no events, however. */
	x->p.gap_ns = 4000;
	x->p.must_reread = true;
	drain(x, true);
	assert_int_equal(x->n, 1);
	assert_loss(x, 0, RECORD_GAP, 4000, 0);
	x->p.gap_ns = 5000;
	drain(x, true);
	assert_int_equal(x->n, 0);
	/* Its time has not come. */
	later = clock_now() + 3600 * SECOND;
	x->p.must_reread = true;
	x->p.gap_ns = later;
	drain(x, false);
	assert_int_equal(x->n, 0);
	assert_int_equal(x->p.gap_ns, later);
}

/* While a round reads one ring, records arrive in others. */
static void a_round_completes_the_one_before(void **state)
{
	struct drained *x = *state;
	uint64_t now = clock_now();

	put_name(x, now - SECOND);
	drain(x, false);
	assert_int_equal(x->n, 0);
	put_name(x, now + 1);
	while (clock_now() <= x->p.round_ns)
		;
	drain(x, false);
	assert_int_equal(x->n, 2);
	/* One that comes late is counted. */
	put_name(x, now);
	drain(x, true);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->p.base.late, 1);
	/* One after the end is not. */
	put_name(x, clock_now());
	drain(x, true);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->p.base.late, 1);
}

/* Without being moved.  A record from the future has the time of the look at which it was
 * first seen. */
static void rings_may_be_read_directly(void **state)
{
	struct drained *x = *state;
	uint64_t first;

	x->p.rounds.round_ms = 500;
	assert_int_equal(perf_feed_init(&x->p), 0);
	put_name(x, 1000);
	put_name(x, UINT64_MAX / 2);
	drain(x, false);
	assert_int_equal(x->n, 0);
	first = x->p.round_ns;
	drain(x, false);
	assert_int_equal(x->n, 2);
	assert_int_equal(x->r[0].time_ns, 1000);
	assert_int_equal(x->r[1].time_ns, first);
	x->p.rounds.round_ms = 0;
	x->p.order.feed = NULL;
	free(x->p.record);
}

static struct source_count counted(struct drained *x, size_t event)
{
	struct source_count c;
	struct error err;

	x->n = 0;
	assert_int_equal(perf_count(&x->p.base, event, &c, see, x, &err), 0);
	return c;
}

static void counters_tell_what_was_wanted_and_lost(void **state)
{
	static const uint64_t values[][4] = {
		{ 1000000, 5000000, 2000000, 4 }, { 1000000, 5000000, 2000000, 4 },
		{ 1000000, 5000000, 2000000, 6 },
	};
	struct drained *x = *state;
	struct counter c = { .event = CLOCK, .cpu = 2 };
	struct source_count n;

	c.fd = make_counter(values, 3);
	assert_int_equal(vec_push(&x->p.counters, c), 0);
	x->seen[CLOCK].period = 1000;
	n = counted(x, CLOCK);
	assert_int_equal(n.value, 1000000);
	assert_int_equal(n.enabled_ns, 5000000);
	assert_int_equal(n.running_ns, 2000000);
	assert_int_equal(n.wanted, 1000);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->r[0].kind, RECORD_LOST);
	assert_int_equal(x->r[0].event, CLOCK);
	assert_int_equal(x->r[0].cpu, 2);
	assert_int_equal(x->r[0].lost, 4);
	/* Samples that were left out on purpose are not wanted. */
	x->thinned[CLOCK] = 300;
	/* Two CPUs have an event of a thread that runs on one. */
	x->p.per_task = true;
	x->p.nopen = 2;
	n = counted(x, CLOCK);
	assert_int_equal(n.wanted, 700);
	assert_int_equal(n.enabled_ns, 2500000);
	assert_int_equal(x->n, 0);
	x->thinned[CLOCK] = 2000;
	assert_int_equal(counted(x, CLOCK).wanted, 0);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->r[0].lost, 2);
}

static void dropped_samples_are_reported_once(void **state)
{
	struct drained *x = *state;

	x->dropped[CLOCK] = 5;
	counted(x, CLOCK);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->r[0].lost, 5);
	counted(x, CLOCK);
	assert_int_equal(x->n, 0);
	x->dropped[CLOCK] = 9;
	counted(x, CLOCK);
	assert_int_equal(x->n, 1);
	assert_int_equal(x->r[0].lost, 4);
	/* A wait without its sample still has a length. */
	x->dropped[BLOCKED] = 5;
	counted(x, BLOCKED);
	assert_int_equal(x->n, 0);
}

/* Reports of BPF programs: a switch is two records. */
static void reports_become_records(void **state)
{
	struct drained *x = *state;
	struct reports *m = aligned_alloc(4096, sizeof(*m));

	assert_non_null(m);
	memset(m, 0, sizeof(*m));
	x->reports = m;
	x->p.bpf.cpus = (uint8_t *)m;
	x->p.bpf.ring = REPORTS;
	m->ring[0] = (struct perf_bpf_report){
		.time_ns = 1000, .ran_ns = 77, .out_tid = 11, .out_pid = 10,
		.in_tid = 21, .in_pid = 20, .flags = PERF_BPF_RUNNABLE };
	m->ring[1] = (struct perf_bpf_report){
		.time_ns = 2000, .out_tid = 21, .out_pid = 20, .lost = 3,
		.flags = PERF_BPF_ENDED };
	m->ring[2] = (struct perf_bpf_report){
		.time_ns = 3000, .out_tid = 11, .out_pid = 10, .lost = 4, .call = 202,
		.flags = PERF_BPF_CALL };
	m->ring[3] = (struct perf_bpf_report){
		.time_ns = 4000, .out_tid = 31, .out_pid = 30, .in_tid = 11, .lost = 4,
		.flags = PERF_BPF_WAKEUP | PERF_BPF_INTERRUPT };
	m->head = 4;
	m->lost = 4;
	drain(x, true);
	assert_int_equal(x->n, 7);
	assert_int_equal(x->r[0].kind, RECORD_SWITCH);
	assert_int_equal(x->r[0].pid, 10);
	assert_int_equal(x->r[0].tid, 11);
	assert_true(x->r[0].change.out && x->r[0].change.preempted);
	assert_int_equal(x->r[0].change.ran_ns, 77);
	assert_false(x->r[0].change.ended || x->r[0].change.has_call);
	assert_int_equal(x->r[1].tid, 21);
	assert_false(x->r[1].change.out || x->r[1].change.preempted);
	assert_int_equal(x->r[1].change.ran_ns, 0);
	assert_loss(x, 2, RECORD_SWITCH_GAP, 2000, 3);
	assert_true(x->r[3].change.out && x->r[3].change.ended);
	assert_false(x->r[3].change.preempted);
	assert_loss(x, 4, RECORD_SWITCH_GAP, 3000, 1);
	assert_true(x->r[5].change.has_call);
	assert_int_equal(x->r[5].change.call, 202);
	assert_int_equal(x->r[6].kind, RECORD_WAKE);
	assert_int_equal(x->r[6].tid, 31);
	assert_int_equal(x->r[6].wake.tid, 11);
	assert_true(x->r[6].wake.interrupt);
	x->p.bpf.cpus = NULL;
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(losses_are_counted_once),
		WITH(the_end_shows_losses_of_switches_without_a_record),
		WITH(a_gap_follows_what_was_before_it),
		WITH(a_round_completes_the_one_before),
		WITH(rings_may_be_read_directly),
		WITH(counters_tell_what_was_wanted_and_lost),
		WITH(dropped_samples_are_reported_once),
		WITH(reports_become_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
