// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits from switches: begin, end, losses, looks. */
#include "../checks.h"
#include <string.h>

#include "record/waits/waits.h"

enum { PID = 7, ROOM = 64 };

struct seen {
	struct wait w[ROOM];
	size_t n;
};

static int see(void *ctx, const struct wait *w, struct error *err)
{
	struct seen *s = ctx;

	(void)err;
	assert_in_range(s->n, 0, ROOM - 1);
	s->w[s->n++] = *w;
	return 0;
}

static struct waits begin(struct seen *s)
{
	struct waits w = { .cb = see, .ctx = s };
	struct error err;

	s->n = 0;
	waits_clear(&w);
	assert_int_equal(waits_toggle(&w, 100, true, &err), 0);
	return w;
}

static void turn(struct waits *w, const struct wait_switch *s)
{
	struct error err;

	assert_int_equal(waits_switch(w, s, &err), 0);
}

static void out(struct waits *w, uint32_t tid, uint64_t time, bool preempted)
{
	turn(w, &(struct wait_switch){ PID, tid, time, true, preempted, 0, 0 });
}

static void out_ran(struct waits *w, uint32_t tid, uint64_t time, uint64_t ran)
{
	turn(w, &(struct wait_switch){ PID, tid, time, true, false, ran, 0 });
}

static void in(struct waits *w, uint32_t tid, uint64_t time)
{
	turn(w, &(struct wait_switch){ PID, tid, time, false, false, 0, 0 });
}

static void sample(struct waits *w, uint32_t tid, uint32_t stack)
{
	struct wait_stack s = { .stack = stack, .loc = stack + 1 };
	struct error err;

	assert_int_equal(waits_sample(w, PID, tid, &s, &err), 0);
}

static void look(struct waits *w, uint32_t tid, uint64_t from, uint64_t to)
{
	const struct wait_stack s = { .stack = 5, .loc = 6, .task = 7,
				      .from_ns = from, .to_ns = to };

	waits_add_poll(waits_find(w, tid), &s);
}

static void end(struct waits *w, uint64_t time)
{
	struct error err;

	assert_int_equal(waits_end(w, time, &err), 0);
	waits_fini(w);
}

static void assert_wait(const struct seen *s, size_t i, uint32_t tid,
			uint64_t start, uint64_t stop, bool runnable,
			enum wait_found found)
{
	assert_true(i < s->n);
	assert_int_equal(s->w[i].pid, PID);
	assert_int_equal(s->w[i].tid, tid);
	assert_int_equal(s->w[i].start_ns, start);
	assert_int_equal(s->w[i].end_ns, stop);
	assert_int_equal(s->w[i].runnable, runnable);
	assert_int_equal(s->w[i].found, found);
}

static void each_wait_has_its_sample(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	sample(&w, 1, 10);
	out(&w, 1, 200, false);
	sample(&w, 2, 20);
	out(&w, 2, 250, true);
	in(&w, 1, 300);
	in(&w, 2, 320);
	/* This one's sample was lost: it does not get the one before. */
	out(&w, 1, 400, false);
	in(&w, 1, 450);
	assert_int_equal(s.n, 3);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_EXACT);
	assert_int_equal(s.w[0].stack, 10);
	assert_int_equal(s.w[0].loc, 11);
	assert_wait(&s, 1, 2, 250, 320, true, WAIT_EXACT);
	assert_int_equal(s.w[1].stack, 20);
	assert_wait(&s, 2, 1, 400, 450, false, WAIT_NO_STACK);
	end(&w, 500);
	assert_int_equal(s.n, 3);
}

static void look_for_kind(struct waits *w, uint32_t tid, uint64_t from,
			  uint64_t to, wait_kind kind)
{
	const struct wait_stack s = { .no_stack = true, .kind = kind,
				      .from_ns = from, .to_ns = to };

	waits_add_poll(waits_find(w, tid), &s);
}

