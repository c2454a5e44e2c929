// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of waits: idle threads, and callers that tell waits of one function apart.
 * Right answers are worked out by hand. */
#include "make_profile.h"

#include <string.h>

#include "base/buf.h"
#include "views/query/wait_kinds.h"
#include "views/wait_sites.h"

enum { MS = 1000000 };
#define START 1000000000ull

static void make(struct maker *m, uint64_t freq)
{
	struct prof_event *e;

	maker_init(m, 2);
	e = &m->p.events.v[1];
	e->name = e->actual = profile_str(&m->p, "blocked");
	e->unit = PROF_UNIT_NS;
	e->type = PROF_WAIT_TYPE;
	e->config = PROF_WAIT_CONFIG;
	e->freq = freq;
}

static uint32_t func_loc(struct maker *m, uint32_t image, const char *name)
{
	return maker_loc(m, maker_func(m, image, name, "a.c", 1), 1);
}

/* A wait that ends `to` ms after the start. */
static void add_wait(struct maker *m, uint32_t stack, uint32_t thread, int to, int ms)
{
	struct prof_sample s = {
		.time_ns = START + (uint64_t)to * MS, .thread = thread, .event = 1,
		.stack = stack, .weight = (uint64_t)ms * MS,
	};

	assert_int_equal(vec_push(&m->samples, s), 0);
}

static void kind_of(struct maker *m, uint32_t stack, const char *kind)
{
	struct prof_wait_kind k = { stack, profile_str(&m->p, kind) };

	assert_int_equal(vec_push(&m->p.wait_kinds, k), 0);
}

