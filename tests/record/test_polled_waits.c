// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits from what /proc says of threads at some moments. */
#include "../checks.h"

#include "record/waits/polled_waits.h"

enum { PID = 7, TID = 8, ROOM = 32, NO_POLL = 0 };

struct seen {
	struct wait w[ROOM];
	size_t n;
};

static int see(void *ctx, const struct wait *w, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_in_range(s->n, 0, ROOM - 1);
	assert_int_equal(w->pid, PID);
	assert_true(w->start_ns < w->end_ns);
	s->w[s->n++] = *w;
	return 0;
}

static struct polled_waits begin(struct seen *s)
{
	s->n = 0;
	return (struct polled_waits){ .cb = see, .ctx = s };
}

static struct polled_thread *thread(struct polled_waits *w)
{
	struct error err;
	struct polled_thread *t = polled_waits_thread(w, PID, TID, &err);

	assert_non_null(t);
	return t;
}

/* Asleep at a stack. */
static void asleep(struct polled_waits *w, uint64_t time, uint64_t ran,
		   uint64_t queued, uint64_t turns, uint32_t stack)
{
	const struct wait_poll p = { time, ran, queued, turns, true,
				     stack != NO_POLL, stack, stack,
				     (wait_kind)(stack + 2), stack + 1 };
	struct error err;

	assert_int_equal(polled_waits_poll(w, thread(w), &p, &err), 0);
}

static void awake(struct polled_waits *w, uint64_t time, uint64_t ran)
{
	const struct wait_poll p = { .time_ns = time, .ran_ns = ran };
	struct error err;

	assert_int_equal(polled_waits_poll(w, thread(w), &p, &err), 0);
}

static void end(struct polled_waits *w)
{
	struct error err;

	assert_int_equal(polled_waits_end(w, thread(w), &err), 0);
	polled_waits_fini(w);
}

static void assert_wait(const struct wait *w, uint64_t length, bool runnable,
			uint32_t stack)
{
	assert_int_equal(w->end_ns - w->start_ns, length);
	assert_int_equal(w->runnable, runnable);
	assert_int_equal(w->found, stack ? WAIT_POLLED : WAIT_NO_STACK);
	if (stack)
		assert_int_equal(w->stack, stack);
	if (stack)
		assert_int_equal(w->task, stack + 1);
	/* In the queue it waits for nothing else. */
	assert_int_equal(w->kind, stack && !runnable ? stack + 2 : 0);
}

static void a_thread_that_does_not_run_is_in_one_wait(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 50, 5, 3, 1);
	asleep(&w, 200, 50, 5, 3, NO_POLL);
	asleep(&w, 300, 50, 5, 3, NO_POLL);
	assert_int_equal(s.n, 0);
	end(&w);
	assert_int_equal(s.n, 1);
	assert_wait(&s.w[0], 200, false, 1);
}

/* That a tracer stopped it for a part may be known only when it ends. */
static void a_stop_that_is_told_late_is_no_wait(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 50, 5, 3, 1);
	asleep(&w, 300, 50, 5, 3, NO_POLL);
	polled_waits_halted(thread(&w), 30);
	end(&w);
	assert_int_equal(s.n, 1);
	assert_wait(&s.w[0], 170, false, 1);
}

static void another_process_with_the_number_has_waits_of_its_own(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);
	struct polled_thread *t;
	struct error err;

	(void)state;
	asleep(&w, 100, 50, 5, 3, 1);
	asleep(&w, 300, 50, 5, 3, NO_POLL);
	t = polled_waits_thread(&w, PID + 1, TID, &err);
	assert_non_null(t);
	assert_int_equal(t->pid, PID + 1);
	assert_int_equal(t->open_ns, 0);
	assert_int_equal(s.n, 1);	/* of PID: see */
	assert_wait(&s.w[0], 200, false, 1);
	polled_waits_fini(&w);
}

