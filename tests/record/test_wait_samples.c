// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of waits, of wakeups and of wall-clock time, from records made here. */
#include "replay.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../profile/open_writer.h"
#include "base/clock.h"
#include "record/collect/collect_waits.h"

enum { CPU, BLOCKED, WAKING, RUNNABLE, LATENCY, EVENTS, PID = 5, OTHER_PID = 7 };

/* Places where nothing is known but the file. */
enum { MAIN = 0x700100, LOOP = 0x710100, KERNEL = 0x720100 };

static int setup(void **state)
{
	static const char *const files[] = { "/x/main", "/x/loop" };
	struct record rec = { .kind = RECORD_MMAP, .pid = PID, .tid = PID };
	struct prof_event event = { .unit = PROF_UNIT_NS };
	struct prof_run run = { .exit_status = -1 };
	struct replay *r;
	char path[128];

	if (replay_begin(state, NULL, EVENTS))
		return -1;
	r = *state;
	snprintf(path, sizeof(path), "%s/p.tally", r->dir);
	assert_int_equal(vec_push(&r->p.runs, run), 0);
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(vec_push(&r->p.events, event), 0);
	assert_int_equal(open_writer(path, &r->p, &r->c.writer, &r->err), 0);
	r->c.held.on = true;	/* rows stay where they can be seen */
	collector_new_run(&r->c, 0);
	for (uint64_t i = 0; i < COUNT(files); i++) {
		rec.mmap = (struct mapping){ .start = 0x700000 + i * 0x10000,
					     .len = 0x3000, .path = files[i] };
		assert_int_equal(collector_record(&r->c, &rec, &r->err), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	struct replay *r = *state;

	writer_close(r->c.writer);
	r->c.writer = NULL;
	return replay_end(state);
}

static void begin_as(struct replay *r, const struct source *src)
{
	collect_waits_begin(&r->c, src, false);
	assert_int_equal(collect_waits_toggle(&r->c, 100, true, &r->err), 0);
}

static void begin(struct replay *r, bool latency)
{
	begin_as(r, &(struct source){
		.waits = true, .wait_stacks = true, .blocked = BLOCKED,
		.waking = WAKING, .runnable = RUNNABLE,
		.latency = latency ? LATENCY : SOURCE_NONE });
}

static void end(struct replay *r, uint64_t time)
{
	assert_int_equal(collect_waits_end(&r->c, time, &r->err), 0);
}

static void send(struct replay *r, struct record *rec, uint64_t time)
{
	rec->time_ns = time;
	assert_int_equal(collector_record(&r->c, rec, &r->err), 0);
}

static void change(struct replay *r, uint32_t tid, uint64_t time, bool out)
{
	struct record rec = { .kind = RECORD_SWITCH, .tid = tid,
			      .pid = tid < 100 ? PID : OTHER_PID };

	rec.change.out = out;
	send(r, &rec, time);
}

static void sample(struct replay *r, uint32_t event, uint32_t tid, uint64_t time,
		   uint64_t at, uint32_t woken)
{
	struct record rec = { .kind = RECORD_SAMPLE, .pid = PID, .tid = tid,
			      .event = event };

	rec.sample = (struct record_sample){ .weight = 1, .user = &at, .nuser = 1,
					     .woken = woken };
	send(r, &rec, time);
}

static void wake(struct replay *r, uint32_t tid, uint64_t time, uint32_t by_pid,
		 uint32_t by, bool interrupt)
{
	struct record rec = { .kind = RECORD_WAKE, .pid = by_pid, .tid = by };

	rec.wake.tid = tid;
	rec.wake.interrupt = interrupt;
	send(r, &rec, time);
}

static void loss(struct replay *r, uint64_t time)
{
	send(r, &(struct record){ .kind = RECORD_SWITCH_GAP }, time);
}

/* Forgets the rows so far. */
static void forget(struct replay *r)
{
	r->c.held.rows.n = 0;
}

static size_t rows(const struct replay *r)
{
	return r->c.held.rows.n;
}

static void assert_row(const struct replay *r, size_t i, uint32_t event, uint32_t tid,
		       uint64_t time, uint64_t weight, const char *place)
{
	const struct prof_sample *s = &r->c.held.rows.v[i];
	const struct prof_loc *loc;

	assert_true(i < rows(r));
	loc = &r->p.locs.v[r->p.nodes.v[s->stack].loc];
	assert_int_equal(s->event, event);
	assert_int_equal(r->p.threads.v[s->thread].tid, tid);
	assert_int_equal(s->time_ns, time);
	assert_int_equal(s->weight, weight);
	assert_string_equal(profile_cstr(&r->p, r->p.images.v[loc->image].path), place);
}

static void a_wait_has_two_samples(void **state)
{
	struct replay *r = *state;

	begin(r, false);
	change(r, 11, 100, false);
	change(r, 12, 150, false);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, BLOCKED, 12, 150, 50, "[no stack]");
	forget(r);
	sample(r, BLOCKED, 11, 200, MAIN, 0);
	change(r, 11, 200, true);
	wake(r, 11, 260, PID, 12, false);
	change(r, 11, 300, false);
	assert_int_equal(rows(r), 2);
	assert_row(r, 0, BLOCKED, 11, 260, 60, "/x/main");
	assert_row(r, 1, RUNNABLE, 11, 300, 40, "/x/main");
	assert_int_equal(collect_waits_ns(&r->c, BLOCKED), 50 + 60);
	assert_int_equal(collect_waits_ns(&r->c, RUNNABLE), 40);
	assert_int_equal(collect_waits_ns(&r->c, WAKING), 60);
}

static void places_tell_why_there_is_no_stack(void **state)
{
	struct record fork = { .kind = RECORD_FORK, .pid = PID, .tid = 13 };
	struct replay *r = *state;

	begin(r, false);
	fork.fork.ppid = fork.fork.ptid = PID;
	send(r, &fork, 200);
	change(r, 13, 220, false);
	assert_row(r, 0, RUNNABLE, 13, 220, 20, "[not started yet]");
	change(r, 13, 240, true);
	loss(r, 250);
	change(r, 13, 300, false);
	assert_row(r, 1, BLOCKED, 13, 300, 60, "[switches lost]");
	/* A number that no thread has, and that of a processor without one. */
	change(r, 0, 310, false);
	change(r, 0, 320, true);
	change(r, UINT32_MAX, 310, true);
	change(r, UINT32_MAX, 320, false);
	assert_int_equal(rows(r), 2);
}

/* Thread 11 is blocked from `time` on for `length`, until a thread wakes it. */
static void be_woken(struct replay *r, uint64_t time, uint64_t length, uint32_t by_pid,
		     uint32_t by, bool interrupt)
{
	change(r, 11, time, true);
	wake(r, 11, time + length, by_pid, by, interrupt);
	change(r, 11, time + length + 5, false);
}

static void short_waits_go_to_the_next_sample_of_their_waker(void **state)
{
	struct replay *r = *state;

	begin(r, false);
	change(r, 11, 100, false);
	change(r, 12, 100, false);
	change(r, 11, 200, true);
	wake(r, 11, 260, PID, 12, false);
	change(r, 11, 270, false);
	change(r, 11, 300, true);
	wake(r, 11, 370, PID, 12, false);
	change(r, 11, 380, false);
	forget(r);
	for (uint64_t t = 1000; t <= 2000; t += 1000) {
		change(r, 11, t, true);
		sample(r, WAKING, 12, t + 80, LOOP, 11);
		wake(r, 11, t + 80, PID, 12, false);
		change(r, 11, t + 90, false);
		assert_int_equal(rows(r), 3);
		/* Those of the two before, once. */
		assert_row(r, 0, WAKING, 12, t + 80, t == 1000 ? 60 + 70 + 80 : 80,
			   "/x/loop");
		forget(r);
	}
	/* A long one is not mixed with others. */
	change(r, 11, 10000, true);
	wake(r, 11, 3010000, PID, 12, false);
	change(r, 11, 3010010, false);
	assert_row(r, 0, WAKING, 12, 3010000, 3000000, "[no stack]");
	assert_int_equal(collect_waits_ns(&r->c, WAKING), 60 + 70 + 80 + 80 + 3000000);
}

static void wakeups_without_a_sample_are_not_lost_at_an_end(void **state)
{
	struct record exit = { .kind = RECORD_EXIT, .pid = PID, .tid = 12 };
	struct replay *r = *state;

	begin(r, false);
	change(r, 10, 100, false);
	change(r, 11, 100, false);
	change(r, 12, 100, false);
	change(r, 11, 200, true);
	wake(r, 11, 260, PID, 12, false);
	change(r, 11, 270, false);
	change(r, 11, 300, true);
	wake(r, 11, 330, PID, 10, false);
	change(r, 11, 340, false);
	forget(r);
	send(r, &exit, 400);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, WAKING, 12, 400, 60, "[no stack]");
	forget(r);
	end(r, 500);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, WAKING, 10, 500, 30, "[no stack]");
	end(r, 600);
	assert_int_equal(rows(r), 1);
}

