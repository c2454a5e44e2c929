// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What programs write into the rings of timers: as they should, and as a program
 * does that scribbles over all memory it has.  The layout is preload/shared.h.
 */
#include "../checks.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/model.h"
#include "record/timer/timer_library.h"
#include "record/timer/timer_sideband.h"
#include "record/timer/timer_source.h"

enum { RING = 4096, STACK = 24 };

union sample {
	struct timer_sample head;
	uint64_t words[sizeof(struct timer_sample) / 8 + STACK / 8];
};

static union sample sample_of(uint64_t time)
{
	union sample s = { .head = {
		.r = { sizeof(s), TIMER_SAMPLE, TIMER_COMPLETE, time, 10, 11 },
		.weight = 4000000, .cpu = 3, .stack_bytes = STACK,
	} };

	for (int i = 0; i < TIMER_REGS; i++)
		s.head.regs[i] = 0x1000 + (uint64_t)i;
	for (int i = 0; i < STACK; i++)
		((uint8_t *)(&s.head + 1))[i] = (uint8_t)i;
	return s;
}

union text {
	struct timer_text head;
	uint8_t bytes[sizeof(struct timer_text) + 64];
};

static union text text_of(enum timer_kind kind, uint32_t pid, const char *s)
{
	union text t = { .head = {
		.r = { sizeof(t), (uint16_t)kind, 0, 100, pid, pid },
		.n = (uint32_t)strlen(s),
	} };

	memcpy(t.bytes + sizeof(t.head), s, t.head.n);
	return t;
}

/* At a position that counts for ever, around the end. */
static void put(uint8_t *ring, uint64_t at, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ring[(at + i) % RING] = ((const uint8_t *)p)[i];
}

struct seen {
	uint64_t times[8], ips[8];
	size_t n, refused;
};

static int see(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct seen *s = ctx;
	struct timer_message m;

	if (!timer_decode(bytes, size, true, &m)) {
		s->refused++;
		return 0;
	}
	s->times[s->n] = time;
	s->ips[s->n++] = m.sample.copy.regs.r[UNWIND_RIP];
	return 0;
}

static void records_go_around_the_end(void **state)
{
	static uint8_t ring[RING];
	union sample a = sample_of(100), b = sample_of(300);
	/* Far from 0, and 40 bytes before the end. */
	uint64_t tail = (1ull << 40) + RING - 40, head = tail, damaged = 0;
	struct seen seen = { .n = 0 };
	struct order o;

	(void)state;
	put(ring, head, &a, sizeof(a));
	head += sizeof(a);
	put(ring, head, &b, sizeof(b));
	head += sizeof(b);
	assert_int_equal(order_init(&o, 1), 0);
	assert_int_equal(timer_ring_take(ring, RING, tail, head, &o, 0, 250,
					 &damaged), head);
	assert_int_equal(damaged, 0);
	assert_int_equal(order_flush(&o, UINT64_MAX, see, &seen), 0);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.times[0], 100);
	assert_int_equal(seen.ips[0], 0x1010);	/* psABI: 16 is rip */
	/* Nothing comes from the future. */
	assert_int_equal(seen.times[1], 250);
	order_fini(&o);
}

static void damage_ends_a_round(void **state)
{
	static const uint32_t sizes[] = { 0, 8, 23, 25, 97, 4104, 65536 + 512,
					  UINT32_MAX, UINT32_MAX - 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		static uint8_t ring[RING];
		union sample a = sample_of(100);
		struct seen seen = { .n = 0 };
		uint64_t damaged = 0;
		struct order o;

		a.head.r.size = sizes[i];
		put(ring, 0, &a, sizeof(a));
		assert_int_equal(order_init(&o, 1), 0);
		assert_int_equal(timer_ring_take(ring, RING, 0, sizeof(a), &o,
						 0, 250, &damaged), sizeof(a));
		assert_int_equal(damaged, sizeof(a));
		order_flush(&o, UINT64_MAX, see, &seen);
		assert_int_equal(seen.n + seen.refused, 0);
		order_fini(&o);
	}
}

