// SPDX-License-Identifier: GPL-2.0-or-later
/* Valid and invalid records of the kernel module; and
 * what becomes of events. */
#include "../checks.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "record/kmod/kmod_events.h"
#include "record/kmod/kmod_ring.h"

enum { RING = 4096 };

/* As a source has one or two events; and two with waits. */
static const struct kmod_numbers one = { 1, SOURCE_NONE, SOURCE_NONE },
				 two = { 2, SOURCE_NONE, SOURCE_NONE },
				 waits = { 2, 2, 3 };

enum { IPS = 6, HEAD = sizeof(struct tally_sample) / 8 };

union sample {
	struct tally_sample head;
	uint64_t words[HEAD + IPS];
};

static union sample sample_of(uint64_t time)
{
	static const uint64_t ips[IPS] = {
		0xffffffff81000010, 0xffffffff81000020, 0x401000, 0x401100,
		0x401200, 0x401300,
	};
	union sample s = {
		.head = {
			.r = { TALLY_RECORD_SAMPLE, 1, sizeof(s), time },
			.pid = 10, .tid = 11, .cpu = 3,
			.nkernel = 2, .nuser = 4, .weight = 1001001,
		},
	};

	memcpy(s.words + HEAD, ips, sizeof(ips));
	return s;
}

/* At a position that counts for ever, around the end. */
static void put(uint8_t *ring, uint64_t at, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ring[(at + i) % RING] = ((const uint8_t *)p)[i];
}

struct seen {
	struct record r[8];
	uint64_t first_ip[8];
	size_t n, refused;
};

static int see(void *ctx, uint64_t time, const uint8_t *bytes, size_t size)
{
	struct seen *s = ctx;
	struct record *r = &s->r[s->n];

	if (!kmod_decode(bytes, size, &two, NULL, r)) {
		s->refused++;
		return 0;
	}
	r->time_ns = time;
	if (r->kind == RECORD_SAMPLE)
		s->first_ip[s->n] = r->sample.nkernel ? r->sample.kernel[0]
						      : r->sample.user[0];
	s->n++;
	return 0;
}

static void records_go_around_the_end(void **state)
{
	static uint8_t ring[RING];
	union sample a = sample_of(100), b = sample_of(200);
	struct tally_record t = { TALLY_RECORD_THROTTLE, 0, sizeof(t), 300 };
	/* Far from 0, and 40 bytes before the end. */
	uint64_t tail = (1ull << 40) + RING - 40, head = tail, damaged = 0;
	struct seen seen = { .n = 0 };
	struct order o;

	(void)state;
	put(ring, head, &a, sizeof(a));
	head += sizeof(a);
	put(ring, head, &b, sizeof(b));
	head += sizeof(b);
	put(ring, head, &t, sizeof(t));
	head += sizeof(t);
	assert_int_equal(order_init(&o, 1), 0);
	assert_int_equal(kmod_ring_take(ring, RING, tail, head, &o, 0, 250,
					&damaged), head);
	assert_int_equal(damaged, 0);
	assert_int_equal(order_flush(&o, UINT64_MAX, see, &seen), 0);
	assert_int_equal(seen.n, 3);
	assert_int_equal(seen.r[0].kind, RECORD_SAMPLE);
	assert_int_equal(seen.r[0].time_ns, 100);
	assert_int_equal(seen.r[0].pid, 10);
	assert_int_equal(seen.r[0].tid, 11);
	assert_int_equal(seen.r[0].cpu, 3);
	assert_int_equal(seen.r[0].event, 1);
	assert_int_equal(seen.r[0].sample.weight, 1001001);
	assert_int_equal(seen.r[0].sample.nkernel, 2);
	assert_int_equal(seen.r[0].sample.nuser, 4);
	assert_int_equal(seen.first_ip[0], 0xffffffff81000010);
	assert_int_equal(seen.r[2].kind, RECORD_THROTTLE);
	/* Nothing comes from the future. */
	assert_int_equal(seen.r[2].time_ns, 250);
	order_fini(&o);
}

static void damage_ends_a_round(void **state)
{
	static const uint16_t sizes[] = { 0, 8, 15, 17, 97, 4096, 65535 };

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
		assert_int_equal(kmod_ring_take(ring, RING, 0, sizeof(a), &o,
						0, 250, &damaged), sizeof(a));
		assert_int_equal(damaged, sizeof(a));
		order_flush(&o, UINT64_MAX, see, &seen);
		assert_int_equal(seen.n, 0);
		order_fini(&o);
	}
}

static void positions_may_be_nonsense(void **state)
{
	static uint8_t ring[RING];
	uint64_t damaged = 0;
	struct order o;

	(void)state;
	assert_int_equal(order_init(&o, 1), 0);
	assert_int_equal(kmod_ring_take(ring, RING, 8, 0, &o, 0, 1, &damaged),
			 0);
	assert_int_equal(kmod_ring_take(ring, RING, 0, RING + 8, &o, 0, 1,
					&damaged), RING + 8);
	assert_int_equal(kmod_ring_take(ring, RING, UINT64_MAX - 7, 7, &o, 0,
					1, &damaged), 7);
	assert_int_equal(order_waiting(&o), 0);
	order_fini(&o);
}