static void a_kind_belongs_to_the_wait_of_its_poll(void **state)
{
	const struct waker by = { .pid = PID, .tid = 9 };
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	sample(&w, 1, 10);
	out(&w, 1, 200, false);
	assert_false(waits_has_kind(waits_find(&w, 1)));
	look_for_kind(&w, 1, 210, 220, WAIT_FOR_FUTEX);
	assert_true(waits_has_kind(waits_find(&w, 1)));
	assert_false(waits_has_poll(waits_find(&w, 1)));
	waits_wake(&w, 1, 290, &by);
	in(&w, 1, 300);
	/* What has no stack does not replace that of the switch, and the time that a
	 * woken thread waits for a processor is of no kind. */
	assert_wait(&s, 0, 1, 200, 290, false, WAIT_EXACT);
	assert_int_equal(s.w[0].kind, WAIT_FOR_FUTEX);
	assert_int_equal(s.w[0].stack, 10);
	assert_wait(&s, 1, 1, 290, 300, true, WAIT_EXACT);
	assert_int_equal(s.w[1].kind, 0);
	/* It ran during the poll. */
	out(&w, 1, 400, false);
	look_for_kind(&w, 1, 390, 410, WAIT_FOR_FUTEX);
	in(&w, 1, 450);
	assert_int_equal(s.w[2].kind, 0);
	/* Preempted threads wait for nothing. */
	out(&w, 1, 500, true);
	look_for_kind(&w, 1, 510, 520, WAIT_FOR_FUTEX);
	in(&w, 1, 550);
	assert_int_equal(s.w[3].kind, 0);
	assert_int_equal(s.n, 4);
	end(&w, 600);
}

static void a_switch_tells_the_call(void **state)
{
	struct wait_switch s = { PID, 1, 200, true, false, 0, WAIT_FOR_FUTEX };
	struct seen seen;
	struct waits w = begin(&seen);

	(void)state;
	in(&w, 1, 110);
	seen.n = 0;
	turn(&w, &s);
	assert_true(waits_has_kind(waits_find(&w, 1)));
	in(&w, 1, 210);
	assert_wait(&seen, 0, 1, 200, 210, false, WAIT_NO_STACK);
	assert_int_equal(seen.w[0].kind, WAIT_FOR_FUTEX);
	/* Only a poll tells the kind of file. */
	s.kind = WAIT_FOR_READ;
	s.time_ns = 300;
	turn(&w, &s);
	assert_false(waits_has_kind(waits_find(&w, 1)));
	look_for_kind(&w, 1, 310, 320, wait_kind_of(WAIT_FOR_READ, WAIT_ON_PIPE));
	assert_true(waits_has_kind(waits_find(&w, 1)));
	in(&w, 1, 330);
	assert_int_equal(seen.w[1].kind, wait_kind_of(WAIT_FOR_READ, WAIT_ON_PIPE));
	s.time_ns = 400;
	turn(&w, &s);
	in(&w, 1, 410);
	assert_int_equal(seen.w[2].kind, WAIT_FOR_READ);
	/* The next wait is another one. */
	out(&w, 1, 500, false);
	in(&w, 1, 510);
	assert_int_equal(seen.w[3].kind, 0);
	end(&w, 600);
	assert_int_equal(seen.n, 4);
}

static void registers_tell_of_short_waits_only(void **state)
{
	const struct wait_stack fault = { .stack = 10, .kind = WAIT_FOR_PAGE };
	struct error err = { 0 };
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	assert_int_equal(waits_sample(&w, PID, 1, &fault, &err), 0);
	out(&w, 1, 200, false);
	in(&w, 1, 90200);
	assert_int_equal(s.w[0].kind, WAIT_FOR_PAGE);
	/* This thread may have been stopped. */
	assert_int_equal(waits_sample(&w, PID, 1, &fault, &err), 0);
	out(&w, 1, 100000, false);
	in(&w, 1, 5100000);
	assert_int_equal(s.w[1].kind, 0);
	/* A poll says that it was. */
	assert_int_equal(waits_sample(&w, PID, 1, &fault, &err), 0);
	out(&w, 1, 6000000, false);
	look_for_kind(&w, 1, 6000010, 6000020, WAIT_FOR_CONTINUE);
	in(&w, 1, 6000100);
	assert_int_equal(s.w[2].kind, WAIT_FOR_CONTINUE);
	end(&w, 7000000);
}

static void a_sample_without_its_switch_is_not_lent(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	sample(&w, 1, 10);
	in(&w, 1, 300);
	out(&w, 1, 400, false);
	in(&w, 1, 410);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 1, 1, 400, 410, false, WAIT_NO_STACK);
	end(&w, 500);
}