static void wakers_that_are_no_thread_of_the_program_have_places(void **state)
{
	struct record kernel = { .kind = RECORD_SAMPLE, .pid = PID, .tid = 20,
				 .event = BLOCKED };
	const uint64_t at = KERNEL;
	struct replay *r = *state;

	begin(r, false);
	change(r, 11, 100, false);
	/* A thread without a part of its own belongs to the kernel. */
	kernel.sample = (struct record_sample){ .kernel = &at, .nkernel = 1 };
	change(r, 20, 100, false);
	send(r, &kernel, 110);
	change(r, 20, 110, true);
	change(r, 20, 120, false);
	assert_int_equal(rows(r), 0);
	be_woken(r, 200, 10, PID, 12, true);
	assert_row(r, 0, WAKING, 11, 210, 10, "[interrupt]");
	forget(r);
	be_woken(r, 300, 20, 99, 99, false);
	assert_row(r, 0, WAKING, 11, 320, 20, "[another process]");
	forget(r);
	be_woken(r, 400, 30, PID, 12, false);
	assert_row(r, 0, WAKING, 12, 430, 30, "[exit]");
	forget(r);
	be_woken(r, 500, 40, PID, 20, false);
	assert_row(r, 0, WAKING, 20, 540, 40, "[kernel thread]");
}

