// SPDX-License-Identifier: GPL-2.0-or-later
/* Polls of sleeping threads between records of their switches, with a /proc made here. */
#include "replay.h"
#include "base/clock.h"
#include "record/collect/collect_waits.h"
#include "record/collect/wait_polls.h"

static int setup(void **state)
{
	return replay_begin(state, NULL, 2);
}

static void map_own_program(struct replay *r, uint64_t start)
{
	struct record rec = { .kind = RECORD_MMAP, .pid = (uint32_t)getpid(),
			      .tid = (uint32_t)getpid(), .time_ns = clock_now() };
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = 0;
	rec.mmap = (struct mapping){ .start = start, .len = 0x3000,
				     .offset = 0x1000, .path = path };
	assert_true(collector_record(&r->c, &rec, &r->err) >= 0);
}

/* Returns a time after the last one. */
static uint64_t later(void)
{
	uint64_t now = clock_now();

	while (clock_now() <= now)
		;
	return clock_now();
}

static void change(struct replay *r, uint64_t time, bool out)
{
	struct record rec = { .kind = RECORD_SWITCH, .pid = (uint32_t)getpid(),
			      .tid = (uint32_t)getpid(), .time_ns = time };

	rec.change.out = out;
	assert_int_equal(collect_switch(&r->c, &rec, &r->err), 0);
}

/* proc(5), /proc/PID/syscall: a thread that always sleeps at this place. */
static void sleep_at(struct replay *r, const void *sp, uint64_t pc)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/%d/task/%d", r->dir, getpid(),
		 getpid());
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%d/task/%d/syscall", r->dir, getpid(),
		 getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "230 0x0 0x0 0x1 0x2 0x0 0x0 0x%llx 0x%llx\n",
		(unsigned long long)(uintptr_t)sp, (unsigned long long)pc);
	fclose(f);
}

/* A thread wakes and sleeps again before the records of that arrive.  Both waits have
 * their stack.  A thread that sleeps for long is not polled again. */
static void the_next_wait_is_polled_before_its_records_arrive(void **state)
{
	enum { MS = 1000000 };
	static const uint64_t stack[4096];
	const struct source src = { .waits = true, .blocked = 0, .runnable = 1,
				    .waking = SOURCE_NONE, .latency = SOURCE_NONE };
	struct replay *r = *state;
	struct wait_samples *ws = &r->c.wait_samples;
	uint64_t t[4];
	uint32_t polls;

	map_own_program(r, 0x700000);
	sleep_at(r, stack, 0x700300);
	r->c.nevents = 2;
	collect_waits_begin(&r->c, &src, false);
	assert_int_equal(collect_waits_toggle(&r->c, 1, true, &r->err), 0);
	t[0] = later();
	change(r, t[0], true);
	assert_int_equal(wait_polls_idle(&r->c, t[0] + 2 * MS, &r->err), 0);
	t[1] = later();
	t[2] = later();
	assert_int_equal(wait_polls_idle(&r->c, t[0] + 4 * MS, &r->err), 0);
	t[3] = later();
	change(r, t[1], false);
	change(r, t[2], true);
	change(r, t[3], false);
	assert_int_equal(ws->blocked_ns[WAIT_NO_STACK], 0);
	assert_int_equal(ws->blocked_ns[WAIT_POLLED],
			 t[1] - t[0] + t[3] - t[2]);

	t[0] = later();
	change(r, t[0], true);
	assert_int_equal(wait_polls_idle(&r->c, t[0] + 20 * MS, &r->err), 0);
	polls = waits_find(&r->c.waits, (uint32_t)getpid())->next_poll;
	assert_int_equal(wait_polls_idle(&r->c, t[0] + 22 * MS, &r->err), 0);
	assert_int_equal(polls, 3);
	assert_int_equal(waits_find(&r->c.waits, (uint32_t)getpid())->next_poll, 3);
}

/* sched-stats.rst: a thread that waited for a CPU for so long. */
static void was_queued(struct replay *r, uint64_t ns)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/task/%d/schedstat", r->dir, getpid(),
		 getpid());
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "0 %llu 0\n", (unsigned long long)ns);
	fclose(f);
}

/* A short wait at the end of 25 ms. */
static void wait_shortly(struct replay *r, uint64_t *time)
{
	enum { MS = 1000000 };

	*time += 25 * MS;
	change(r, *time - MS / 20, true);
	change(r, *time, false);
}

/* While records of wakeups pause, the kernel's total splits waits that are too short for
 * a reading each. */