static void samples_must_add_up(void **state)
{
	union sample a = sample_of(1);
	struct record r;

	(void)state;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, NULL, &r));
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a), &one, NULL, &r));
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a) - 8, &two, NULL, &r));
	assert_false(kmod_decode((const uint8_t *)&a, 16, &two, NULL, &r));
	assert_false(kmod_decode((const uint8_t *)&a, 8, &two, NULL, &r));
	a.head.nuser = 65535;
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a), &two, NULL, &r));
	a.head.nkernel = a.head.nuser = 0;
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a.head), &two, NULL, &r));
	a = sample_of(1);
	a.head.r.type = PERF_RECORD_SAMPLE;
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a), &two, NULL, &r));
}

/* A stack that has number 7 on processor 3, then samples that refer to it. */
static void stacks_come_once(void **state)
{
	union sample a = sample_of(1), b = sample_of(2);
	struct kmod_stacks stacks;
	struct record r;

	(void)state;
	assert_int_equal(kmod_stacks_init(&stacks, 4), 0);
	a.head.stack = b.head.stack = 7;
	b.head.flags = TALLY_SAMPLE_AGAIN;
	b.head.r.size = sizeof(b.head);
	/* Before it came it is not known, nor is it without a place for it. */
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				 &r));
	assert_int_equal(stacks.missing, 1);
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, &stacks, &r));
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, NULL,
				 &r));
	assert_true(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				&r));
	assert_int_equal(r.sample.nkernel, 2);
	assert_memory_equal(r.sample.kernel, a.words + HEAD, IPS * 8);
	assert_ptr_equal(r.sample.user, r.sample.kernel + 2);
	/* Another processor's, another length, another number in its place. */
	b.head.cpu = 2;
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				 &r));
	b.head.cpu = 4;
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				 &r));
	b.head.cpu = 3;
	b.head.nuser = 5;
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				 &r));
	b.head.nuser = 4;
	a.head.stack = 7 + TALLY_STACKS_KEPT;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, &stacks, &r));
	assert_false(kmod_decode((const uint8_t *)&b, sizeof(b.head), &two, &stacks,
				 &r));
	kmod_stacks_fini(&stacks);
}

/* Unwound by the module: the space's number stands behind the addresses. */
static void unwound_stacks_name_their_space(void **state)
{
	union sample a = sample_of(1);
	struct kmod_stacks stacks;
	struct record r;

	(void)state;
	assert_int_equal(kmod_stacks_init(&stacks, 4), 0);
	a.head.flags = TALLY_SAMPLE_UNWOUND;
	a.head.nuser = 3;
	a.words[HEAD + 5] = 12;
	a.head.stack = 1;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, &stacks, &r));
	assert_true(r.sample.walked);
	assert_false(r.sample.copied);
	assert_int_equal(r.sample.space, 12);
	assert_int_equal(r.sample.end.mark, 0);
	assert_int_equal(r.sample.user[2], 0x401200);
	a.head.flags |= TALLY_SAMPLE_AGAIN;
	a.head.r.size = sizeof(a.head) + 8;
	a.words[HEAD] = 13;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a.head) + 8, &two,
				&stacks, &r));
	assert_true(r.sample.walked);
	assert_int_equal(r.sample.space, 13);
	assert_int_equal(r.sample.user[2], 0x401200);
	/* Without that number, and with a copy, too. */
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a.head), &two, &stacks,
				 &r));
	a.head.flags |= TALLY_SAMPLE_COPY;
	assert_false(kmod_decode((const uint8_t *)&a, sizeof(a.head) + 8, &two,
				 &stacks, &r));
	kmod_stacks_fini(&stacks);
}

static struct tally_count counted(uint32_t tid, uint64_t first, uint64_t last)
{
	return (struct tally_count){
		.r = { TALLY_RECORD_COUNT, 1, sizeof(struct tally_count), last },
		.pid = 10, .tid = tid, .cpu = 3, .nkernel = 2, .nuser = 4,
		.flags = TALLY_SAMPLE_UNWOUND | TALLY_SAMPLE_AGAIN, .stack = 7,
		.weight = 3000, .first = first, .n = 3, .generation = 12,
	};
}

static bool decoded_count(const struct tally_count *t, struct kmod_stacks *s,
			  struct record *r)
{
	return kmod_decode((const uint8_t *)t, sizeof(*t), &two, s, r);
}