static void waits_count_from_the_beginning_to_the_end(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	/* Asleep when we came. */
	in(&w, 1, 150);
	assert_wait(&s, 0, 1, 100, 150, false, WAIT_NO_STACK);
	assert_int_equal(waits_asleep(&w, PID, 2, 120, 0, &err), 0);
	sample(&w, 1, 10);
	out(&w, 1, 160, false);
	end(&w, 1000);
	assert_int_equal(s.n, 3);
	assert_wait(&s, 1, 1, 160, 1000, false, WAIT_EXACT);
	assert_wait(&s, 2, 2, 120, 1000, false, WAIT_NO_STACK);
}

static void a_new_thread_waits_for_a_processor(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	assert_int_equal(waits_fork(&w, PID, 3, 200, &err), 0);
	in(&w, 3, 230);
	assert_wait(&s, 0, 3, 200, 230, true, WAIT_STARTING);
	waits_exit(&w, 3, false);
	/* The number is another thread's now. */
	assert_null(waits_find(&w, 3));
	assert_int_equal(waits_fork(&w, PID, 3, 300, &err), 0);
	in(&w, 3, 310);
	assert_wait(&s, 1, 3, 300, 310, true, WAIT_STARTING);
	end(&w, 400);
	assert_int_equal(s.n, 2);
}

/* Between its exit and its end, a thread may be preempted. */
static void an_exited_thread_does_not_wait(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	in(&w, 3, 200);
	waits_exit(&w, 3, true);
	assert_null(waits_find(&w, 3));
	out(&w, 3, 210, true);
	assert_null(waits_find(&w, 3));
	in(&w, 3, 220);
	out(&w, 3, 230, true);
	waits_remove(&w, 3);
	/* The number is another thread's now. */
	assert_int_equal(waits_fork(&w, PID, 3, 300, &err), 0);
	in(&w, 3, 310);
	end(&w, 400);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 0, 3, 100, 200, false, WAIT_NO_STACK);
	assert_wait(&s, 1, 3, 300, 310, true, WAIT_STARTING);
}

static void wake(struct waits *w, uint32_t tid, uint64_t time, uint32_t by)
{
	const struct waker waker = { .pid = PID, .tid = by,
				     .interrupt = by == 9 };

	waits_wake(w, tid, time, &waker);
}

static void a_woken_thread_waits_for_a_processor(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	sample(&w, 1, 10);
	out(&w, 1, 200, false);
	wake(&w, 1, 260, 9);
	/* It was awake already. */
	wake(&w, 1, 270, 2);
	in(&w, 1, 300);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 0, 1, 200, 260, false, WAIT_EXACT);
	assert_int_equal(s.w[0].waker.tid, 9);
	assert_true(s.w[0].waker.interrupt);
	assert_wait(&s, 1, 1, 260, 300, true, WAIT_EXACT);
	assert_int_equal(s.w[1].stack, 10);
	assert_true(s.w[0].woken && !s.w[1].woken);
	/* Woken while it still ran: it goes on, or is preempted. */
	wake(&w, 1, 350, 2);
	out(&w, 1, 400, true);
	wake(&w, 1, 410, 2);
	in(&w, 1, 450);
	assert_wait(&s, 2, 1, 400, 450, true, WAIT_NO_STACK);
	/* The next wait knows nothing of it. */
	out(&w, 1, 500, false);
	in(&w, 1, 600);
	assert_wait(&s, 3, 1, 500, 600, false, WAIT_NO_STACK);
	assert_false(s.w[3].woken);
	/* Woken and not run yet. */
	out(&w, 1, 700, false);
	wake(&w, 1, 800, 2);
	end(&w, 1000);
	assert_int_equal(s.n, 6);
	assert_wait(&s, 4, 1, 700, 800, false, WAIT_NO_STACK);
	assert_int_equal(s.w[4].waker.tid, 2);
	assert_wait(&s, 5, 1, 800, 1000, true, WAIT_NO_STACK);
}

