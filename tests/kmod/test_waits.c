// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of waits: the module's own waits.c and ring.c on the fake kernel, and what a
 * program can learn from their ring.
 */
#include "../checks.h"

#include "fake_kernel.h"
#include "../../kmod/tally.h"
#include "fake_samples.h"

enum { RING = 4096 };

/* ---- the fake kernel, and parts of the module that are not under test ---- */

unsigned int fake_cpu;
bool fake_interrupt;
/* A thread that is recorded, and another one. */
static struct task_struct our = { .tid = 21, .mm = &our },
			  other = { .tid = 22, .mm = &our };
struct task_struct *fake_current = &other;
static u64 now;
static bool exhausted;		/* handlers have used their time */
static struct session recording;
static struct cpu_state state;

void fake_check(bool fine, const char *what)
{
	if (!fine)
		fail_msg("%s", what);
}
u64 ktime_get_mono_fast_ns(void)
{
	return now += 1000;
}
bool tasks_has(struct session *session, struct task_struct *t)
{
	(void)session;
	return t == &our;
}
bool cgroup_has(struct session *session, struct task_struct *t)
{
	return tasks_has(session, t);
}
bool sample_exhausted(const struct cpu_state *c, u32 parts, u32 of)
{
	(void)c;
	(void)parts;
	(void)of;
	return exhausted;
}

/* ---- what a ring says ---- */

/* The records of a ring, in order: how many of each type, and the last one. */
struct ring_read {
	u64 at;			/* position */
	u32 n[8];		/* by the last digit of the type */
	union {
		struct tally_record r;
		struct tally_switch change;
		struct tally_wake wake;
		struct tally_sample sample;
		struct tally_gap gap;
		u64 words[16];
	} of;			/* the last record */
};

static void next_record(struct ring_read *k, const struct cpu_state *c)
{
	u8 *to = (u8 *)&k->of;
	u32 size = sizeof(k->of.r);

	for (u32 i = 0; i < size; i++) {
		to[i] = c->data[(k->at + i) & (c->size - 1)];
		if (i + 1 == sizeof(k->of.r))
			size = k->of.r.size;
		assert_true(size <= sizeof(k->of));
	}
	k->at += size;
	k->n[k->of.r.type & 7]++;
}

/* A recording that has begun. */
static struct cpu_state *waits_begin(void)
{
	static struct cpu_state *cpus[NR_CPUS];
	static const struct source source = { .by_kernel = false };
	static struct tally_ring page;
	static u8 data[RING];

	memset(&page, 0, sizeof(page));
	state = (struct cpu_state){
		.s = &recording, .running = true, .ring = &page, .data = data,
		.size = RING, .reserve = RING / 4, .watermark = RING / 4,
	};
	cpus[0] = &state;
	recording = (struct session){
		.source = &source, .waits = cpus,
		.setup.flags = TALLY_SETUP_WAITS | TALLY_SETUP_WAKES |
			       TALLY_SETUP_TASKS,
	};
	fake_current = &our;
	return &state;
}

/* What records say: a thread that blocks, one that is preempted, one that ends, one that
 * gets the processor; who wakes it. */