/* Samples that were added up, of a stack that has number 7 on processor 3. */
static void samples_that_were_added_up(void **state)
{
	union sample a = sample_of(1);
	struct tally_count t = counted(11, 2, 5), bad;
	struct kmod_stacks stacks;
	struct record r;

	(void)state;
	assert_int_equal(kmod_stacks_init(&stacks, 4), 0);
	/* Its addresses are not there yet. */
	assert_false(decoded_count(&t, &stacks, &r));
	assert_int_equal(stacks.missing, 1);
	assert_false(decoded_count(&t, NULL, &r));
	a.head.stack = 7;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, &stacks, &r));
	assert_int_equal(r.sample.count, 0);
	assert_true(decoded_count(&t, &stacks, &r));
	assert_int_equal(r.kind, RECORD_SAMPLE);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.cpu, 3);
	assert_int_equal(r.event, 1);
	assert_int_equal(r.sample.weight, 3000);
	assert_int_equal(r.sample.count, 3);
	assert_int_equal(r.sample.first_ns, 2);
	assert_int_equal(r.sample.taken_ns, 5);
	assert_int_equal(r.sample.nkernel, 2);
	assert_int_equal(r.sample.nuser, 4);
	assert_memory_equal(r.sample.kernel, a.words + HEAD, IPS * 8);
	assert_ptr_equal(r.sample.user, r.sample.kernel + 2);
	assert_true(r.sample.walked);
	assert_false(r.sample.copied);
	assert_int_equal(r.sample.space, 12);

	/* None; too many; an end before the beginning; another stack, event, length,
	 * processor; a user side without mappings, or a part of one; no side. */
	for (unsigned int i = 0; i < 10; i++) {
		size_t n = sizeof(bad);

		bad = t;
		switch (i) {
		case 0: bad.n = 0; break;
		case 1: bad.n = TALLY_COUNT_SAMPLES + 1; break;
		case 2: bad.first = 6; break;
		case 3: bad.stack = 8; break;
		case 4: bad.r.event = 2; break;
		case 5: n -= 8; break;
		case 6: bad.cpu = 4; break;
		case 7: bad.flags = 0; break;
		case 8: bad.flags |= TALLY_SAMPLE_CUT; break;
		default: bad.flags = bad.nkernel = bad.nuser = 0;
		}
		assert_false(kmod_decode((const uint8_t *)&bad, n, &two, &stacks,
					 &r));
	}
	/* The most there can be; the kernel's part alone, of a stack of its own. */
	t.n = TALLY_COUNT_SAMPLES;
	assert_true(decoded_count(&t, &stacks, &r));
	a.head.stack = 9;
	a.head.nkernel = IPS;
	a.head.nuser = 0;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &two, &stacks, &r));
	t.stack = 9;
	t.nkernel = IPS;
	t.nuser = 0;
	t.flags = TALLY_SAMPLE_AGAIN;
	assert_true(decoded_count(&t, &stacks, &r));
	assert_false(r.sample.walked);
	assert_int_equal(r.sample.nuser, 0);
	kmod_stacks_fini(&stacks);
}

struct ordered {
	struct kmod_stacks stacks;
	uint64_t time[8];
	uint32_t tid[8], count[8];
	size_t n, refused;
};

static int see_ordered(void *ctx, uint64_t time, const uint8_t *p, size_t n)
{
	struct ordered *s = ctx;
	struct record r;

	if (!kmod_decode(p, n, &two, &s->stacks, &r)) {
		s->refused++;
		return 0;
	}
	s->time[s->n] = time;
	s->tid[s->n] = r.tid;
	s->count[s->n++] = r.sample.count;
	return 0;
}

/* The module gives them in no order.  The sample with their stack, in another stream,
 * comes before them, and nothing comes from the future. */
static void counts_come_in_order_of_time(void **state)
{
	struct tally_count t[] = {
		counted(30, 21, 30), counted(10, 5, 10), counted(99, 20, 99),
		counted(20, 1, 20),
	};
	static const uint32_t tids[] = { 11, 10, 20, 30, 99 };
	static const uint64_t times[] = { 4, 10, 20, 30, 50 };
	static uint8_t ring[RING];
	union sample a = sample_of(4);
	struct ordered got = { .n = 0 };
	uint64_t damaged = 0;
	struct order o;

	(void)state;
	a.head.stack = 7;
	put(ring, 0, &a, sizeof(a));
	assert_int_equal(kmod_stacks_init(&got.stacks, 4), 0);
	assert_int_equal(order_init(&o, 2), 0);
	assert_int_equal(kmod_counts_take(t, 4, &o, 1, 50), 0);
	assert_int_equal(kmod_ring_take(ring, RING, 0, sizeof(a), &o, 0, 50,
					&damaged), sizeof(a));
	assert_int_equal(order_flush(&o, 20, see_ordered, &got), 0);
	assert_int_equal(got.n, 3);
	assert_int_equal(order_flush(&o, UINT64_MAX, see_ordered, &got), 0);
	assert_int_equal(got.n, 5);
	assert_int_equal(got.refused, 0);
	assert_int_equal(damaged, 0);
	assert_memory_equal(got.tid, tids, sizeof(tids));
	assert_memory_equal(got.time, times, sizeof(times));
	assert_int_equal(got.count[0], 0);
	assert_int_equal(got.count[4], 3);
	kmod_stacks_fini(&got.stacks);
	order_fini(&o);
}

static bool decoded_wait(const void *p, size_t n, struct kmod_stacks *s,
			 struct record *r)
{
	struct record none;

	/* Those who record no waits know nothing of them. */
	assert_false(kmod_decode(p, n, &two, s, &none));
	return kmod_decode(p, n, &waits, s, r);
}