/* The kernel's part of a stack in the scheduler is the same for all. */
static void a_wait_has_the_stack_of_the_program(void **state)
{
	const uint64_t kernel = 0xffffffff81000100, user = MAIN;
	struct record rec = { .kind = RECORD_SAMPLE, .pid = PID, .tid = 11,
			      .event = BLOCKED };
	struct replay *r = *state;

	begin(r, false);
	change(r, 11, 100, false);
	rec.sample = (struct record_sample){ .kernel = &kernel, .nkernel = 1,
					     .user = &user, .nuser = 1 };
	send(r, &rec, 200);
	change(r, 11, 200, true);
	change(r, 11, 300, false);
	assert_row(r, 0, BLOCKED, 11, 300, 100, "/x/main");
}

/* Linux, arch/x86/entry/entry_64.S: RAX and RCX of a thread in a system call. */
static void registers_tell_of_page_faults(void **state)
{
	static const struct {
		uint64_t rax, rcx;
		bool is32, fault;
	} cases[] = {
		{ 7, 9, false, true },
		{ (uint64_t)-ENOSYS, 9, false, false },
		{ 7, MAIN + 2, false, false },
		{ 7, 9, true, false },
		{ 8, 9, false, true },
	};
	static const uint64_t stack[8];
	struct replay *r = *state;
	size_t faults = 0;

	begin(r, false);
	change(r, 11, 100, false);
	for (uint64_t i = 0; i < COUNT(cases); i++) {
		struct record rec = { .kind = RECORD_SAMPLE, .pid = PID, .tid = 11,
				      .event = BLOCKED };
		struct record_copy *copy = &rec.sample.copy;

		rec.sample.copied = true;
		copy->bytes = (const uint8_t *)stack;
		copy->size = sizeof(stack);
		copy->is32 = cases[i].is32;
		copy->regs.known = 1u << UNWIND_RAX | 1u << UNWIND_RCX |
				   1u << UNWIND_RIP | 1u << UNWIND_RSP;
		copy->regs.r[UNWIND_RAX] = cases[i].rax;
		copy->regs.r[UNWIND_RCX] = cases[i].rcx;
		copy->regs.r[UNWIND_RIP] = MAIN + i;
		copy->regs.r[UNWIND_RSP] = 0x10000;
		send(r, &rec, 200 + 100 * i);
		change(r, 11, 200 + 100 * i, true);
		change(r, 11, 250 + 100 * i, false);
		faults += cases[i].fault;
		assert_int_equal(r->p.wait_kinds.n, faults);
	}
	assert_string_equal(profile_cstr(&r->p, r->p.wait_kinds.v[0].kind), "pagefault");
}