static void positions_may_be_nonsense(void **state)
{
	/* Tail, head: behind, beyond the ring, around the end of all counts. */
	static const uint64_t at[][2] = {
		{ 8, 0 }, { 0, RING + 8 }, { UINT64_MAX - 7, 7 },
		{ 0, UINT64_MAX }, { 0, 1 }, { 1ull << 63, 0 },
	};
	static uint8_t ring[RING];
	struct order o;

	(void)state;
	assert_int_equal(order_init(&o, 1), 0);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		uint64_t damaged = 0;

		assert_int_equal(timer_ring_take(ring, RING, at[i][0],
						 at[i][1], &o, 0, 1,
						 &damaged), at[i][1]);
		assert_in_range(damaged, 1, RING);
	}
	assert_int_equal(order_waiting(&o), 0);
	order_fini(&o);
}

static bool decoded(const void *p, size_t n, struct timer_message *m)
{
	return timer_decode(p, n, true, m);
}

static void samples_must_add_up(void **state)
{
	static const uint32_t sizes[] = { STACK + 1, 4096, UINT32_MAX };
	union sample a = sample_of(1);
	struct timer_message m;

	(void)state;
	assert_true(decoded(&a, sizeof(a), &m));
	assert_int_equal(m.pid, 10);
	assert_int_equal(m.tid, 11);
	assert_int_equal(m.cpu, 3);
	assert_int_equal(m.sample.weight, 4000000);
	assert_true(m.sample.copied && m.sample.copy.all);
	assert_false(m.sample.in_kernel);
	/* Figure 3.36 of the psABI: 7 is rsp, 3 rbx. */
	assert_int_equal(m.sample.copy.regs.r[UNWIND_RSP], 0x1007);
	assert_int_equal(m.sample.copy.regs.r[UNWIND_RBX], 0x1003);
	assert_int_equal(m.sample.copy.size, STACK);
	assert_memory_equal(m.sample.copy.bytes, &a.head + 1, STACK);
	/* Without callers: where it was. */
	assert_true(timer_decode((const uint8_t *)&a, sizeof(a), false, &m));
	assert_false(m.sample.copied);
	assert_int_equal(m.sample.nuser, 1);
	assert_int_equal(m.sample.user[0], 0x1010);
	for (size_t n = 0; n < sizeof(a); n += 8)
		assert_false(decoded(&a, n, &m));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		a.head.stack_bytes = sizes[i];
		assert_false(decoded(&a, sizeof(a), &m));
	}
}

static void nobody_has_such_numbers(void **state)
{
	static const uint32_t bad[] = { 0, TIMER_PID_MAX + 1, INT32_MAX,
					UINT32_MAX };
	struct timer_fork f = { .r = { sizeof(f), TIMER_FORK, 0, 1, 10, 10 } };
	struct timer_message m;

	(void)state;
	assert_true(decoded(&f, sizeof(f), &m));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		union sample a = sample_of(1), b = sample_of(1);

		a.head.r.pid = bad[i];
		b.head.r.tid = bad[i];
		assert_false(decoded(&a, sizeof(a), &m));
		assert_false(decoded(&b, sizeof(b), &m));
		/* The parent of what comes from elsewhere is 0. */
		f.ppid = bad[i];
		assert_int_equal(decoded(&f, sizeof(f), &m), !bad[i]);
	}
}