static void switches_and_wakes(void **state)
{
	struct tally_switch t = {
		.r = { TALLY_RECORD_SWITCH, TALLY_EVENT_BLOCKED, sizeof(t), 7 },
		.pid = 10, .tid = 11, .cpu = 3, .flags = TALLY_SWITCH_OUT,
	};
	struct tally_wake w = {
		.r = { TALLY_RECORD_WAKE, TALLY_EVENT_WAKING, sizeof(w), 8 },
		.pid = 10, .tid = 12, .cpu = 2, .woken = 11,
	};
	struct tally_gap g = {
		.r = { TALLY_RECORD_GAP, TALLY_EVENT_BLOCKED, sizeof(g), 9 },
		.lost = 5,
	};
	struct record r;

	(void)state;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_int_equal(r.kind, RECORD_SWITCH);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.cpu, 3);
	assert_true(r.change.out);
	assert_false(r.change.preempted);
	t.flags |= TALLY_SWITCH_PREEMPTED;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_true(r.change.out && r.change.preempted);
	assert_false(r.change.stopped || r.change.has_call);
	t.flags = TALLY_SWITCH_OUT | TALLY_SWITCH_CALL | 202 << 16;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_true(r.change.has_call && !r.change.stopped);
	assert_int_equal(r.change.call, 202);
	t.flags = TALLY_SWITCH_OUT | TALLY_SWITCH_CALL | 0xffff0000;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_int_equal(r.change.call, -1);
	t.flags = TALLY_SWITCH_OUT | TALLY_SWITCH_STOPPED;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_true(r.change.stopped && !r.change.has_call);
	/* Who gets a processor is not preempted. */
	t.flags = TALLY_SWITCH_PREEMPTED;
	assert_true(decoded_wait(&t, sizeof(t), NULL, &r));
	assert_false(r.change.out || r.change.preempted);
	assert_false(decoded_wait(&t, sizeof(t) - 8, NULL, &r));
	t.r.event = 0;
	assert_false(decoded_wait(&t, sizeof(t), NULL, &r));

	assert_true(decoded_wait(&w, sizeof(w), NULL, &r));
	assert_int_equal(r.kind, RECORD_WAKE);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 12);
	assert_int_equal(r.cpu, 2);
	assert_int_equal(r.wake.tid, 11);
	assert_false(r.wake.interrupt);
	w.flags = TALLY_WAKE_INTERRUPT;
	assert_true(decoded_wait(&w, sizeof(w), NULL, &r));
	assert_true(r.wake.interrupt);
	assert_false(decoded_wait(&w, sizeof(w) - 8, NULL, &r));

	assert_true(decoded_wait(&g, sizeof(g), NULL, &r));
	assert_int_equal(r.kind, RECORD_SWITCH_GAP);
	assert_int_equal(r.lost, 5);
	assert_false(decoded_wait(&g, sizeof(g.r), NULL, &r));
}

/* Stacks of waits have numbers of their own. */
static void stacks_of_waits(void **state)
{
	union sample a = sample_of(1), b = sample_of(2), kernel = sample_of(3);
	struct kmod_stacks stacks;
	struct record r;

	(void)state;
	assert_int_equal(kmod_stacks_init(&stacks, 4), 0);
	a.head.stack = b.head.stack = 7;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a), &waits, &stacks,
				&r));
	assert_int_equal(r.event, 1);
	assert_int_equal(r.sample.woken, 0);
	/* Number 7 of the other ring of this processor. */
	b.head.r.event = TALLY_EVENT_BLOCKED;
	b.head.nkernel = 0;
	b.head.nuser = IPS;
	b.head.weight = 0;
	assert_true(decoded_wait(&b, sizeof(b), &stacks, &r));
	assert_int_equal(r.kind, RECORD_SAMPLE);
	assert_int_equal(r.event, 2);
	assert_int_equal(r.sample.nuser, IPS);
	assert_false(r.sample.outside_calls);
	b.head.flags = TALLY_SAMPLE_AGAIN | TALLY_SAMPLE_OUTSIDE;
	b.head.r.size = sizeof(b.head);
	b.head.r.event = TALLY_EVENT_WAKING;
	b.head.weight = 12;
	assert_true(decoded_wait(&b, sizeof(b.head), &stacks, &r));
	assert_int_equal(r.event, 3);
	assert_int_equal(r.sample.woken, 12);
	assert_int_equal(r.sample.weight, 0);
	assert_int_equal(r.sample.nuser, IPS);
	assert_int_equal(r.sample.user[0], 0xffffffff81000010);
	assert_true(r.sample.outside_calls);
	a.head.flags = TALLY_SAMPLE_AGAIN;
	assert_true(kmod_decode((const uint8_t *)&a, sizeof(a.head), &waits,
				&stacks, &r));
	assert_int_equal(r.sample.nkernel, 2);
	b.head.cpu = 4;
	assert_false(decoded_wait(&b, sizeof(b.head), &stacks, &r));
	/* A thread without a user side. */
	kernel.head.r.event = TALLY_EVENT_BLOCKED;
	kernel.head.nkernel = 1;
	kernel.head.nuser = 0;
	assert_true(decoded_wait(&kernel, sizeof(kernel.head) + 8, NULL, &r));
	assert_int_equal(r.sample.nuser, 0);
	assert_false(r.sample.copied);
	kmod_stacks_fini(&stacks);
}