/* Those that exec ends do not wait any longer. */
static void exec_leaves_one_thread(void **state)
{
	struct record exec = { .kind = RECORD_COMM, .pid = PID, .tid = PID };
	struct replay *r = *state;

	begin(r, false);
	change(r, PID, 100, false);
	change(r, 11, 100, false);
	change(r, 101, 100, false);
	change(r, PID, 200, true);
	change(r, 11, 200, true);
	change(r, 101, 200, true);
	exec.comm.name = "x";
	exec.comm.exec = true;
	send(r, &exec, 300);
	end(r, 400);
	assert_int_equal(rows(r), 2);
	assert_row(r, 0, BLOCKED, PID, 400, 200, "[no stack]");
	assert_row(r, 1, BLOCKED, 101, 400, 200, "[no stack]");
}

/* Each moment belongs to the threads that run, or else to the next one. */
static void wall_clock_time_is_divided_among_samples(void **state)
{
	struct record exit = { .kind = RECORD_EXIT, .pid = PID, .tid = 6 };
	struct replay *r = *state;

	begin(r, true);
	assert_int_equal(collect_waits_asleep(&r->c, PID, 100, &r->err), 0);
	change(r, PID, 100, false);
	sample(r, CPU, PID, 150, MAIN, 0);
	assert_int_equal(rows(r), 2);
	assert_row(r, 0, CPU, PID, 150, 1, "/x/main");
	assert_row(r, 1, LATENCY, PID, 150, 50, "/x/main");
	forget(r);
	/* None runs from 200 on.  That is shown once, at the first of its two waits. */
	sample(r, BLOCKED, PID, 200, LOOP, 0);
	change(r, PID, 200, true);
	change(r, 0, 210, false);
	wake(r, PID, 260, PID, 12, true);
	change(r, PID, 300, false);
	assert_int_equal(rows(r), 4);
	assert_row(r, 0, WAKING, PID, 260, 60, "[interrupt]");
	assert_row(r, 1, LATENCY, PID, 260, 100, "/x/loop");
	assert_row(r, 2, BLOCKED, PID, 260, 60, "/x/loop");
	assert_row(r, 3, RUNNABLE, PID, 300, 40, "/x/loop");
	forget(r);
	change(r, 6, 350, false);
	forget(r);
	sample(r, CPU, PID, 350, MAIN, 0);
	assert_row(r, 1, LATENCY, PID, 350, 50 + 50, "/x/main");
	forget(r);
	/* Two run. */
	sample(r, CPU, 6, 450, LOOP, 0);
	assert_row(r, 1, LATENCY, 6, 450, 50, "/x/loop");
	forget(r);
	send(r, &exit, 460);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, LATENCY, 6, 460, 5, "[no sample]");
	forget(r);
	sample(r, CPU, PID, 560, MAIN, 0);
	assert_row(r, 1, LATENCY, PID, 560, 55 + 100, "/x/main");
	forget(r);
	/* Nothing is known from 600 to 700. */
	loss(r, 600);
	change(r, PID, 700, false);
	forget(r);
	sample(r, CPU, PID, 750, MAIN, 0);
	assert_row(r, 1, LATENCY, PID, 750, 40 + 50, "/x/main");
	forget(r);
	change(r, PID, 780, true);
	end(r, 800);
	assert_row(r, 0, LATENCY, PID, 800, 30, "[no sample]");
	/* All of the time but what was lost, and the end, when none ran. */
	assert_int_equal(collect_waits_ns(&r->c, LATENCY), 680 - 100);
}