static void a_poll_covers_the_time_since_the_last_one(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	asleep(&w, 200, 0, 0, 1, NO_POLL);
	/* It ran for 10 and was queued for 20 of the 100. */
	asleep(&w, 300, 10, 20, 2, 2);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 100, false, 1);
	assert_wait(&s.w[1], 20, true, 1);
	/* It was last asleep there at 200. */
	assert_int_equal(s.w[0].end_ns, 200);
	assert_int_equal(s.w[1].end_ns, 300);
	end(&w);
	assert_int_equal(s.n, 3);
	assert_wait(&s.w[2], 70, false, 2);
}

static void the_queues_of_several_turns_have_no_stack(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	asleep(&w, 200, 10, 20, 3, 2);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 20, true, 0);
	assert_wait(&s.w[1], 70, false, 2);
}

static void time_stopped_for_a_sample_is_no_wait(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	/* Of 100 it ran for 30 and stood still for 50. */
	polled_waits_halted(thread(&w), 50);
	asleep(&w, 200, 30, 0, 2, 2);
	/* This comes too late for them. */
	polled_waits_halted(thread(&w), 5);
	asleep(&w, 300, 30, 0, 3, 3);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 20, false, 2);
	assert_wait(&s.w[1], 95, false, 3);
}

/* Found awake three times, asleep once; it ran for half of the time. */
static void run_half_of_400(struct polled_waits *w)
{
	asleep(w, 100, 0, 0, 1, 1);
	awake(w, 200, 50);
	awake(w, 300, 100);
	awake(w, 400, 150);
}

static void stolen_time_is_no_wait(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	run_half_of_400(&w);
	polled_waits_stolen(&w, 5000);
	asleep(&w, 500, 200, 0, 2, 2);
	end(&w);
	assert_int_equal(s.n, 1);
	assert_wait(&s.w[0], 100, false, 2);
}

static void no_more_is_the_hosts_than_it_took(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	/* Before its beginning. */
	polled_waits_stolen(&w, 5000);
	run_half_of_400(&w);
	polled_waits_stolen(&w, 5030);
	polled_waits_stolen(&w, 0);	/* it could not be read */
	asleep(&w, 500, 200, 0, 2, 2);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 100, false, 2);
	assert_wait(&s.w[1], 70, false, 0);
}

static void no_time_is_stolen_from_sleepers(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	polled_waits_stolen(&w, 5000);
	asleep(&w, 200, 10, 0, 2, 1);
	asleep(&w, 300, 20, 0, 3, 1);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 90, false, 1);
	assert_wait(&s.w[1], 90, false, 1);
}

static void time_without_a_poll_has_no_stack(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	/* Of four moments it was awake at three, and blocked half of the time. */
	awake(&w, 200, 50);
	awake(&w, 300, 100);
	awake(&w, 400, 150);
	asleep(&w, 500, 200, 0, 9, 2);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 100, false, 2);
	assert_wait(&s.w[1], 100, false, 0);
}

static void excess_blocked_time_is_subtracted(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	/* It is in a queue already, which is counted when it runs. */
	asleep(&w, 200, 0, 0, 1, NO_POLL);
	asleep(&w, 250, 0, 90, 2, 2);
	asleep(&w, 350, 0, 90, 2, NO_POLL);
	end(&w);
	assert_int_equal(s.n, 3);
	assert_wait(&s.w[0], 100, false, 1);
	assert_wait(&s.w[1], 90, true, 1);
	/* In all 160 of 250. */
	assert_wait(&s.w[2], 60, false, 2);
}

/* What is too much at the end is subtracted from time without a stack. */
static void excess_blocked_time_is_subtracted_at_the_end(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	awake(&w, 700, 200);
	asleep(&w, 800, 200, 0, 2, 2);
	/* It has been in a queue for 80 of this already. */
	asleep(&w, 900, 200, 0, 2, NO_POLL);
	asleep(&w, 950, 200, 130, 3, 3);
	end(&w);
	assert_int_equal(s.n, 4);
	assert_wait(&s.w[0], 200, false, 2);
	assert_wait(&s.w[1], 130, true, 2);
	assert_wait(&s.w[2], 50, false, 3);
	/* In all 520 of 850. */
	assert_wait(&s.w[3], 270, false, 0);
}

static void a_new_thread_counts_from_its_beginning(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	polled_waits_begin(&w, thread(&w), 100);
	asleep(&w, 200, 10, 5, 1, 1);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 5, true, 0);
	assert_wait(&s.w[1], 85, false, 1);
}