static const struct tally_info timers = {
	.sources = 1u << TALLY_TIMER, .max_rate = 20000,
};
static const struct tally_info k8 = {
	.sources = 1u << TALLY_TIMER | 1u << TALLY_PMU_K8, .max_rate = 20000,
	.counters = 4,
};

static const struct tally_info k8_of_today = {
	.sources = 1u << TALLY_TIMER | 1u << TALLY_PMU_K8, .max_rate = 20000,
	.counters = 4, .abi_minor = TALLY_ABI_MINOR,
};

/* A machine whose kernel counts no cycles, and another. */
static const struct kmod_machine virtual = { 0 };
static const struct kmod_machine real = { .has_cycles = true };

static int become(const struct tally_info *info, struct event_spec *specs,
		  size_t n, bool by_default, uint64_t freq,
		  struct tally_setup *setup, struct source_event *seen)
{
	struct event_list l = { specs, n, n };
	struct source_options o = {
		.events = &l, .default_event = by_default, .freq = freq,
	};
	struct error err = { 0 };
	int r;

	memset(setup, 0, sizeof(*setup));
	memset(seen, 0, TALLY_EVENTS_MAX * sizeof(*seen));
	for (size_t i = 0; i < n; i++)
		specs[i].exclude_guest = true;
	r = kmod_events(info, &virtual, &o, setup, seen, &err);
	assert_true(r == 0 || *err.msg);
	return r;
}

/* A sample with nothing of the kernel, its registers and 20 bytes of stack. */
enum { STACK = 24, STACK_USED = 20, COPY = sizeof(struct tally_copy) / 8 };

union copied {
	struct tally_sample head;
	uint64_t words[HEAD + COPY + STACK / 8];
};

static struct tally_copy *copy_of(union copied *s)
{
	return (struct tally_copy *)(void *)(s->words + HEAD);
}

static union copied copied_sample(void)
{
	union copied s = { .words = { 0 } };
	struct tally_copy *copy = copy_of(&s);

	s.head.r = (struct tally_record){ TALLY_RECORD_SAMPLE, 1, sizeof(s),
					  100 };
	s.head.pid = 10;
	s.head.tid = 11;
	s.head.cpu = 3;
	s.head.flags = TALLY_SAMPLE_USER | TALLY_SAMPLE_COPY;
	s.head.weight = 1001001;
	copy->bytes = STACK_USED;
	copy->flags = TALLY_COPY_ALL;
	copy->known = 0x1ffff;
	for (unsigned int i = 0; i < TALLY_COPY_REGS; i++)
		copy->regs[i] = 0x1000 + i;
	for (unsigned int i = 0; i < STACK_USED; i++)
		copy->stack[i] = (uint8_t)i;
	return s;
}

static bool decoded(const union copied *s, struct record *r)
{
	return kmod_decode((const uint8_t *)s, s->head.r.size, &two, NULL, r);
}

static void copies_are_handed_on(void **state)
{
	union copied s = copied_sample();
	struct tally_copy *copy = copy_of(&s);
	const struct record_copy *c;
	struct record r;

	(void)state;
	assert_true(decoded(&s, &r));
	c = &r.sample.copy;
	assert_true(r.sample.copied);
	assert_int_equal(c->regs.known, 0x1ffff);
	/* Figure 3.36 of the psABI: 7 is rsp, 3 rbx, 16 the return address. */
	assert_int_equal(c->regs.r[UNWIND_RSP], 0x1007);
	assert_int_equal(c->regs.r[UNWIND_RBX], 0x1003);
	assert_int_equal(c->regs.r[UNWIND_RIP], 0x1010);
	assert_int_equal(c->size, STACK_USED);
	assert_memory_equal(c->bytes, copy->stack, STACK_USED);
	assert_true(c->all);
	assert_false(c->is32);
	/* Where it was is known without a walk. */
	assert_int_equal(r.sample.nuser, 1);
	assert_int_equal(r.sample.user[0], 0x1010);
	/* An i386 program, whose copy was too short. */
	copy->flags = TALLY_COPY_32;
	copy->known = 0x100ff;
	assert_true(decoded(&s, &r));
	assert_true(c->is32);
	assert_false(c->all);
	assert_int_equal(c->regs.known, 0x100ff);
}

static void copies_must_fit(void **state)
{
	static const uint32_t sizes[] = { 0, 8, 16, 25, 4096, UINT32_MAX - 7,
					  UINT32_MAX };
	union copied s = copied_sample();
	struct tally_copy *copy = copy_of(&s);
	struct record r;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		copy->bytes = sizes[i];
		assert_false(decoded(&s, &r));
	}
	s = copied_sample();
	s.head.nkernel = 22;	/* up to the end, and beyond */
	assert_false(decoded(&s, &r));
	s.head.nkernel = UINT16_MAX;
	assert_false(decoded(&s, &r));
	s = copied_sample();
	s.head.r.size = sizeof(s.head) + 8;
	assert_false(decoded(&s, &r));
	/* Registers without a place or a stack are none. */
	s = copied_sample();
	copy->known = 0xff;
	assert_true(decoded(&s, &r));
	assert_int_equal(r.sample.copy.regs.known, 0);
	copy->known = UINT32_MAX;
	assert_true(decoded(&s, &r));
	assert_int_equal(r.sample.copy.regs.known, 0x1ffff);
}