static void records_of_waits(void **unused)
{
	struct cpu_state *c = waits_begin();
	struct ring_read k = { .at = 0 };
	u64 time;

	(void)unused;
	waits_switched(&recording, &our, &other, 1);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SAMPLE);
	assert_int_equal(k.of.r.event, TALLY_EVENT_BLOCKED);
	assert_int_equal(k.of.sample.tid, our.tid);
	assert_int_equal(k.of.sample.weight, 0);
	time = k.of.r.time;
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SWITCH);
	assert_int_equal(k.of.r.time, time);
	assert_int_equal(k.of.change.tid, our.tid);
	assert_int_equal(k.of.change.flags, TALLY_SWITCH_OUT);
	assert_int_equal(k.at, c->head);

	/* By another thread, and by an interrupt in it. */
	fake_current = &other;
	waits_woken(&recording, &our);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_WAKE);
	assert_int_equal(k.of.wake.tid, other.tid);
	assert_int_equal(k.of.wake.woken, our.tid);
	assert_int_equal(k.of.wake.flags, 0);
	fake_interrupt = true;
	waits_woken(&recording, &our);
	fake_interrupt = false;
	next_record(&k, c);
	assert_int_equal(k.of.wake.flags, TALLY_WAKE_INTERRUPT);
	waits_woken(&recording, &other);
	waits_switched(&recording, &other, &our, 1);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SWITCH);
	assert_int_equal(k.of.change.flags, 0);
	assert_int_equal(k.at, c->head);

	/* By a thread that is recorded: with its stack. */
	fake_current = &our;
	waits_woken(&recording, &our);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SAMPLE);
	assert_int_equal(k.of.r.event, TALLY_EVENT_WAKING);
	assert_int_equal(k.of.sample.weight, our.tid);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_WAKE);
	our.on_rq = true;
	waits_switched(&recording, &our, &other, 1);
	our.on_rq = false;
	next_record(&k, c);
	next_record(&k, c);
	assert_int_equal(k.of.change.flags,
			 TALLY_SWITCH_OUT | TALLY_SWITCH_PREEMPTED);
	fake_call = -1;
	waits_switched(&recording, &our, &other, 1);
	next_record(&k, c);
	next_record(&k, c);
	assert_int_equal(k.of.change.flags, TALLY_SWITCH_OUT | TALLY_SWITCH_CALL |
			 0xffff0000);
	fake_call = 202;
	waits_switched(&recording, &our, &other, 1);
	next_record(&k, c);
	next_record(&k, c);
	assert_int_equal(k.of.change.flags, TALLY_SWITCH_OUT | TALLY_SWITCH_CALL |
			 202 << 16);
	waits_switched(&recording, &our, &other, __TASK_STOPPED);
	fake_call = -2;
	next_record(&k, c);
	next_record(&k, c);
	assert_int_equal(k.of.change.flags, TALLY_SWITCH_OUT | TALLY_SWITCH_STOPPED);
	waits_switched(&recording, &our, &other, TASK_DEAD);
	assert_int_equal(k.at, c->head);
	fake_current = &other;
	waits_switched(&recording, &other, &other, 1);
	assert_int_equal(k.at, c->head);
	/* Without time for stacks there are switches. */
	exhausted = true;
	fake_current = &our;
	waits_switched(&recording, &our, &other, 1);
	exhausted = false;
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SWITCH);
	assert_int_equal(k.at, c->head);
	assert_int_equal(c->waits.stacks, 6);
	assert_int_equal(c->waits.stacks_lost, 1);
	assert_int_equal(c->waits.switches, 7);
	assert_int_equal(c->waits.wakes, 3);
}

/* The times of all switches and wakes, and how many of them the records read so far
 * account for. */
enum { TRIES = 100000 };
static u64 tries[TRIES];
static size_t accounted;

/* Reads a record, before which no other one may be missing without a gap. */
static void account_next(struct ring_read *k, const struct cpu_state *c)
{
	next_record(k, c);
	switch (k->of.r.type) {
	case TALLY_RECORD_SAMPLE:
		return;
	case TALLY_RECORD_GAP:
		assert_true(k->of.gap.lost);
		accounted += k->of.gap.lost;
		return;
	default:
		assert_true(accounted < TRIES);
		assert_int_equal(k->of.r.time, tries[accounted]);
		accounted++;
	}
}

/* A ring that is full at times: what came and what is lost are all there was, each loss
 * stands where it was, and stacks are lost before switches. */