/* The kernel writes a plain record and a sample of one wakeup, in any order. */
static void two_records_of_a_wakeup_are_one(void **state)
{
	enum { OTHERS_NS = 500000 };
	static const struct {
		uint64_t plain_ns, sample_ns;
		uint32_t plain_tid, sample_tid;
		bool interrupt, same;
	} cases[] = {
		{ 1000, 1050, 2, 2, false, true },
		{ 1050, 1000, 2, 2, false, true },
		{ 1000, 1050, 2, 3, false, false },
		{ 1050, 1000, 2, 3, false, false },
		{ 1000, 1050, 2, 2, true, false },
		{ 1050, 1000, 2, 2, true, false },
		{ 1000, 1000 + OTHERS_NS, 2, 2, false, false },
		{ 1000 + OTHERS_NS, 1000, 2, 2, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct waker plain = { .pid = PID, .tid = cases[i].plain_tid,
					     .interrupt = cases[i].interrupt };
		struct waker sampled = { .pid = PID, .tid = cases[i].sample_tid,
					 .sampled = true, .stack = 30 };
		bool first = cases[i].plain_ns < cases[i].sample_ns;
		struct seen s;
		struct waits w = begin(&s);

		out(&w, 1, 200, false);
		if (first)
			waits_wake(&w, 1, cases[i].plain_ns, &plain);
		waits_wake(&w, 1, cases[i].sample_ns, &sampled);
		if (!first)
			waits_wake(&w, 1, cases[i].plain_ns, &plain);
		/* Another sample cannot be that of the same wakeup. */
		sampled.stack = 31;
		if (cases[i].same)
			waits_wake(&w, 1, 1060, &sampled);
		in(&w, 1, 10 * OTHERS_NS);
		assert_int_equal(s.n, 2);
		assert_wait(&s, 0, 1, 200, cases[i].plain_ns, false, WAIT_NO_STACK);
		assert_true(s.w[0].woken);
		assert_int_equal(s.w[0].waker.tid, cases[i].plain_tid);
		assert_int_equal(s.w[0].waker.sampled, cases[i].same);
		if (cases[i].same)
			assert_int_equal(s.w[0].waker.stack, 30);
		end(&w, 20 * OTHERS_NS);
	}
}

static void the_sample_of_a_wakeup_is_not_lent(void **state)
{
	const struct waker sampled = { .pid = PID, .tid = 2, .sampled = true };
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	out(&w, 1, 200, false);
	waits_wake(&w, 1, 260, &sampled);	/* its plain record was lost */
	in(&w, 1, 300);
	out(&w, 1, 400, false);
	wake(&w, 1, 410, 2);
	in(&w, 1, 500);
	assert_int_equal(s.n, 3);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_NO_STACK);
	assert_wait(&s, 1, 1, 400, 410, false, WAIT_NO_STACK);
	assert_int_equal(s.w[1].waker.tid, 2);
	assert_false(s.w[1].waker.sampled);
	end(&w, 600);
}

static void a_wake_of_an_unknown_thread_is_ignored(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	wake(&w, 77, 150, 2);
	assert_null(waits_find(&w, 77));
	out(&w, 1, 200, false);
	/* Records of another time. */
	wake(&w, 1, 200, 2);
	wake(&w, 1, 190, 2);
	in(&w, 1, 300);
	assert_int_equal(s.n, 1);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_NO_STACK);
	end(&w, 400);
}

static void what_was_woken_before_the_beginning_is_runnable_only(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	out(&w, 1, 50, false);
	wake(&w, 1, 60, 2);
	in(&w, 1, 150);
	assert_int_equal(s.n, 1);
	assert_wait(&s, 0, 1, 100, 150, true, WAIT_NO_STACK);
	end(&w, 400);
}

static void losses_are_never_bridged(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	out(&w, 1, 200, false);	/* may have been in and out again */
	in(&w, 2, 110);		/* runs; asleep since the beginning */
	in(&w, 3, 120);
	s.n = 0;
	assert_int_equal(waits_lost(&w, 300, &err), 0);
	in(&w, 1, 400);
	out(&w, 2, 410, false);	/* it may have run all the time */
	in(&w, 3, 420);		/* its switch-out is lost */
	assert_int_equal(s.n, 2);
	assert_wait(&s, 0, 1, 200, 400, false, WAIT_UNKNOWN);
	assert_wait(&s, 1, 3, 300, 420, false, WAIT_UNKNOWN);
	in(&w, 2, 430);
	assert_wait(&s, 2, 2, 410, 430, false, WAIT_NO_STACK);
	assert_int_equal(w.gaps, 1);
	end(&w, 500);
	assert_int_equal(s.n, 3);
}