static void waits_are_split_while_wakeups_pause(void **state)
{
	static const uint64_t stack[4096];
	struct source src = { .waits = true, .wait_stacks = true, .blocked = 0,
			      .waking = 1, .runnable = 2, .latency = SOURCE_NONE };
	struct replay *r = *state;
	struct wait_samples *ws = &r->c.wait_samples;
	uint64_t time = clock_now();

	sleep_at(r, stack, 0x700300);
	was_queued(r, 1000000);
	r->c.nevents = 3;
	collect_waits_begin(&r->c, &src, false);
	assert_int_equal(collect_waits_toggle(&r->c, time, true, &r->err), 0);
	change(r, time + 1, false);
	was_queued(r, 1007000);
	wait_shortly(r, &time);
	assert_int_equal(ws->runnable_ns, 0);

	src.wakes_missing = true;
	collect_waits_source(&r->c, &src);
	wait_shortly(r, &time);	/* the first total explains nothing */
	assert_int_equal(ws->runnable_ns, 0);
	was_queued(r, 1027000);
	wait_shortly(r, &time);
	assert_int_equal(ws->runnable_ns, 20000);
	was_queued(r, 1117000);
	wait_shortly(r, &time);	/* 50 us, the rest is for the next one */
	wait_shortly(r, &time);
	assert_int_equal(ws->runnable_ns, 20000 + 90000);

	src.wakes_missing = false;
	collect_waits_source(&r->c, &src);
	was_queued(r, 1200000);
	wait_shortly(r, &time);
	assert_int_equal(ws->runnable_ns, 20000 + 90000);
}

static bool has_image(const struct replay *r, const char *path)
{
	for (size_t i = 0; i < r->c.images.v.n; i++)
		if (!strcmp(r->c.images.v.v[i].path, path))
			return true;
	return false;
}

/* Waits without a stack have a place for each call.  Calls: asm/unistd_64.h. */
static void waits_without_a_stack_have_their_call(void **state)
{
	static const struct {
		bool stopped, has_call;
		int16_t call;
		const char *place, *kind;
	} cases[] = {
		{ false, true, 202, "[no stack: futex]", "futex" },
		{ false, true, 75, "[no stack: fsync]", "fsync" },
		{ false, true, 0, "[no stack: read]", "read" },
		{ false, true, -1, "[no stack: pagefault]", "pagefault" },
		{ false, true, 202, "[no stack: futex]", "futex" },
		{ true, false, 0, "[no stack: stopped]", "stopped" },
		{ false, false, 0, "[no stack]", NULL },
	};
	const struct source src = { .waits = true, .wait_stacks = true, .blocked = 0,
				    .runnable = 1, .waking = SOURCE_NONE,
				    .latency = SOURCE_NONE };
	struct replay *r = *state;
	const struct profile *p = r->c.profile;
	struct record rec = { .kind = RECORD_SWITCH, .pid = (uint32_t)getpid(),
			      .tid = (uint32_t)getpid() };
	size_t nkinds = 0;
	uint64_t before_ns;

	r->c.nevents = 2;
	collect_waits_begin(&r->c, &src, false);
	assert_int_equal(collect_waits_toggle(&r->c, 1, true, &r->err), 0);
	change(r, 10, false);
	before_ns = r->c.wait_samples.blocked_ns[WAIT_NO_STACK];
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct prof_wait_kind *k;

		rec.time_ns = 100 * i + 100;
		rec.change.out = true;
		rec.change.stopped = cases[i].stopped;
		rec.change.has_call = cases[i].has_call;
		rec.change.call = cases[i].call;
		assert_int_equal(collect_switch(&r->c, &rec, &r->err), 0);
		change(r, 100 * i + 150, false);
		assert_true(has_image(r, cases[i].place));
		if (cases[i].kind && i != 4)
			nkinds++;
		assert_int_equal(p->wait_kinds.n, nkinds);
		if (!cases[i].kind)
			continue;
		k = &p->wait_kinds.v[i < 4 ? i : i == 4 ? 0 : 4];
		assert_string_equal(profile_cstr(p, k->kind), cases[i].kind);
	}
	assert_int_equal(r->c.wait_samples.blocked_ns[WAIT_NO_STACK] - before_ns,
			 50 * COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_next_wait_is_polled_before_its_records_arrive, setup,
			replay_end),
		cmocka_unit_test_setup_teardown(
			waits_are_split_while_wakeups_pause, setup, replay_end),
		cmocka_unit_test_setup_teardown(
			waits_without_a_stack_have_their_call, setup, replay_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
