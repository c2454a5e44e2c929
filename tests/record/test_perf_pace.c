// SPDX-License-Identifier: GPL-2.0-or-later
/* Windows in which waits are sampled: programs that switch at a steady rate. */
#include "../checks.h"

#include "base/clock.h"
#include "record/perf/perf_pace.h"

enum { MS = 1000000, ROUND_NS = 5 * MS };

struct result {
	uint64_t waits, sampled;	/* both a second */
	uint64_t windows;
	double cost;			/* share of the time */
	uint64_t shortest, longest;	/* pauses, in ns */
};

/* Lets a CPU have that many waits a second for `seconds` from *now on.  Each takes two
 * records of switches, and wakes another thread. */
static struct result run(struct perf_pace *w, uint64_t *now, uint64_t rate, int seconds)
{
	struct result r = { .shortest = UINT64_MAX };
	uint64_t end = *now + (uint64_t)seconds * SECOND, begun = 0, carry = 0;
	bool off = false;

	while (*now < end) {
		uint64_t n = (carry + rate * ROUND_NS) / SECOND;

		carry = (carry + rate * ROUND_NS) % SECOND;
		*now += ROUND_NS;
		w->taken = (struct perf_taken){
			.switches = 2 * n, .blocked = off ? 0 : n,
			.waking = off ? 0 : n,
		};
		r.waits += n;
		r.sampled += off ? 0 : n;
		if (perf_pace_cpu(w, *now) == off)
			continue;
		off = !off;
		if (off) {
			begun = *now;
			continue;
		}
		r.windows++;
		if (*now - begun < r.shortest)
			r.shortest = *now - begun;
		if (*now - begun > r.longest)
			r.longest = *now - begun;
	}
	r.cost = ((double)r.waits * 2 * PERF_SWITCH_NS +
		  (double)r.sampled * (PERF_BLOCKED_NS + PERF_WAKING_NS) +
		  (double)r.windows * PERF_WINDOW_NS) /
		 seconds / SECOND;
	r.waits /= (uint64_t)seconds;
	r.sampled /= (uint64_t)seconds;
	return r;
}

static void few_waits_are_all_sampled(void **state)
{
	struct perf_pace w = { .paid_ns = 0 };
	uint64_t now = SECOND;
	struct result r = run(&w, &now, 1000, 20);

	(void)state;
	assert_int_equal(r.sampled, r.waits);
}

static void more_waits_cost_two_percent(void **state)
{
	(void)state;
	for (uint64_t rate = 3000; rate <= 9000; rate += 3000) {
		struct perf_pace w = { .paid_ns = 0 };
		uint64_t now = SECOND;
		struct result r = run(&w, &now, rate, 20);

		assert_in_range((uint64_t)(r.cost * 10000), 170, 230);
		assert_true(r.sampled < r.waits);
		/* A program with a rhythm of its own is not always met at the same
		 * moment. */
		assert_true(r.longest > r.shortest);
	}
}

static void very_many_waits_keep_some_samples(void **state)
{
	struct perf_pace w = { .paid_ns = 0 };
	uint64_t now = SECOND;
	struct result r = run(&w, &now, 200000, 20);

	(void)state;
	/* Switches alone cost more than is permitted. */
	assert_true(r.longest <= PERF_PAUSE_MAX_NS + ROUND_NS);
	assert_true(r.windows >= 20 * 3 / 2);
	/* A window is one round. */
	assert_true(r.sampled * 20 <= (r.windows + 1) * 200000 * ROUND_NS / SECOND);
	assert_true(r.sampled <= r.waits / 20);
}

static void it_recovers(void **state)
{
	struct perf_pace w = { .paid_ns = 0 };
	uint64_t now = SECOND;
	struct result r;

	(void)state;
	run(&w, &now, 200000, 5);
	now += PERF_PAUSE_MAX_NS;
	w.taken = (struct perf_taken){ 0 };
	assert_false(perf_pace_cpu(&w, now));
	r = run(&w, &now, 1000, 5);
	assert_int_equal(r.sampled, r.waits);
}

/* Threads may wake others far more often than wakeups can be unwound. */
static void wakeups_on_all_cpus_are_limited(void **state)
{
	struct perf_pace w = { .paid_ns = 0 };
	uint64_t now = SECOND, sampled = 0;
	bool off = false;

	(void)state;
	for (int i = 0; i < 20 * 200; i++) {
		now += ROUND_NS;
		w.taken.waking = off ? 0 : 500;
		sampled += w.taken.waking;
		off = perf_pace_all(&w, now);
	}
	assert_in_range(sampled, 20 * 5000 - 1000, 20 * 5000 + 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_waits_are_all_sampled),
		cmocka_unit_test(more_waits_cost_two_percent),
		cmocka_unit_test(very_many_waits_keep_some_samples),
		cmocka_unit_test(it_recovers),
		cmocka_unit_test(wakeups_on_all_cpus_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