/* It is not known to have run before the second loss. */
static void a_second_loss_is_not_bridged_either(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	in(&w, 1, 110);
	s.n = 0;
	assert_int_equal(waits_lost(&w, 200, &err), 0);
	out(&w, 1, 300, false);
	assert_int_equal(waits_lost(&w, 400, &err), 0);
	out(&w, 1, 500, false);
	assert_int_equal(s.n, 1);
	assert_wait(&s, 0, 1, 300, 500, false, WAIT_UNKNOWN);
	in(&w, 1, 600);
	end(&w, 700);
}

/* Not every kernel reports every switch-in. */
static void run_time_tells_of_a_missing_switch_in(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	in(&w, 1, 110);
	sample(&w, 1, 10);
	out_ran(&w, 1, 200, 5000);
	wake(&w, 1, 250, 2);
	s.n = 0;
	/* This sample is that of the next wait. */
	sample(&w, 1, 20);
	out_ran(&w, 1, 400, 5030);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 0, 1, 200, 250, false, WAIT_EXACT);
	assert_wait(&s, 1, 1, 250, 370, true, WAIT_EXACT);
	assert_int_equal(s.w[0].stack, 10);
	assert_int_equal(s.w[1].stack, 10);
	in(&w, 1, 450);
	assert_wait(&s, 2, 1, 400, 450, false, WAIT_EXACT);
	assert_int_equal(s.w[2].stack, 20);
	/* It has run for all of the time, as far as two clocks can tell. */
	out_ran(&w, 1, 500, 5080);
	out_ran(&w, 1, 600, 5190);
	assert_int_equal(s.n, 3);
	/* Unknown before or after, or impossible. */
	out_ran(&w, 1, 610, 0);
	assert_wait(&s, 3, 1, 600, 610, false, WAIT_UNKNOWN);
	out_ran(&w, 1, 620, 5200);
	assert_wait(&s, 4, 1, 610, 620, false, WAIT_UNKNOWN);
	out_ran(&w, 1, 630, 5199);
	assert_wait(&s, 5, 1, 620, 630, false, WAIT_UNKNOWN);
	/* A new thread has not run before. */
	assert_int_equal(waits_fork(&w, PID, 3, 640, &err), 0);
	out_ran(&w, 3, 690, 20);
	assert_wait(&s, 6, 3, 640, 670, true, WAIT_STARTING);
	waits_exit(&w, 1, false);
	waits_exit(&w, 3, false);
	end(&w, 700);
	assert_int_equal(s.n, 7);
}

/* The records of its switch-in, of its sample and of its wakeup are independent. */
static void a_missing_switch_in_lends_nothing(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	in(&w, 1, 110);
	s.n = 0;
	sample(&w, 1, 10);
	out_ran(&w, 1, 200, 5000);
	/* This one ended the next wait: by its run time, it ran from 370 on. */
	wake(&w, 1, 390, 2);
	out_ran(&w, 1, 400, 5030);
	assert_int_equal(s.n, 1);
	assert_wait(&s, 0, 1, 200, 370, false, WAIT_EXACT);
	assert_false(s.w[0].woken);
	in(&w, 1, 450);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 1, 1, 400, 450, false, WAIT_NO_STACK);
	end(&w, 500);
}

static void run_time_tells_of_it_also_at_the_beginning(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	assert_int_equal(waits_asleep(&w, PID, 1, 120, 5000, &err), 0);
	out_ran(&w, 1, 200, 5030);
	assert_wait(&s, 0, 1, 120, 170, false, WAIT_NO_STACK);
	/* Its own records count more than what was read meanwhile. */
	assert_int_equal(waits_asleep(&w, PID, 1, 210, 5090, &err), 0);
	out_ran(&w, 1, 300, 5040);
	assert_wait(&s, 1, 1, 200, 290, false, WAIT_NO_STACK);
	end(&w, 300);
	assert_int_equal(s.n, 2);
}