static int by_time(const void *a, const void *b)
{
	const struct prof_sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Builds the table as text: one word for each row. */
static void table_is(struct maker *m, const char *want)
{
	struct report_spec spec = { .no_inline = false };
	struct report *rep;
	struct error err = { 0 };
	struct wait_sites sites;
	struct buf got = { 0 };
	struct reader *r;

	qsort(m->samples.v, m->samples.n, sizeof(*m->samples.v), by_time);
	r = maker_read(m);
	assert_int_equal(key_list_parse("image,symbol", &spec.keys, &err), 0);
	assert_int_equal(report_build(r, &spec, &rep, &err), 0);
	assert_int_equal(wait_sites_build(rep, r, &sites), 0);
	for (size_t i = 0; i < sites.rows.n; i++) {
		const struct wait_site *w = &sites.rows.v[i];

		buf_printf(&got, "%s", w->group == WAITS_IDLE ? "idle "
			   : w->group == WAITS_NO_STACK ? "no stack " : "");
		wait_place_text(rep, w->at, true, &got);
		if (w->from != PROF_NONE) {
			buf_str(&got, " from ");
			wait_place_text(rep, (struct wait_place){ w->from, PROF_NONE },
					true, &got);
		}
		buf_printf(&got, " %llu %llu\n", (unsigned long long)w->sum.count,
			   (unsigned long long)w->sum.weight / MS);
	}
	assert_string_equal(buf_cstr(&got), want);
	buf_fini(&got);
	wait_sites_fini(&sites);
	report_free(rep);
	reader_close(r);
}

/* 10 s: a worker waits 9.9 s at once, another one 19 times for 0.52 s, a client 99 times
 * for 0.1 s, a hung thread for a lock. */
static void test_idle(void **state)
{
	struct maker m;
	uint32_t libc, cond, lock, work, client, locked, asks, t;

	(void)state;
	make(&m, 0);
	libc = maker_image(&m, "/lib/x86_64-linux-gnu/libc.so.6", PROF_IMAGE_ELF);
	cond = func_loc(&m, libc, "pthread_cond_wait");
	lock = func_loc(&m, libc, "pthread_mutex_lock");
	work = STACK(&m, func_loc(&m, m.app, "worker"), cond);
	locked = STACK(&m, func_loc(&m, m.app, "hung"), lock);
	client = func_loc(&m, m.app, "client");
	asks = STACK(&m, client, func_loc(&m, libc, "recv"));
	add_wait(&m, work, maker_thread(&m, "a", 100, 101, 0), 9950, 9900);
	t = maker_thread(&m, "b", 100, 102, 0);
	for (int i = 1; i <= 19; i++)
		add_wait(&m, work, t, i * 525, 520);
	t = maker_thread(&m, "c", 100, 103, 0);
	for (int i = 1; i <= 99; i++)
		add_wait(&m, asks, t, i * 101, 100);
	add_wait(&m, locked, maker_thread(&m, "d", 100, 104, 0), 9950, 9800);
	/* Waits for work, but works for half of its life. */
	t = maker_thread(&m, "e", 100, 105, 0);
	add_wait(&m, work, t, 2500, 2500);
	add_wait(&m, work, t, 9950, 2500);
	/* Lives for a second only. */
	add_wait(&m, work, maker_thread(&m, "f", 100, 106, 0), 3000, 1000);
	/* Longer than all others, and the only wait of its thread. */
	add_wait(&m, STACK(&m, func_loc(&m, maker_image(&m, "[no stack: futex]",
							PROF_IMAGE_UNKNOWN),
					"[no stack: futex]")),
		 maker_thread(&m, "g", 100, 107, 0), 9960, 9950);
	table_is(&m, "client in recv 99 9900\n"
		     "hung in pthread_mutex_lock 1 9800\n"
		     "worker in pthread_cond_wait 3 6000\n"
		     "no stack [no stack: futex] 1 9950\n"
		     "idle worker in pthread_cond_wait 20 19780\n");
	maker_fini(&m);
}

/* Polled waits are not counted: what matters is whether the thread was seen running. */
static void test_idle_polled(void **state)
{
	struct maker m;
	uint32_t wait, busy, t;

	(void)state;
	make(&m, 200);
	wait = STACK(&m, func_loc(&m, m.app, "worker"));
	busy = STACK(&m, func_loc(&m, m.app, "client"));
	t = maker_thread(&m, "a", 100, 101, 0);
	for (int i = 1; i <= 1000; i++)
		add_wait(&m, wait, t, i * 10, 10);
	t = maker_thread(&m, "b", 100, 102, 0);
	for (int i = 1; i <= 1000; i++)
		add_wait(&m, busy, t, i * 10, 10);
	maker_samples(&m, busy, 0, t, 1, 3);
	table_is(&m, "client 1000 10000\n"
		     "idle worker 1000 10000\n");
	maker_fini(&m);
}

/* wait <- latch <- { sleep_on 60, relax 30 }, wait <- net 9, wait <- seldom 1. */
static void test_callers(void **state)
{
	struct maker m;
	uint32_t wait, latch, main_l, s[4];

	(void)state;
	make(&m, 0);
	main_l = func_loc(&m, m.app, "main");
	wait = func_loc(&m, m.app, "wait");
	latch = func_loc(&m, m.app, "latch");
	s[0] = STACK(&m, main_l, func_loc(&m, m.app, "sleep_on"), latch, wait);
	s[1] = STACK(&m, main_l, func_loc(&m, m.app, "relax"), latch, wait);
	s[2] = STACK(&m, main_l, func_loc(&m, m.app, "net"), wait);
	s[3] = STACK(&m, main_l, func_loc(&m, m.app, "seldom"), wait);
	for (int i = 0; i < 4; i++)
		kind_of(&m, s[i], "epoll");
	for (int i = 0; i < 100; i++)
		add_wait(&m, s[i < 60 ? 0 : i < 90 ? 1 : i < 99 ? 2 : 3], 0,
			 (i + 1) * 20, 10);
	table_is(&m, "wait from sleep_on 60 600\n"
		     "wait from relax 30 300\n"
		     "wait from net 9 90\n"
		     "wait 1 10\n");
	maker_fini(&m);

	/* A lock says itself what is waited for, whoever takes it. */
	make(&m, 0);
	wait = func_loc(&m, m.app, "take");
	s[0] = STACK(&m, func_loc(&m, m.app, "one"), wait);
	s[1] = STACK(&m, func_loc(&m, m.app, "two"), wait);
	kind_of(&m, s[0], "futex");
	kind_of(&m, s[1], "futex");
	for (int i = 0; i < 10; i++)
		add_wait(&m, s[i & 1], 0, (i + 1) * 20, 10);
	table_is(&m, "take 10 100\n");
	maker_fini(&m);
}

/* What tells: by hand. */
static void test_tell(void **state)
{
	struct wait_called v[] = {
		{ .callers = { 1, 2, 3 }, .weight = 50, .row = 0 },
		{ .callers = { 1, 2, 4 }, .weight = 40, .row = 1 },
		{ .callers = { 1, 5, 3 }, .weight = 10, .row = 2 },
		{ .callers = { 9, PROF_NONE, PROF_NONE }, .weight = 1, .row = 3 },
	};
	static const uint32_t want[] = { 3, 4, 5, PROF_NONE };

	(void)state;
	wait_callers_find(v, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(v[i].from, want[v[i].row]);
	wait_callers_find(v, 0);
	/* the same stack twice tells nothing */
	v[0] = v[1] = (struct wait_called){ .callers = { 1, 2, 3 }, .weight = 0 };
	wait_callers_find(v, 2);
	assert_int_equal(v[0].from, PROF_NONE);
}

static void a_call_without_its_file_adds_nothing(void **state)
{
	static const struct {
		const char *kinds[4], *want;
	} cases[] = {
		{ { "read" }, "read" },
		{ { "read", "read pipe" }, "read pipe" },
		{ { "read pipe", "read" }, "read pipe" },
		{ { "read pipe", "read socket" }, "read" },
		{ { "read pipe", "read socket", "read file" }, "read" },
		{ { "read pipe", "read socket", "read", "read pipe" }, "read" },
		{ { "read", "write pipe" }, "" },
		{ { "re", "read pipe" }, "" },
		{ { "read", "futex", "read" }, "" },
		{ { "futex" }, "futex" },
	};
	struct maker m;
	uint32_t stacks[COUNT(cases)], *kinds;

	(void)state;
	make(&m, 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%zu", i);
		stacks[i] = STACK(&m, func_loc(&m, m.app, name));
		for (size_t k = 0; k < 4 && cases[i].kinds[k]; k++)
			kind_of(&m, stacks[i], cases[i].kinds[k]);
	}
	kinds = wait_kinds_of_nodes(&m.p);
	assert_non_null(kinds);
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(profile_cstr(&m.p, kinds[stacks[i]]), cases[i].want);
	free(kinds);
	maker_fini(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_without_its_file_adds_nothing),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_idle_polled),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