static void the_default_is_a_clock_without_counters(void **state)
{
	struct event_spec cycles = {
		.text = "cycles", .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
	};
	struct event_spec instructions = {
		.text = "instructions", .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct source_event seen[TALLY_EVENTS_MAX];
	struct tally_setup s;

	(void)state;
	assert_int_equal(become(&timers, &cycles, 1, true, 999, &s, seen), 0);
	assert_int_equal(s.source, TALLY_TIMER);
	assert_int_equal(s.nevents, 1);
	assert_string_equal(seen[0].actual, "cpu-clock");
	assert_true(*seen[0].why);
	assert_true(seen[0].is_time);
	assert_int_equal(seen[0].period, 1001001);
	/* Also asked for by name; other counters are an error. */
	assert_int_equal(become(&timers, &cycles, 1, false, 999, &s, seen), 0);
	assert_string_equal(seen[0].actual, "cpu-clock");
	assert_true(*seen[0].why);
	assert_int_equal(become(&timers, &instructions, 1, false, 999, &s,
				seen), -ERR_UNSUPPORTED);
	/* Where there are counters it is what it says: 76h on K8. */
	assert_int_equal(become(&k8, &cycles, 1, true, 999, &s, seen), 0);
	assert_int_equal(s.source, TALLY_PMU_K8);
	assert_int_equal(s.events[0].event, 0x76);
	assert_int_equal(s.events[0].freq, 999);
	assert_int_equal(s.events[0].allowed, 0xf);
}

static void rates_stay_below_the_ceiling(void **state)
{
	struct event_spec clocks[2] = {
		{ .text = "cpu-clock:u", .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_kernel = true },
		{ .text = "cpu-clock:k", .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK, .exclude_user = true },
	};
	struct source_event seen[TALLY_EVENTS_MAX];
	struct tally_setup s;

	(void)state;
	assert_int_equal(become(&timers, clocks, 2, false, 15000, &s, seen), 0);
	assert_int_equal(seen[0].freq, 10000);
	assert_true(*seen[0].note);
	assert_int_equal(s.events[0].flags, TALLY_EVENT_USER);
	assert_int_equal(s.events[1].flags, TALLY_EVENT_KERNEL);
	assert_int_equal(s.events[1].period, 100000);
}

/* The ceiling is 20,000 samples a second: 50,000 ns; timers of at most an hour. */
static void periods_of_clocks_are_checked(void **state)
{
	static const struct {
		uint64_t period;
		int r;
	} cases[] = {
		{ 49990, -ERR_USAGE }, { 50000, 0 }, { 1, -ERR_USAGE },
		{ 3600000000000, 0 }, { 3600000000001, -ERR_USAGE },
	};
	struct source_event seen[TALLY_EVENTS_MAX];
	struct tally_setup s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec clock = {
			.text = "cpu-clock", .type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.period = cases[i].period,
		};

		assert_int_equal(become(&timers, &clock, 1, false, 999, &s,
					seen), cases[i].r);
	}
}

static void counters_and_timers_do_not_mix(void **state)
{
	struct event_spec both[2] = {
		{ .text = "cpu-clock", .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK },
		{ .text = "k8-dc-miss", .type = PERF_TYPE_RAW, .config = 0x41 },
	};
	struct source_event seen[TALLY_EVENTS_MAX];
	struct tally_setup s;

	(void)state;
	assert_int_equal(become(&k8, both, 2, false, 999, &s, seen),
			 -ERR_UNSUPPORTED);
	assert_int_equal(become(&k8, both + 1, 1, false, 999, &s, seen), 0);
	/* A raw event of perf in its fields: edge 18, inv 23, cmask 24. */
	both[1].config = 0x02840341;
	assert_int_equal(become(&k8, both + 1, 1, false, 999, &s, seen), 0);
	assert_int_equal(s.events[0].event, 0x41);
	assert_int_equal(s.events[0].umask, 0x03);
	assert_int_equal(s.events[0].cmask, 2);
	assert_int_equal(s.events[0].flags, TALLY_EVENT_USER |
			 TALLY_EVENT_KERNEL | TALLY_EVENT_EDGE |
			 TALLY_EVENT_INV);
}

/* The kernel's own events: what neither timers nor our counters have, and sets of
 * several kinds. */