static void run_time_tells_of_it_also_before_an_exit(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	in(&w, 1, 110);
	in(&w, 2, 110);
	s.n = 0;
	out_ran(&w, 1, 200, 5000);
	waits_exit(&w, 1, true);
	assert_null(waits_find(&w, 1));
	/* Preempted, and at its end. */
	out_ran(&w, 1, 400, 5030);
	out_ran(&w, 1, 500, 5080);
	assert_int_equal(s.n, 1);
	assert_wait(&s, 0, 1, 200, 370, false, WAIT_NO_STACK);
	waits_remove(&w, 1);
	out_ran(&w, 2, 600, 100);
	waits_exit(&w, 2, true);
	end(&w, 700);
	assert_int_equal(s.n, 1);
}

static void a_poll_counts_only_inside_its_wait(void **state)
{
	static const struct {
		uint64_t from, to;
		enum wait_found found;
	} cases[] = {
		{ 210, 290, WAIT_POLLED },
		{ 190, 290, WAIT_NO_STACK },	/* before it slept */
		{ 200, 290, WAIT_NO_STACK },
		{ 210, 300, WAIT_NO_STACK },	/* it may run again */
		{ 310, 320, WAIT_NO_STACK },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen s;
		struct waits w = begin(&s);

		out(&w, 1, 200, false);
		look(&w, 1, cases[i].from, cases[i].to);
		in(&w, 1, 300);
		assert_wait(&s, 0, 1, 200, 300, false, cases[i].found);
		if (cases[i].found == WAIT_POLLED)
			assert_int_equal(s.w[0].stack, 5);
		assert_int_equal(s.w[0].task, cases[i].found == WAIT_POLLED ? 7 : 0);
		end(&w, 400);
	}
}

/* Frames of an interpreter, for example. */
static void a_poll_with_more_frames_replaces_the_sample(void **state)
{
	struct wait_stack poll = { .stack = 5, .loc = 6, .task = 7,
				   .from_ns = 210, .to_ns = 220 };
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	sample(&w, 1, 10);
	out(&w, 1, 200, false);
	waits_add_poll(waits_find(&w, 1), &poll);
	in(&w, 1, 300);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_EXACT);
	assert_int_equal(s.w[0].stack, 10);
	sample(&w, 1, 10);
	out(&w, 1, 400, false);
	poll.from_ns = 410;
	poll.to_ns = 420;
	poll.more = true;
	waits_add_poll(waits_find(&w, 1), &poll);
	in(&w, 1, 500);
	assert_wait(&s, 1, 1, 400, 500, false, WAIT_POLLED);
	assert_int_equal(s.w[1].stack, 5);
	assert_int_equal(s.w[1].loc, 6);
	assert_int_equal(s.w[1].task, 7);
	end(&w, 600);
}

/* A look that is newer than the records that were read is of a later wait. */
static void a_poll_waits_for_its_wait(void **state)
{
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	out(&w, 1, 200, false);
	look(&w, 1, 510, 520);
	in(&w, 1, 300);
	out(&w, 1, 400, false);
	in(&w, 1, 600);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_NO_STACK);
	assert_wait(&s, 1, 1, 400, 600, false, WAIT_POLLED);
	end(&w, 700);
}

static void switched_off_time_does_not_count(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	out(&w, 1, 200, false);
	assert_int_equal(waits_toggle(&w, 300, false, &err), 0);
	assert_int_equal(waits_toggle(&w, 500, true, &err), 0);
	in(&w, 1, 600);
	assert_int_equal(s.n, 2);
	assert_wait(&s, 0, 1, 200, 300, false, WAIT_NO_STACK);
	assert_wait(&s, 1, 1, 500, 600, false, WAIT_NO_STACK);
	end(&w, 700);
}

static void threads_of_the_kernel_are_hidden(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	sample(&w, 1, 10);
	waits_find(&w, 1)->hidden = true;
	out(&w, 1, 200, false);
	in(&w, 1, 300);
	/* One that sleeps since before. */
	assert_int_equal(waits_hide(&w, PID, 2, &err), 0);
	in(&w, 2, 350);
	end(&w, 400);
	assert_int_equal(s.n, 0);
}