static void texts_end_within_their_record(void **state)
{
	union text t = text_of(TIMER_EXEC, 10, "/bin/sh");
	struct timer_start s = {
		.r = { sizeof(s), TIMER_START, 0, 1, 10, 10 }, .ppid = 1,
	};
	struct timer_message m;

	(void)state;
	assert_true(decoded(&t, sizeof(t), &m));
	assert_int_equal(m.n, 7);
	assert_memory_equal(m.text, "/bin/sh", 7);
	t.head.n = 64;
	assert_true(decoded(&t, sizeof(t), &m));
	t.head.n = 65;
	assert_false(decoded(&t, sizeof(t), &m));
	t.head.n = UINT32_MAX;
	assert_false(decoded(&t, sizeof(t), &m));
	assert_false(decoded(&t, sizeof(t.head) - 8, &m));
	/* A name without an end. */
	memset(s.comm, 'x', sizeof(s.comm));
	assert_true(decoded(&s, sizeof(s), &m));
	assert_int_equal(m.n, sizeof(s.comm));
	assert_false(decoded(&s, sizeof(s) - 8, &m));
}

static void kinds_are_known_or_refused(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind <= UINT16_MAX; kind++) {
		struct timer_record r = { sizeof(r), (uint16_t)kind, 0, 1, 10,
					  10 };
		struct timer_message m;

		/* Those that have nothing behind. */
		assert_int_equal(decoded(&r, sizeof(r), &m),
				 kind == TIMER_EXIT || kind == TIMER_LOAD ||
				 kind == TIMER_EXEC_FAILED);
	}
}

struct counted {
	size_t n[RECORD_GAP + 1];
	uint64_t user_ns, kernel_ns, unknown_ns, ip;	/* of samples */
};

static int count_records(void *ctx, const struct record *r, struct error *err)
{
	struct counted *c = ctx;

	(void)err;
	c->n[r->kind]++;
	if (r->kind != RECORD_SAMPLE)
		return 0;
	if (r->sample.place) {
		assert_string_equal(r->sample.place, PLACE_BEFORE_FIRST);
		c->unknown_ns += r->sample.weight;
		return 0;
	}
	*(r->sample.in_kernel ? &c->kernel_ns : &c->user_ns) +=
		r->sample.weight;
	if (!r->sample.copied)
		c->ip = r->sample.user[0];
	return 0;
}

static void tell(struct timer_sideband *n, enum timer_kind kind, uint32_t pid,
		 const char *s)
{
	union text t = text_of(kind, pid, s);
	struct timer_message m;

	assert_true(decoded(&t, sizeof(t), &m));
	assert_int_equal(timer_sideband_message(n, &m, pid), 0);
}

static void what_never_begins_is_named(void **state)
{
	struct counted c = { .ip = 0 };
	struct timer_sideband n;

	(void)state;
	timer_sideband_init(&n, "/nonexistent");
	n.cb = count_records;
	n.ctx = &c;
	tell(&n, TIMER_EXEC, 10, "/usr/bin/static");
	tell(&n, TIMER_EXEC, 11, "fails");
	tell(&n, TIMER_EXEC_FAILED, 11, "");
	tell(&n, TIMER_OUTSIDE_SPAWN, 12, "a/spawned");
	assert_int_equal(timer_sideband_end(&n, 1u << 30), 0);
	assert_int_equal(n.outside.n, 2);
	assert_string_equal(n.outside.v[0].name, "spawned");
	assert_string_equal(n.outside.v[1].name, "static");
	timer_sideband_fini(&n);
}

/* A program that took 2.5 ms at unknown places, then one that took 30, a third of it in the
 * kernel, then two with impossible times. */