static void the_kernel_has_the_rest(void **state)
{
	static const struct tally_info with_perf = {
		.sources = 1u << TALLY_TIMER | 1u << TALLY_PERF,
		.max_rate = 20000,
	};
	struct event_spec e[2] = {
		{ .text = "page-faults", .type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_PAGE_FAULTS, .period = 3 },
		{ .text = "cycles:u", .type = PERF_TYPE_HARDWARE,
		  .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = true },
	};
	struct event_list l = { e + 1, 1, 1 };
	struct source_options o = { .events = &l, .freq = 999 };
	struct source_event seen[TALLY_EVENTS_MAX] = { 0 };
	struct tally_setup s = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(become(&with_perf, e, 1, false, 999, &s, seen), 0);
	assert_int_equal(s.source, TALLY_PERF);
	assert_int_equal(s.perf[0].type, PERF_TYPE_SOFTWARE);
	assert_int_equal(s.perf[0].config, PERF_COUNT_SW_PAGE_FAULTS);
	assert_int_equal(s.events[0].period, 3);
	assert_int_equal(s.events[0].freq, 0);
	assert_false(seen[0].is_time);
	/* Cycles that the kernel does not count become its clock beside others,
	 * and a timer alone. */
	assert_int_equal(become(&with_perf, e, 2, false, 999, &s, seen), 0);
	assert_int_equal(s.source, TALLY_PERF);
	assert_int_equal(s.perf[1].type, PERF_TYPE_SOFTWARE);
	assert_int_equal(s.perf[1].config, PERF_COUNT_SW_CPU_CLOCK);
	assert_int_equal(s.events[1].flags, TALLY_EVENT_USER);
	assert_int_equal(s.events[1].period, 1001002);
	assert_string_equal(seen[1].actual, "cpu-clock:u");
	assert_int_equal(become(&with_perf, e + 1, 1, false, 999, &s, seen), 0);
	assert_int_equal(s.source, TALLY_TIMER);
	/* Those that it counts. */
	memset(&s, 0, sizeof(s));
	assert_int_equal(kmod_events(&with_perf, &real, &o, &s, seen, &err), 0);
	assert_int_equal(s.source, TALLY_PERF);
	assert_int_equal(s.perf[0].type, PERF_TYPE_HARDWARE);
	assert_int_equal(s.events[0].freq, 999);
	/* What no source of the module has. */
	e[0].type = PERF_TYPE_TRACEPOINT;
	assert_int_equal(become(&with_perf, e, 1, false, 999, &s, seen),
			 -ERR_UNSUPPORTED);
}

/* What the kernel would refuse as "Invalid argument" is explained before: SDM 3B
 * §18.22 and its table of events (MUL 12h and DIV 13h count on counter 1), periods
 * of at most 2^31, BKDG §10.2 (a counter mask of at most 3). */
static void refusals_are_explained(void **state)
{
	static const struct tally_info p6 = {
		.sources = 1u << TALLY_TIMER | 1u << TALLY_PMU_P6,
		.max_rate = 20000, .counters = 2,
	};
	static const struct {
		const struct tally_info *info;
		const char *text[2];
		uint64_t config[2], period;
		const char *says;	/* NULL: it is fine */
	} cases[] = {
		{ &p6, { "MUL", "DIV" }, { 0x12, 0x13 }, 1000,
		  "\"MUL\" and \"DIV\" both count on counter 1 only" },
		{ &p6, { "MUL" }, { 0x12 }, 1000, NULL },
		{ &p6, { "MUL" }, { 0x12 }, 99, "minimum" },
		{ &p6, { "MUL" }, { 0x12 }, 100, NULL },
		{ &p6, { "MUL" }, { 0x12 }, 1ull << 31, NULL },
		{ &p6, { "MUL" }, { 0x12 }, (1ull << 31) + 1, "at most 2^31" },
		{ &k8, { "r76" }, { 0x76 }, 1ull << 47, NULL },
		{ &k8, { "pc" }, { 0x80076 }, 1000, "too old" },
		{ &k8_of_today, { "pc" }, { 0x80076 }, 1000, NULL },
		{ &k8_of_today, { "r1000000c4" }, { 0x1000000c4 }, 1000,
		  "8 bits" },
		{ &k8, { "r76" }, { 0x76 }, (1ull << 47) + 1, "at most 2^47" },
		{ &k8, { "r4000076" }, { 0x4000076 }, 1000, "mask" },
		{ &k8, { "r800076" }, { 0x800076 }, 1000, "cmask" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec specs[2] = { 0 };
		struct event_list l = { specs, 1, 2 };
		struct source_options o = {
			.events = &l, .period = cases[i].period,
		};
		struct source_event seen[TALLY_EVENTS_MAX] = { 0 };
		struct tally_setup setup = { 0 };
		struct error err = { 0 };
		int r;

		for (size_t k = 0; k < 2 && cases[i].text[k]; k++) {
			l.n = k + 1;
			snprintf(specs[k].text, sizeof(specs[k].text), "%s",
				 cases[i].text[k]);
			specs[k].type = PERF_TYPE_RAW;
			specs[k].config = cases[i].config[k];
			specs[k].exclude_guest = true;
		}
		r = kmod_events(cases[i].info, &virtual, &o, &setup, seen,
				&err);
		assert_int_equal(setup.events[0].flags & TALLY_EVENT_PC,
				 cases[i].config[0] & 1 << 19 ? TALLY_EVENT_PC
							      : 0);
		if (!cases[i].says) {
			assert_int_equal(r, 0);
			continue;
		}
		assert_true(r == -ERR_USAGE || r == -ERR_UNSUPPORTED);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].says, err.msg);
	}
}