/* What waits and runs is all of a thread's life, whatever its records. */
static void sums_hold(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	uint64_t now = 100, waited = 0, sum = 0;

	(void)state;
	srand(7);
	in(&w, 1, now);
	for (int i = 0; i < 20; i++) {
		uint64_t length = 1 + (uint64_t)rand() % 1000;

		now += 1 + (uint64_t)rand() % 50;
		out(&w, 1, now, rand() % 2);
		now += length;
		waited += length;
		in(&w, 1, now);
	}
	end(&w, now);
	for (size_t i = 0; i < s.n; i++)
		sum += s.w[i].end_ns - s.w[i].start_ns;
	assert_int_equal(sum, waited);
}

/* Without records of wakeups, the kernel's total tells how long a thread was
 * runnable. */
static void a_total_splits_waits(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	assert_int_equal(waits_fork(&w, PID, 1, 150, &err), 0);
	in(&w, 1, 160);		/* 10 until its first run */
	out(&w, 1, 200, true);
	in(&w, 1, 230);		/* 30 preempted */
	out(&w, 1, 300, false);
	waits_queued(waits_find(&w, 1), 10 + 30 + 25, 420);
	in(&w, 1, 400);		/* woken at 375 */
	out(&w, 1, 500, false);
	in(&w, 1, 600);		/* by the same total, it ran at once */
	assert_int_equal(s.n, 5);
	assert_wait(&s, 0, 1, 150, 160, true, WAIT_STARTING);
	assert_wait(&s, 1, 1, 200, 230, true, WAIT_NO_STACK);
	assert_wait(&s, 2, 1, 300, 375, false, WAIT_NO_STACK);
	assert_false(s.w[2].woken);	/* by whom is unknown */
	assert_wait(&s, 3, 1, 375, 400, true, WAIT_NO_STACK);
	assert_wait(&s, 4, 1, 500, 600, false, WAIT_NO_STACK);
	/* More than a wait is long belongs to the next ones, too. */
	waits_queued(waits_find(&w, 1), 65 + 40, 900);
	out(&w, 1, 700, false);
	in(&w, 1, 730);
	out(&w, 1, 740, false);
	in(&w, 1, 800);
	assert_wait(&s, 5, 1, 700, 730, true, WAIT_NO_STACK);
	assert_wait(&s, 6, 1, 740, 790, false, WAIT_NO_STACK);
	assert_wait(&s, 7, 1, 790, 800, true, WAIT_NO_STACK);
	end(&w, 1000);
}

/* What was before the first reading is in no wait. */
static void a_first_total_explains_nothing(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	in(&w, 1, 150);
	out(&w, 1, 200, false);
	waits_queued(waits_find(&w, 1), 1000000, 210);
	in(&w, 1, 300);
	waits_queued(waits_find(&w, 1), 1000020, 310);
	out(&w, 1, 400, false);
	in(&w, 1, 500);
	assert_int_equal(s.n, 4);
	assert_wait(&s, 1, 1, 200, 300, false, WAIT_NO_STACK);
	assert_wait(&s, 2, 1, 400, 480, false, WAIT_NO_STACK);
	assert_wait(&s, 3, 1, 480, 500, true, WAIT_NO_STACK);
	/* A lost switch may have been a wait for a CPU. */
	assert_int_equal(waits_lost(&w, 600, &err), 0);
	out(&w, 1, 700, false);
	waits_queued(waits_find(&w, 1), 1000050, 720);
	in(&w, 1, 800);
	assert_wait(&s, 4, 1, 700, 800, false, WAIT_NO_STACK);
	end(&w, 1000);
}

/* What grew while waits did not count is in no wait. */
static void a_total_from_before_a_pause_explains_nothing(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	in(&w, 1, 150);
	out(&w, 1, 200, false);
	waits_queued(waits_find(&w, 1), 1000, 210);
	in(&w, 1, 300);
	assert_int_equal(waits_toggle(&w, 400, false, &err), 0);
	assert_int_equal(waits_toggle(&w, 500, true, &err), 0);
	out(&w, 1, 600, false);
	waits_queued(waits_find(&w, 1), 1070, 620);
	in(&w, 1, 700);
	assert_int_equal(s.n, 3);
	assert_wait(&s, 2, 1, 600, 700, false, WAIT_NO_STACK);
	end(&w, 800);
}