static void what_a_start_takes_is_shown(void **state)
{
	static const struct {
		uint32_t before, after, user, sys;
		uint64_t begin_ns, end_ns, user_ns, kernel_ns, unknown_ns;
	} cases[] = {
		{ 1000, 3500, 0, 4000, 1000000, 9000000, 0, 0, 2500000 },
		{ UINT32_MAX - 9999, 20000, 40000, 20000, 1000000, 90000000,
		  20000000, 10000000, 0 },
		{ 1000, 3500, 0, 4000, 1000000, 2000000, 0, 0, 0 },
		{ 3500, 1000, 0, 4000, 1000000, 9000000, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timer_start s = {
			.r = { sizeof(s), TIMER_START, 0, 1, 10, 10 },
			.ppid = 1, .comm = "a", .entry = 0x7000,
			.cpu_us = cases[i].after, .user_us = cases[i].user,
			.sys_us = cases[i].sys,
		};
		union text exec = text_of(TIMER_EXEC, 10, "a");
		struct counted c = { .ip = 0 };
		struct timer_message m;
		struct timer_sideband n;

		timer_sideband_init(&n, "/nonexistent");
		n.cb = count_records;
		n.ctx = &c;
		exec.head.cpu_us = cases[i].before;
		assert_true(decoded(&exec, sizeof(exec), &m));
		timer_sideband_message(&n, &m, cases[i].begin_ns);
		assert_true(decoded(&s, sizeof(s), &m));
		timer_sideband_message(&n, &m, cases[i].end_ns);
		assert_int_equal(c.n[RECORD_SAMPLE], 0);
		/* With the mappings, and only once. */
		tell(&n, TIMER_MAPS, 10, "");
		tell(&n, TIMER_MAPS, 10, "");
		assert_int_equal(c.user_ns, cases[i].user_ns);
		assert_int_equal(c.kernel_ns, cases[i].kernel_ns);
		assert_int_equal(c.unknown_ns, cases[i].unknown_ns);
		assert_int_equal(c.ip, c.user_ns ? 0x7000 : 0);
		assert_int_equal(n.weight,
				 c.user_ns + c.kernel_ns + c.unknown_ns);
		timer_sideband_fini(&n);
	}
}

static void floods_cost_no_memory(void **state)
{
	enum { FLOOD = 20000 };
	struct counted c = { .ip = 0 };
	struct timer_sideband n;
	char name[32];

	(void)state;
	timer_sideband_init(&n, "/nonexistent");
	n.cb = count_records;
	n.ctx = &c;
	for (uint32_t i = 1; i <= FLOOD; i++) {
		snprintf(name, sizeof(name), "program%u", i);
		tell(&n, TIMER_EXEC, i, name);
		tell(&n, TIMER_LOAD, i, "");
	}
	assert_in_range(n.execs.n, 1, TIMER_EXECS_MAX);
	assert_in_range(n.loads.n, 1, TIMER_LOADS_MAX);
	assert_int_equal(timer_sideband_loads(&n, 1), 0);
	assert_int_equal(timer_sideband_end(&n, UINT64_MAX), 0);
	assert_in_range(n.outside.n, 1, 16);
	/* The first that never began is among them. */
	assert_string_equal(n.outside.v[0].name, "program1");
	timer_sideband_fini(&n);
}

/* An open source and the memory that its programs would have. */
struct live {
	struct source *s;
	struct timer_header *header;
	struct timer_ring *rings;
	uint8_t *data;
	size_t size;
	struct counted seen;
};

static bool live_open(struct live *l)
{
	struct event_spec clock = {
		.text = "cpu-clock", .type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct event_list events = { &clock, 1, 1 };
	struct source_options o = {
		.events = &events, .freq = 100, .launched = true,
		.callchain = true,
	};
	struct source_target target = { .cgroup_fd = -1 };
	struct error err = { 0 };
	struct stat st;
	int pid, memory, library;

	memset(l, 0, sizeof(*l));
	if (!timer_library().size)
		return false;
	assert_int_equal(timer_source_type.open(&target, &o, &l->s, &err), 0);
	assert_int_equal(sscanf(l->s->env[1], TIMER_VARIABLE "=%d:%d:%d", &pid,
				&memory, &library), 3);
	assert_int_equal(pid, getpid());
	assert_int_equal(fstat(memory, &st), 0);
	l->size = (size_t)st.st_size;
	l->header = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 memory, 0);
	assert_true(l->header != MAP_FAILED);
	/* Programs cannot take it from under the recorder. */
	assert_int_equal(ftruncate(memory, 0), -1);
	assert_int_equal(ftruncate(memory, st.st_size * 2), -1);
	l->rings = (struct timer_ring *)((uint8_t *)l->header + TIMER_PAGE);
	l->data = (uint8_t *)l->header + 2 * TIMER_PAGE;
	return true;
}

static void live_drain(struct live *l, bool all)
{
	struct error err = { 0 };

	assert_int_equal(l->s->ops->drain(l->s, all, count_records, &l->seen,
					  &err), 0);
}

static void live_close(struct live *l)
{
	munmap(l->header, l->size);
	l->s->ops->close(l->s);
}

static void a_program_writes_and_is_read(void **state)
{
	union sample a = sample_of(1);
	struct source_count count;
	struct error err = { 0 };
	struct live l;

	(void)state;
	if (!live_open(&l))
		skip_test("built without the timer source");
	/* The timer expired four times at 100 Hz until the thread could take it. */
	a.head.weight = 40000000;
	memcpy(l.data, &a, sizeof(a));
	l.rings[0].head = sizeof(a);
	l.header->lost = 5;
	l.header->lost_sideband = 2;
	l.header->unsampled = 3;
	live_drain(&l, true);
	assert_int_equal(l.seen.n[RECORD_SAMPLE], 1);
	assert_int_equal(l.seen.n[RECORD_GAP], 1);
	assert_int_equal(l.rings[0].tail, sizeof(a));
	assert_int_equal(l.s->damaged, 0);
	assert_int_equal(l.s->unsampled, 3);
	assert_int_equal(l.s->ops->count(l.s, 0, &count, count_records,
					 &l.seen, &err), 0);
	assert_int_equal(l.seen.n[RECORD_LOST], 1);
	assert_int_equal(count.value, 40000000);
	assert_int_equal(count.wanted, 4 + 5);
	live_close(&l);
}

/* Tails in the memory are the program's words: the recorder has its own. */
static void a_program_changes_ring_positions(void **state)
{
	union sample a = sample_of(1);
	struct live l;

	(void)state;
	if (!live_open(&l))
		skip_test("built without the timer source");
	memcpy(l.data, &a, sizeof(a));
	l.rings[0].head = sizeof(a);
	live_drain(&l, false);
	l.rings[0].tail = 0;
	l.header->nrings = UINT32_MAX;
	l.header->ring_bytes = 0;
	l.header->magic = 0;
	live_drain(&l, false);
	live_drain(&l, true);
	assert_int_equal(l.seen.n[RECORD_SAMPLE], 1);
	assert_int_equal(l.s->damaged, 0);
	live_close(&l);
}

static void a_program_scribbles_over_all(void **state)
{
	uint64_t x = 88172645463325252ull;
	struct live l;

	(void)state;
	if (!live_open(&l))
		skip_test("built without the timer source");
	for (int round = 0; round < 8; round++) {
		uint64_t *words = (uint64_t *)l.header;

		for (size_t i = 0; i < l.size / 8; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			words[i] = round & 1 ? x & 0xff000000ffull : x;
		}
		live_drain(&l, round == 7);
	}
	/* No more was read than there is, of which nothing was a record. */
	assert_in_range(l.s->damaged, 1, 8 * (uint64_t)l.size);
	assert_int_equal(l.seen.n[RECORD_SAMPLE], 0);
	live_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_go_around_the_end),
		cmocka_unit_test(damage_ends_a_round),
		cmocka_unit_test(positions_may_be_nonsense),
		cmocka_unit_test(samples_must_add_up),
		cmocka_unit_test(nobody_has_such_numbers),
		cmocka_unit_test(texts_end_within_their_record),
		cmocka_unit_test(kinds_are_known_or_refused),
		cmocka_unit_test(what_never_begins_is_named),
		cmocka_unit_test(what_a_start_takes_is_shown),
		cmocka_unit_test(floods_cost_no_memory),
		cmocka_unit_test(a_program_writes_and_is_read),
		cmocka_unit_test(a_program_changes_ring_positions),
		cmocka_unit_test(a_program_scribbles_over_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