static void says(const char *event, bool any, const char *text,
		 const char *want)
{
	if (any != !!want || (want && !strstr(text, want)))
		fail_msg("%s: \"%s\", wanted %s", event, text,
			 want ? want : "nothing");
}

/* The kernel's driver drops pin control (x86_pmu_hw_config) and, on P6, bits 8 to 11
 * of a code.  What the interface of the module cannot say, it cannot sample. */
static void nothing_is_dropped_without_a_word(void **state)
{
	enum { CLOCK = 1, OWN = 2 };
	static const struct {
		unsigned int where;	/* beside a clock, with our own
					 * counters */
		struct event_spec e;
		const char *error, *note;	/* what they say */
	} cases[] = {
		{ CLOCK | OWN, { .text = "pc", .config = 0x80076 }, "(pc)",
		  NULL },
		{ 0, { .text = "pc", .config = 0x80076 }, "(pc)", NULL },
		{ CLOCK | OWN, { .text = "c", .config = 0x1000000c4 },
		  "8 bits", NULL },
		{ CLOCK | OWN, { .text = "c", .config = 0x4000076 }, "mask",
		  NULL },
		{ CLOCK | OWN, { .text = "c", .config = 0x800076 }, "cmask",
		  NULL },
		{ CLOCK | OWN, { .text = "c", .config = 0x2840376 }, NULL, NULL },
		{ 0, { .text = "c", .config = 0x1000000c4 }, NULL, NULL },
		{ 0, { .text = "c:pp", .precise = 2 }, "(:p)", NULL },
		{ OWN, { .text = "c:pp", .precise = 2 }, "(:p)", NULL },
		{ 0, { .text = "c:P", .max_precise = true }, NULL, NULL },
		{ 0, { .text = "page-faults:p", .type = PERF_TYPE_SOFTWARE,
		       .config = PERF_COUNT_SW_PAGE_FAULTS, .precise = 1 },
		  NULL, "precision" },
		{ 0, { .text = "cpu-clock:p", .type = PERF_TYPE_SOFTWARE,
		       .precise = 1 }, NULL, "precision" },
		{ 0, { .text = "c:D", .pinned = true }, "(:D)", NULL },
		{ OWN, { .text = "c:D", .pinned = true }, NULL, NULL },
		{ 0, { .text = "{c}", .group = 1 }, NULL, "group" },
		{ OWN, { .text = "{c}", .group = 1 }, NULL, NULL },
	};
	const struct event_spec clock = {
		.text = "cpu-clock", .type = PERF_TYPE_SOFTWARE,
		.exclude_guest = true,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int where = cases[i].where;
		const struct tally_info info = {
			.sources = 1u << TALLY_TIMER | 1u << TALLY_PERF |
				   (where & OWN ? 1u << TALLY_PMU_K8 : 0),
			.max_rate = 20000, .abi_minor = TALLY_ABI_MINOR,
		};
		const struct kmod_machine m = { .has_cycles = true };
		struct event_spec specs[2] = { cases[i].e, clock };
		struct event_list l = { specs, 1 + (where & CLOCK), 2 };
		struct source_options o = { .events = &l, .period = 1000000 };
		struct source_event seen[TALLY_EVENTS_MAX] = { 0 };
		struct tally_setup setup = { 0 };
		struct error err = { 0 };
		int r;

		specs[0].exclude_guest = true;
		if (!specs[0].type)
			specs[0].type = PERF_TYPE_RAW;
		r = kmod_events(&info, &m, &o, &setup, seen, &err);
		says(cases[i].e.text, r < 0, err.msg, cases[i].error);
		says(cases[i].e.text, *seen[0].note, seen[0].note,
		     cases[i].note);
		/* Guests alone, and beside the host. */
		specs[0].exclude_guest = false;
		r = kmod_events(&info, &m, &o, &setup, seen, &err);
		assert_true(r < 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_go_around_the_end),
		cmocka_unit_test(damage_ends_a_round),
		cmocka_unit_test(positions_may_be_nonsense),
		cmocka_unit_test(samples_must_add_up),
		cmocka_unit_test(stacks_come_once),
		cmocka_unit_test(unwound_stacks_name_their_space),
		cmocka_unit_test(samples_that_were_added_up),
		cmocka_unit_test(counts_come_in_order_of_time),
		cmocka_unit_test(switches_and_wakes),
		cmocka_unit_test(stacks_of_waits),
		cmocka_unit_test(copies_are_handed_on),
		cmocka_unit_test(copies_must_fit),
		cmocka_unit_test(refusals_are_explained),
		cmocka_unit_test(the_default_is_a_clock_without_counters),
		cmocka_unit_test(rates_stay_below_the_ceiling),
		cmocka_unit_test(counters_and_timers_do_not_mix),
		cmocka_unit_test(periods_of_clocks_are_checked),
		cmocka_unit_test(the_kernel_has_the_rest),
		cmocka_unit_test(nothing_is_dropped_without_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