/* Its own wakeups, which have records, are part of the total of a new thread, too. */
static void a_first_total_after_recorded_wakeups_explains_nothing(void **state)
{
	struct seen s;
	struct waits w = begin(&s);
	struct error err;

	(void)state;
	assert_int_equal(waits_fork(&w, PID, 1, 150, &err), 0);
	in(&w, 1, 160);
	out(&w, 1, 200, false);
	wake(&w, 1, 260, 2);
	in(&w, 1, 300);		/* 10 and 40 in the queue */
	out(&w, 1, 400, false);
	waits_queued(waits_find(&w, 1), 10 + 40 + 15, 420);
	in(&w, 1, 500);
	assert_int_equal(s.n, 4);
	assert_wait(&s, 3, 1, 400, 500, false, WAIT_NO_STACK);
	end(&w, 600);
}

/* Some wakeups have records: what they explain is not counted twice. */
static void recorded_wakeups_are_part_of_the_total(void **state)
{
	struct waker by = { .pid = PID, .tid = 2 };
	struct seen s;
	struct waits w = begin(&s);

	(void)state;
	in(&w, 1, 150);
	out(&w, 1, 200, false);
	waits_queued(waits_find(&w, 1), 1000, 210);
	waits_wake(&w, 1, 260, &by);
	in(&w, 1, 300);		/* 40 in the queue */
	out(&w, 1, 400, false);
	waits_queued(waits_find(&w, 1), 1000 + 40 + 15, 420);
	in(&w, 1, 500);		/* woken at 485 */
	assert_int_equal(s.n, 5);
	assert_wait(&s, 3, 1, 400, 485, false, WAIT_NO_STACK);
	assert_wait(&s, 4, 1, 485, 500, true, WAIT_NO_STACK);
	/* All have records from here on, and later only some again. */
	waits_forget_queues(&w);
	out(&w, 1, 600, false);
	waits_wake(&w, 1, 670, &by);
	in(&w, 1, 700);
	out(&w, 1, 800, false);
	waits_queued(waits_find(&w, 1), 5000, 820);
	in(&w, 1, 900);
	assert_int_equal(s.n, 8);
	assert_wait(&s, 7, 1, 800, 900, false, WAIT_NO_STACK);
	end(&w, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_has_its_sample),
		cmocka_unit_test(a_kind_belongs_to_the_wait_of_its_poll),
		cmocka_unit_test(a_switch_tells_the_call),
		cmocka_unit_test(registers_tell_of_short_waits_only),
		cmocka_unit_test(a_sample_without_its_switch_is_not_lent),
		cmocka_unit_test(waits_count_from_the_beginning_to_the_end),
		cmocka_unit_test(a_new_thread_waits_for_a_processor),
		cmocka_unit_test(an_exited_thread_does_not_wait),
		cmocka_unit_test(a_woken_thread_waits_for_a_processor),
		cmocka_unit_test(two_records_of_a_wakeup_are_one),
		cmocka_unit_test(the_sample_of_a_wakeup_is_not_lent),
		cmocka_unit_test(a_wake_of_an_unknown_thread_is_ignored),
		cmocka_unit_test(what_was_woken_before_the_beginning_is_runnable_only),
		cmocka_unit_test(losses_are_never_bridged),
		cmocka_unit_test(a_second_loss_is_not_bridged_either),
		cmocka_unit_test(run_time_tells_of_a_missing_switch_in),
		cmocka_unit_test(a_missing_switch_in_lends_nothing),
		cmocka_unit_test(run_time_tells_of_it_also_at_the_beginning),
		cmocka_unit_test(run_time_tells_of_it_also_before_an_exit),
		cmocka_unit_test(a_poll_counts_only_inside_its_wait),
		cmocka_unit_test(a_poll_with_more_frames_replaces_the_sample),
		cmocka_unit_test(a_poll_waits_for_its_wait),
		cmocka_unit_test(switched_off_time_does_not_count),
		cmocka_unit_test(threads_of_the_kernel_are_hidden),
		cmocka_unit_test(a_total_splits_waits),
		cmocka_unit_test(a_first_total_explains_nothing),
		cmocka_unit_test(a_total_from_before_a_pause_explains_nothing),
		cmocka_unit_test(a_first_total_after_recorded_wakeups_explains_nothing),
		cmocka_unit_test(recorded_wakeups_are_part_of_the_total),
		cmocka_unit_test(sums_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