/* Short waits are thinned while there are too many.  Long ones stay exact, and the sum is
 * right on average. */
static void many_short_waits_are_thinned(void **state)
{
	enum { N = 20000, LENGTH = 500, EACH = 1000, MOST = 1000 };
	struct replay *r = *state;
	struct wait_samples *ws = &r->c.wait_samples;
	uint64_t time = 1000, sum = 0, longer;

	begin(r, false);
	ws->most = MOST;
	change(r, 11, 100, false);
	/* Never more than that in a second. */
	for (uint64_t second = 0; second < 4; second++)
		for (uint64_t i = 0; i < MOST * 9 / 10; i++, time += EACH) {
			if (!i)
				time = (second + 1) * SECOND;
			change(r, 11, time, true);
			change(r, 11, time + LENGTH, false);
		}
	assert_int_equal(ws->thinning_ns, 0);
	assert_int_equal(rows(r), 4 * (MOST * 9 / 10));
	forget(r);
	time = 10ull * SECOND;
	for (uint64_t i = 0; i < N; i++, time += EACH) {
		change(r, 11, time, true);
		change(r, 11, time + LENGTH, false);
	}
	for (size_t i = 0; i < rows(r); i++)
		sum += r->c.held.rows.v[i].weight;
	assert_in_range(sum, N * LENGTH / 10 * 9, N * LENGTH / 10 * 11);
	/* 1,000, then 500 of 1 in 2, of 1 in 4, ... */
	assert_in_range(rows(r), MOST, 4 * MOST);
	assert_in_range(ws->thinning_ns, 8000, 32000);
	forget(r);
	longer = ws->thinning_ns * 3 / 2;
	change(r, 11, time, true);
	change(r, 11, time + longer, false);
	assert_row(r, 0, BLOCKED, 11, time + longer, longer, "[no stack]");
	assert_int_equal(collect_waits_ns(&r->c, BLOCKED),
			 4ull * (MOST * 9 / 10) * LENGTH + N * LENGTH + longer);
}

/* The wall-clock time that a wait carries is not thinned. */
static void thinning_keeps_wall_clock_time(void **state)
{
	struct replay *r = *state;

	begin(r, true);
	assert_int_equal(collect_waits_asleep(&r->c, PID, 100, &r->err), 0);
	change(r, PID, 100, false);
	r->c.wait_samples.thinning_ns = 1ull << 60;
	for (uint64_t i = 2; i < 10; i++) {
		change(r, PID, 100 * i, true);
		change(r, PID, 100 * i + 10, false);
		assert_int_equal(rows(r), 1);
		assert_row(r, 0, LATENCY, PID, 100 * i + 10, 10, "[no stack]");
		forget(r);
	}
}

static void assert_fact(const struct replay *r, const char *key, const char *value)
{
	const char *is = profile_env(&r->p, PROF_NONE, key);

	if (!value)
		assert_true(!is || !*is);
	else
		assert_string_equal(is, value);
}