static void a_number_that_is_used_again_is_another_thread(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 1000, 5, 9, 1);
	asleep(&w, 150, 1000, 5, 9, NO_POLL);
	asleep(&w, 200, 10, 0, 2, 2);
	asleep(&w, 300, 10, 0, 2, NO_POLL);
	end(&w);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 50, false, 1);
	assert_wait(&s.w[1], 100, false, 2);
}

/* Each total alone shows that the number is another thread's. */
static void any_total_that_decreases_is_another_threads(void **state)
{
	static const struct {
		uint64_t ran, queued, turns;
	} later[] = { { 999, 5, 9 }, { 1000, 4, 9 }, { 1000, 5, 8 } };

	(void)state;
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct seen s;
		struct polled_waits w = begin(&s);

		asleep(&w, 100, 1000, 5, 9, 1);
		asleep(&w, 150, 1000, 5, 9, NO_POLL);
		asleep(&w, 200, later[i].ran, later[i].queued, later[i].turns, 2);
		assert_int_equal(s.n, 1);
		assert_wait(&s.w[0], 50, false, 1);
		asleep(&w, 300, later[i].ran, later[i].queued, later[i].turns,
		       NO_POLL);
		end(&w);
		assert_int_equal(s.n, 2);
		assert_wait(&s.w[1], 100, false, 2);
	}
}

/* A thread that was stopped, slept, and was blocked without a poll. */
static void another_thread_inherits_no_time(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);

	(void)state;
	asleep(&w, 100, 1000, 0, 9, 1);
	polled_waits_halted(thread(&w), 50);
	awake(&w, 400, 1050);
	asleep(&w, 500, 1100, 0, 12, 2);
	/* The next one, of which the host takes time. */
	asleep(&w, 600, 0, 0, 1, 3);
	assert_int_equal(s.n, 2);
	assert_wait(&s.w[0], 100, false, 2);
	assert_wait(&s.w[1], 150, false, 0);
	polled_waits_stolen(&w, 5000);
	awake(&w, 700, 50);
	asleep(&w, 800, 60, 0, 2, 4);
	end(&w);
	assert_int_equal(s.n, 3);
	assert_wait(&s.w[2], 100, false, 4);
}

static void an_ended_thread_is_forgotten(void **state)
{
	struct seen s;
	struct polled_waits w = begin(&s);
	struct error err;

	(void)state;
	asleep(&w, 100, 0, 0, 1, 1);
	assert_int_equal(polled_waits_end(&w, thread(&w), &err), 0);
	assert_null(polled_waits_find(&w, TID));
	asleep(&w, 500, 0, 0, 1, 2);
	asleep(&w, 600, 0, 0, 1, NO_POLL);
	end(&w);
	assert_int_equal(s.n, 1);
	assert_wait(&s.w[0], 100, false, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_does_not_run_is_in_one_wait),
		cmocka_unit_test(a_stop_that_is_told_late_is_no_wait),
		cmocka_unit_test(another_process_with_the_number_has_waits_of_its_own),
		cmocka_unit_test(a_poll_covers_the_time_since_the_last_one),
		cmocka_unit_test(the_queues_of_several_turns_have_no_stack),
		cmocka_unit_test(time_stopped_for_a_sample_is_no_wait),
		cmocka_unit_test(stolen_time_is_no_wait),
		cmocka_unit_test(no_more_is_the_hosts_than_it_took),
		cmocka_unit_test(no_time_is_stolen_from_sleepers),
		cmocka_unit_test(time_without_a_poll_has_no_stack),
		cmocka_unit_test(excess_blocked_time_is_subtracted),
		cmocka_unit_test(excess_blocked_time_is_subtracted_at_the_end),
		cmocka_unit_test(a_new_thread_counts_from_its_beginning),
		cmocka_unit_test(a_number_that_is_used_again_is_another_thread),
		cmocka_unit_test(any_total_that_decreases_is_another_threads),
		cmocka_unit_test(another_thread_inherits_no_time),
		cmocka_unit_test(an_ended_thread_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
