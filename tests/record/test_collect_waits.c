// SPDX-License-Identifier: GPL-2.0-or-later
/* Polls of sleeping threads between records of their switches, with a /proc made here. */
#include "replay.h"
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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

/* Where no 32-bit program has its stack: their calls have other numbers. */
static const uint64_t *empty_stack(void)
{
	void *p = mmap(NULL, 4096 * sizeof(uint64_t), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* A thread wakes and sleeps again before the records of that arrive.  Both waits have
 * their stack.  A thread that sleeps for long is not polled again. */
static void the_next_wait_is_polled_before_its_records_arrive(void **state)
{
	enum { MS = 1000000 };
	const uint64_t *stack = empty_stack();
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
	const uint64_t *stack = empty_stack();
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
	was_queued(r, 1003000);
	wait_shortly(r, &time);
	was_queued(r, 1007000);
	wait_shortly(r, &time);	/* all wakeups have records */
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

/* proc(5): a file of a thread. */
static void write_of_thread(struct replay *r, uint32_t pid, uint32_t tid,
			    const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "mkdir -p %s/%u/task/%u", r->dir, pid, tid);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/%u/task/%u/%s", r->dir, pid, tid, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void sample_here(struct replay *r, uint64_t time, uint64_t at)
{
	struct record rec = { .kind = RECORD_SAMPLE, .pid = (uint32_t)getpid(),
			      .tid = (uint32_t)getpid(), .time_ns = time };

	rec.sample = (struct record_sample){ .user = &at, .nuser = 1 };
	assert_int_equal(collector_record(&r->c, &rec, &r->err), 0);
}

/* A wait that is too short for a poll: one of the next ones at the same place tells for
 * what they are.  A call alone does not tell the file. */
static void the_kind_of_short_waits_is_polled(void **state)
{
	const uint64_t *stack = empty_stack();
	const struct source src = { .waits = true, .wait_stacks = true, .blocked = 0,
				    .runnable = 1, .waking = SOURCE_NONE,
				    .latency = SOURCE_NONE };
	struct replay *r = *state;
	const struct profile *p = r->c.profile;
	struct record out = { .kind = RECORD_SWITCH, .pid = (uint32_t)getpid(),
			      .tid = (uint32_t)getpid() };
	uint64_t first, last;

	map_own_program(r, 0x700000);
	sleep_at(r, stack, 0x700300);	/* clock_nanosleep */
	write_of_thread(r, out.pid, out.tid, "stat", "1 (x) S 1 1 1 0 -1 0 0 0\n");
	r->c.nevents = 2;
	collect_waits_begin(&r->c, &src, false);
	assert_int_equal(collect_waits_toggle(&r->c, 1, true, &r->err), 0);
	change(r, later(), false);
	first = later();
	sample_here(r, first, 0x700300);
	out.time_ns = first;
	out.change.out = out.change.has_call = true;
	out.change.call = 0;		/* read, of something */
	assert_int_equal(collect_switch(&r->c, &out, &r->err), 0);
	change(r, later(), false);
	assert_int_equal(p->wait_kinds.n, 1);
	assert_string_equal(profile_cstr(p, p->wait_kinds.v[0].kind), "read");
	first = later();
	assert_int_equal(wait_polls_idle(&r->c, first, &r->err), 0);
	last = later();
	sample_here(r, first, 0x700300);
	change(r, first, true);
	change(r, last, false);
	assert_int_equal(p->wait_kinds.n, 2);
	assert_string_equal(profile_cstr(p, p->wait_kinds.v[1].kind), "sleep");
}

/* Returns the number of samples in a file. */
static size_t samples_in(const struct replay *r, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < r->c.self_samples.n; i++)
		if (!strcmp(profile_cstr(&r->p, r->p.images.v[
				r->p.locs.v[i].image].path), path))
			n += r->c.self_samples.v[i];
	return n;
}

static void map_file(struct replay *r, uint32_t pid, uint64_t start, const char *path)
{
	struct record rec = { .kind = RECORD_MMAP, .pid = pid, .tid = pid,
			      .time_ns = clock_now() };

	rec.mmap = (struct mapping){ .start = start, .len = 0x3000, .path = path };
	assert_int_equal(collector_record(&r->c, &rec, &r->err), 0);
}

/* Of a thread that has run for so long and so often. */
static void has_run(struct replay *r, uint32_t pid, uint32_t tid, uint64_t ns, int turns,
		    const void *sp, uint64_t pc)
{
	char text[160];

	snprintf(text, sizeof(text), "%" PRIu64 " 0 %d\n", ns, turns);
	write_of_thread(r, pid, tid, "schedstat", text);
	snprintf(text, sizeof(text), "230 0x0 0x0 0x1 0x2 0x0 0x0 0x%llx 0x%llx\n",
		 (unsigned long long)(uintptr_t)sp, (unsigned long long)pc);
	write_of_thread(r, pid, tid, "syscall", text);
	write_of_thread(r, pid, tid, "stat", "1 (x) S 1 1 1 0 -1 0 0 0\n");
}

/* Without records of switches, polls alone find the waits of all threads. */
static void polls_alone_find_waits(void **state)
{
	const uint64_t *stack = empty_stack();
	const struct source src = { .waits = true, .wait_polls = true, .blocked = 0,
				    .runnable = 1, .waking = SOURCE_NONE,
				    .latency = SOURCE_NONE };
	enum { ROUND_NS = 1000000000 / 200, OTHER = 4000000 };
	struct replay *r = *state;
	struct wait_samples *ws = &r->c.wait_samples;
	uint64_t now, blocked_ns;
	char path[256];
	pid_t child = fork();
	uint32_t pid = (uint32_t)child;

	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* if the test fails */
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	r->c.nevents = 2;
	collect_waits_begin(&r->c, &src, false);
	map_own_program(r, 0x600000);	/* it is not polled itself */
	has_run(r, (uint32_t)getpid(), (uint32_t)getpid(), 0, 1, stack, 0x600300);
	map_file(r, pid, 0x700000, "/x/main");
	has_run(r, pid, pid, 0, 1, stack, 0x700300);
	/* Where this one sleeps is unknown so far. */
	has_run(r, pid, OTHER, 0, 1, stack, 0x710300);
	assert_int_equal(wait_polls_idle(&r->c, UINT64_MAX, &r->err), 0);
	assert_int_equal(r->c.polled_waits.threads.n, 0);	/* not yet */
	assert_int_equal(collect_waits_toggle(&r->c, 1, true, &r->err), 0);
	for (int i = 0; i < 3; i++) {
		now = clock_now();
		assert_int_equal(wait_polls_idle(&r->c, UINT64_MAX, &r->err), 0);
		assert_true(ws->next_poll_ns >= now + ROUND_NS);
		if (!i)
			map_file(r, pid, 0x710000, "/x/loop");
	}
	assert_int_equal(r->c.polled_waits.threads.n, 2);
	assert_int_equal(ws->n, 0);
	/* Too early for another round. */
	assert_int_equal(wait_polls_idle(&r->c, 0, &r->err), 0);
	assert_int_equal(ws->rounds, 3);

	/* The first thread runs, and then it sleeps elsewhere. */
	has_run(r, pid, pid, 10, 2, stack, 0x710300);
	write_of_thread(r, pid, pid, "syscall", "running\n");
	assert_int_equal(wait_polls_idle(&r->c, UINT64_MAX, &r->err), 0);
	assert_int_equal(ws->n, 0);
	has_run(r, pid, pid, 10, 2, stack, 0x710300);
	assert_int_equal(wait_polls_idle(&r->c, UINT64_MAX, &r->err), 0);
	assert_int_equal(ws->n, 1);
	assert_int_equal(samples_in(r, "/x/main"), 1);
	/* The other one is gone. */
	snprintf(path, sizeof(path), "rm -r %s/%u/task/%u", r->dir, pid, OTHER);
	assert_int_equal(system(path), 0);
	assert_int_equal(wait_polls_idle(&r->c, UINT64_MAX, &r->err), 0);
	assert_int_equal(ws->n, 2);
	assert_int_equal(samples_in(r, "/x/loop"), 1);
	blocked_ns = ws->blocked_ns[WAIT_POLLED];
	assert_int_equal(collect_waits_toggle(&r->c, clock_now(), false, &r->err), 0);
	/* No stack covers the time before it was found to run. */
	assert_int_equal(ws->n, 4);
	assert_int_equal(samples_in(r, "/x/loop"), 2);
	assert_int_equal(samples_in(r, "[no stack]"), 1);
	assert_true(ws->blocked_ns[WAIT_POLLED] > blocked_ns);
	assert_int_equal(ws->runnable_ns, 0);
	/* A kind for each of two places. */
	assert_int_equal(r->p.wait_kinds.n, 2);
	assert_string_equal(profile_cstr(&r->p, r->p.wait_kinds.v[0].kind), "sleep");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
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
		cmocka_unit_test_setup_teardown(
			the_kind_of_short_waits_is_polled, setup, replay_end),
		cmocka_unit_test_setup_teardown(
			polls_alone_find_waits, setup, replay_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