static void facts_count_what_was_found(void **state)
{
	enum { TENTH = SECOND / 10 };
	struct replay *r = *state;

	begin(r, false);
	/* The second start of one recording. */
	assert_int_equal(collect_waits_toggle(&r->c, 150, true, &r->err), 0);
	for (uint64_t i = 0; i < 5; i++) {
		/* Two in one tenth of a second, three in the next one. */
		uint64_t time = (i < 2 ? 10 : 11) * (uint64_t)TENTH + 100 * i;

		if (!i)
			change(r, 11, 100, false);
		if (i % 2)
			sample(r, BLOCKED, 11, time, MAIN, 0);
		change(r, 11, time, true);
		change(r, 11, time + 10 + i, false);
	}
	assert_int_equal(collect_waits_facts(&r->c), 0);
	assert_fact(r, "wait_ns_exact", "24");
	assert_fact(r, "wait_ns_no_stack", "36");
	assert_fact(r, "wait_count", NULL);
	collect_waits_source(&r->c, &(struct source){ .paused_ns = 350 });
	assert_int_equal(collect_waits_facts(&r->c), 0);
	assert_fact(r, "wait_pauses_from_ns", "250");
	assert_fact(r, "wait_rate", "30");
	assert_fact(r, "wait_count", "5");
	assert_fact(r, "wait_count_exact", "2");
	/* A pause that began before waits counted. */
	r->c.wait_samples.paused_ns = 50;
	assert_int_equal(collect_waits_facts(&r->c), 0);
	assert_fact(r, "wait_pauses_from_ns", "0");
}

/* proc(5), /proc/PID/stat, and sched-stats.rst. */
static void make_thread(struct replay *r, uint32_t tid, char state, unsigned int flags,
			uint64_t ran_ns)
{
	struct record name = { .kind = RECORD_COMM, .pid = PID, .tid = tid };
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/%d/task/%u", r->dir, PID, tid);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%d/task/%u/stat", r->dir, PID, tid);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%u (x) %c 1 1 1 0 -1 %u 0 0\n", tid, state, flags);
	fclose(f);
	snprintf(path, sizeof(path), "%s/%d/task/%u/schedstat", r->dir, PID, tid);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%" PRIu64 " 0 1\n", ran_ns);
	fclose(f);
	name.comm.name = "x";
	send(r, &name, 50);
}

static void threads_that_exist_already_sleep_or_run(void **state)
{
	enum { KTHREAD = 0x00200000 };	/* linux/sched.h */
	struct replay *r = *state;
	struct record out = { .kind = RECORD_SWITCH, .pid = PID, .tid = 8 };

	make_thread(r, 6, 'S', 0, 0);
	make_thread(r, 7, 'R', 0, 0);
	make_thread(r, 8, 'D', 0, 5000);
	make_thread(r, 9, 'S', KTHREAD, 0);
	begin_as(r, &(struct source){
		.waits = true, .wait_stacks = true, .tells_ends = true,
		.blocked = BLOCKED, .waking = WAKING, .runnable = RUNNABLE,
		.latency = LATENCY });
	assert_int_equal(collect_waits_asleep(&r->c, 0, 100, &r->err), 0);
	sample(r, CPU, 7, 160, MAIN, 0);
	assert_int_equal(rows(r), 2);
	assert_row(r, 1, LATENCY, 7, 160, 60, "/x/main");
	forget(r);
	/* It has run for 30: it slept until 170. */
	out.change.out = true;
	out.change.ran_ns = 5030;
	send(r, &out, 200);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, BLOCKED, 8, 170, 70, "[no stack]");
	forget(r);
	change(r, 9, 300, false);
	assert_int_equal(rows(r), 0);
	change(r, 6, 310, false);
	assert_int_equal(rows(r), 1);
	assert_row(r, 0, BLOCKED, 6, 310, 210, "[no stack]");
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_wait_has_two_samples),
		WITH(places_tell_why_there_is_no_stack),
		WITH(short_waits_go_to_the_next_sample_of_their_waker),
		WITH(wakeups_without_a_sample_are_not_lost_at_an_end),
		WITH(wakers_that_are_no_thread_of_the_program_have_places),
		WITH(a_wait_has_the_stack_of_the_program),
		WITH(registers_tell_of_page_faults),
		WITH(exec_leaves_one_thread),
		WITH(wall_clock_time_is_divided_among_samples),
		WITH(many_short_waits_are_thinned),
		WITH(thinning_keeps_wall_clock_time),
		WITH(facts_count_what_was_found),
		WITH(threads_that_exist_already_sleep_or_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