static void a_full_ring_says_what_it_lost(void **unused)
{
	struct cpu_state *c = waits_begin();
	const struct wait_counts *n = &c->waits;
	struct ring_read k = { .at = 0 };
	unsigned int seed = 1;
	u64 wakes = 0, stacks = 0;

	(void)unused;
	accounted = 0;
	for (size_t i = 0; i < TRIES; i++) {
		seed = seed * 1103515245 + 12345;
		if (seed >> 16 & 3) {
			fake_current = &our;
			waits_switched(&recording, &our, &other, 1);
			stacks++;
		} else {
			fake_current = &other;
			waits_woken(&recording, &our);
			wakes++;
		}
		tries[i] = now;
		/* The first loss is not one of a switch. */
		assert_true(n->stacks_lost || !n->switches_lost);
		if (seed >> 18 & 63)
			continue;
		/* The program takes all, or some. */
		for (u32 j = seed >> 24; j && k.at != c->head; j--)
			account_next(&k, c);
		c->ring->tail = k.at;
	}
	while (k.at != c->head)
		account_next(&k, c);
	assert_int_equal(accounted + c->missed, TRIES);
	assert_true(k.n[TALLY_RECORD_GAP & 7] > 100);
	assert_int_equal(k.n[TALLY_RECORD_SWITCH & 7], n->switches);
	assert_int_equal(k.n[TALLY_RECORD_WAKE & 7], n->wakes);
	assert_int_equal(k.n[TALLY_RECORD_SAMPLE & 7], n->stacks);
	assert_int_equal(n->switches + n->switches_lost, TRIES - wakes);
	assert_int_equal(n->wakes + n->wakes_lost, wakes);
	assert_int_equal(n->stacks + n->stacks_lost, stacks);
}

/* When stacks find no room, a quarter of the ring is left to switches. */
static void stacks_leave_room_for_switches(void **unused)
{
	enum { LEFT = RING / 4 / sizeof(struct tally_switch) };
	struct cpu_state *c = waits_begin();
	u64 before;

	(void)unused;
	while (!c->waits.stacks_lost)
		waits_switched(&recording, &our, &other, 1);
	before = c->waits.switches;
	while (!c->waits.switches_lost)
		waits_switched(&recording, &our, &other, 1);
	assert_in_range(c->waits.switches - before, LEFT - 2, LEFT + 2);
}

/* A gap that no loss made is told, too, also where the ring is full. */
static void an_interruption_is_told(void **unused)
{
	struct cpu_state *c = waits_begin();
	struct ring_read k = { .at = 0 };

	(void)unused;
	waits_interrupted(c);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_GAP);
	assert_int_equal(k.of.gap.lost, 0);
	/* And again before the next record. */
	waits_switched(&recording, &our, &other, 1);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_GAP);
	next_record(&k, c);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_SWITCH);
	assert_int_equal(k.at, c->head);
	/* A program that writes nonsense to its side makes the ring full. */
	c->ring->tail = c->head + 8;
	waits_switched(&recording, &our, &other, 1);
	waits_interrupted(c);
	assert_int_equal(k.at, c->head);
	assert_int_equal(c->waits.switches_lost, 1);
	c->ring->tail = c->head;
	waits_switched(&recording, &our, &other, 1);
	next_record(&k, c);
	assert_int_equal(k.of.r.type, TALLY_RECORD_GAP);
	assert_int_equal(k.of.gap.lost, 1);
}

/* Nothing is recorded of a CPU that does not run, of idle tasks, or before SETUP. */
static void others_have_no_records(void **unused)
{
	struct task_struct idle = { .tid = 0, .idle = true };
	struct cpu_state *c = waits_begin();

	(void)unused;
	recording.setup.flags = TALLY_SETUP_WAITS;
	fake_current = &idle;
	waits_switched(&recording, &idle, &idle, 0);
	waits_woken(&recording, &other);
	assert_int_equal(c->head, 0);
	fake_current = &other;
	c->running = false;
	waits_switched(&recording, &other, &our, 0);
	c->running = true;
	recording.source = NULL;
	waits_switched(&recording, &other, &our, 0);
	assert_int_equal(c->head, 0);
	fake_cpu = 1;
	waits_begin();
	waits_switched(&recording, &our, &our, 0);
	fake_cpu = 0;
	assert_int_equal(c->head, 0);
	/* All threads; those of a control group. */
	recording.setup.flags = TALLY_SETUP_WAITS;
	waits_switched(&recording, &other, &idle, 0);
	assert_int_equal(c->waits.switches, 1);
	recording.setup.flags = TALLY_SETUP_WAITS | TALLY_SETUP_CGROUP;
	waits_switched(&recording, &other, &our, 0);
	assert_int_equal(c->waits.switches, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_of_waits),
		cmocka_unit_test(a_full_ring_says_what_it_lost),
		cmocka_unit_test(stacks_leave_room_for_switches),
		cmocka_unit_test(an_interruption_is_told),
		cmocka_unit_test(others_have_no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
