// SPDX-License-Identifier: GPL-2.0-or-later
/* Several recordings as one: what is in them both is one thing, samples, runs and
 * losses are those of all; what cannot be put together is refused. */
#include "make_profile.h"

#include <stdio.h>
#include <string.h>

#include "profile/merge.h"
#include "views/diff/diff.h"

struct group {
	struct maker m[3];
	struct reader *r[3];
	size_t n;
	struct reader *all;
};

static const char *const paths[] = { "a.tally", "b.tally", "c.tally" };

static int merge(struct group *g, struct error *err)
{
	*err = (struct error){ 0 };
	for (size_t i = 0; i < g->n; i++)
		if (!g->r[i])
			g->r[i] = maker_read(&g->m[i]);
	return recordings_merge(g->r, paths, g->n, &g->all, err);
}

static void done(struct group *g)
{
	reader_close(g->all);
	for (size_t i = 0; i < g->n; i++) {
		reader_close(g->r[i]);
		maker_fini(&g->m[i]);
	}
}

static struct group group_of(size_t n, unsigned int events)
{
	struct group g = { .n = n };

	for (size_t i = 0; i < n; i++)
		maker_init(&g.m[i], events);
	return g;
}

/* main calls `callee`, in a stack that says how it ends. */
static void add(struct maker *m, const char *callee, uint64_t main_at,
		unsigned int times)
{
	uint32_t main_fn = maker_func(m, m->app, "main", "main.c", 10);
	uint32_t fn = maker_func(m, m->lib, callee, "lib.c", 20), loc[2];
	uint32_t end = profile_end(&m->p, PROF_MARK_BROKEN,
				   PROF_END_NO_DATA, m->lib);

	m->next_vaddr = main_at;
	loc[0] = maker_loc(m, main_fn, 12);
	loc[1] = maker_loc(m, fn, 22);
	end = profile_node(&m->p, end, loc[0]);
	maker_samples(m, profile_node(&m->p, end, loc[1]), 0, 0, 10, times);
}

/* The number of samples of a stack that ends in a function of this name. */
static size_t count(struct reader *r, const char *name)
{
	const struct profile *p = reader_profile(r);
	struct sample_batch b;
	size_t n = 0;

	reader_rewind(r);
	while (reader_next(r, &b))
		for (size_t i = 0; i < b.n; i++) {
			uint32_t f = profile_loc_frame(
				p, p->nodes.v[b.stack[i]].loc);

			assert_int_not_equal(f, PROF_NONE);
			f = p->frames.v[f].func;
			n += !strcmp(profile_cstr(p, p->funcs.v[f].name), name);
		}
	return n;
}

static void test_tables(void **state)
{
	struct group g = group_of(2, 1);
	struct prof_code code = { .vaddr = 0x1000, .size = 3 };
	const struct profile *p;
	struct error err;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct maker *m = &g.m[i];

		/* ids differ: the second one's tables begin with others */
		if (i)
			add(m, "only_second", 0x5000, 3);
		add(m, "work", 0x1000, i ? 7 : 5);
		code.image = m->app;
		buf_bytes(&m->p.code_bytes, "abc", 3);
		assert_int_equal(vec_push(&m->p.codes, code), 0);
		profile_set_env(&m->p, PROF_NONE, "arch", "x86_64");
		profile_set_env(&m->p, PROF_NONE, "hostname", i ? "b" : "a");
		assert_int_equal(vec_push(&m->p.losses, (struct prof_loss){
			.event = PROF_NONE, .time_ns = 2000000000,
			.count = i + 1 }), 0);
	}
	if (merge(&g, &err) < 0)
		fail_msg("%s", err.msg);
	p = reader_profile(g.all);
	assert_int_equal(count(g.all, "work"), 12);
	assert_int_equal(count(g.all, "only_second"), 3);
	assert_int_equal(p->images.n, 3);
	assert_int_equal(p->funcs.n, 3);	/* main, work, only_second */
	assert_int_equal(p->ends.n, 1);
	assert_int_equal(p->locs.n, 4);
	/* root, end, main twice, and what they called */
	assert_int_equal(p->nodes.n, 6);
	assert_int_equal(p->codes.n, 1);
	assert_int_equal(p->code_bytes.n, 3);
	assert_int_equal(p->runs.n, 2);
	assert_int_equal(p->threads.v[1].run, 1);
	assert_int_equal(p->losses.n, 2);
	assert_string_equal(profile_env(p, PROF_NONE, "arch"), "x86_64");
	assert_string_equal(profile_env(p, PROF_NONE, "hostname"), "a, b");
	assert_string_equal(reader_damage(g.all)->message, "");
	/* the second begins where the first ended */
	assert_int_equal(p->runs.v[0].end_ns, 11000000000);
	assert_int_equal(p->runs.v[1].start_ns, 11000000000);
	assert_int_equal(p->runs.v[1].end_ns, 21000000000);
	assert_int_equal(p->losses.v[1].time_ns, 12000000000);
	done(&g);
}

/* One image of two builds is two, and a diff takes them for one name. */
static void test_builds(void **state)
{
	struct group g = group_of(2, 1);
	struct error err;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		g.m[i].p.images.v[g.m[i].lib].build_id = (struct build_id){
			.len = 4, .bytes = { (uint8_t)(i + 1) } };
		add(&g.m[i], "work", 0x1000 + 0x100 * i, 4);
	}
	if (merge(&g, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(reader_profile(g.all)->images.n, 4);
	assert_int_equal(count(g.all, "work"), 8);
	done(&g);
}

/* The first recording's only sample is of event 0, the second's of event 1. */
static void one_of_each_event(struct group *g)
{
	struct sample_batch b;

	assert_true(reader_next(g->all, &b));
	assert_int_equal(b.n, 2);
	assert_int_equal(b.event[0], 0);
	assert_int_equal(b.event[1], 1);
}

static void test_events(void **state)
{
	struct group g = group_of(2, 2);
	struct error err;

	(void)state;
	/* in another order, at another rate: the same */
	g.m[1].p.events.v[0].name = g.m[1].p.events.v[0].actual =
		profile_str(&g.m[1].p, "event1");
	g.m[1].p.events.v[1].name = g.m[1].p.events.v[1].actual =
		profile_str(&g.m[1].p, "event0");
	g.m[1].p.events.v[1].freq = 4000;
	add(&g.m[0], "work", 0x1000, 1);
	add(&g.m[1], "work", 0x1000, 1);	/* its event 0: event1 */
	assert_int_equal(merge(&g, &err), 0);
	assert_int_equal(reader_profile(g.all)->events.n, 2);
	one_of_each_event(&g);
	done(&g);

	g = group_of(2, 2);
	g.m[1].p.events.v[1].actual = profile_str(&g.m[1].p, "other");
	assert_int_equal(merge(&g, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "only the second measured other"));
	done(&g);
	g = group_of(2, 1);
	assert_int_equal(vec_push(&g.m[0].p.events, g.m[0].p.events.v[0]), 0);
	g.m[0].p.events.v[1].actual = profile_str(&g.m[0].p, "more");
	assert_int_equal(merge(&g, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "only the first measured more"));
	done(&g);
}

/* `-e cpu-clock,cpu-clock`: each is one of the other recording's. */
static void test_equal_events(void **state)
{
	struct group g = group_of(2, 2);
	struct error err;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct maker *m = &g.m[i];

		m->p.events.v[1].name = m->p.events.v[0].name;
		m->p.events.v[1].actual = m->p.events.v[0].actual;
		add(m, "work", 0x1000, 1);
		m->samples.v[0].event = (uint32_t)i;
	}
	if (merge(&g, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(reader_profile(g.all)->events.n, 2);
	one_of_each_event(&g);
	done(&g);

	g = group_of(2, 1);
	assert_int_equal(vec_push(&g.m[1].p.events, g.m[1].p.events.v[0]), 0);
	assert_int_equal(merge(&g, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "only the second measured event0"));
	done(&g);
}

/* What differs becomes a list; what is not said, or in it, adds nothing. */
static void test_facts(void **state)
{
	static const struct {
		const char *value[3], *want;
	} facts[] = {
		{ { "a", "", "a" }, "a" },
		{ { "", "b", "" }, "b" },
		{ { "", "", "" }, "" },
		{ { "xa", "a", "x" }, "a, x, xa" },
		{ { "a, b", "b", "a" }, "a, b" },
		{ { "ab", "b", "a" }, "a, ab, b" },
	};
	struct error err;

	(void)state;
	for (size_t f = 0; f < sizeof(facts) / sizeof(facts[0]); f++) {
		struct group g = group_of(3, 1);

		for (size_t i = 0; i < 3; i++)
			assert_int_equal(profile_set_env(
				&g.m[i].p, PROF_NONE, "fact",
				facts[f].value[i]), 0);
		if (merge(&g, &err) < 0)
			fail_msg("%s", err.msg);
		assert_string_equal(profile_env(reader_profile(g.all),
						PROF_NONE, "fact"),
				    facts[f].want);
		done(&g);
	}
}

/* Tables as a hostile file may hold them: the time is theirs times their size's
 * logarithm, or this never ends. */
static void test_many(void **state)
{
	enum { MANY = 300000 };
	struct group g = group_of(2, 1);
	struct error err;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct profile *p = &g.m[i].p;
		struct prof_image im = p->images.v[g.m[i].lib];
		char key[16];

		for (uint32_t k = 0; k < MANY; k++) {
			im.base = k;
			assert_int_equal(vec_push(&p->images, im), 0);
			snprintf(key, sizeof(key), "key%u", k);
			assert_int_equal(profile_set_env(p, PROF_NONE, key,
							 "value"), 0);
		}
		add(&g.m[i], "work", 0x1000, 1);
	}
	if (merge(&g, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(reader_profile(g.all)->images.n, MANY + 2);
	assert_int_equal(count(g.all, "work"), 2);
	done(&g);

	/* such a number of events is refused */
	g = group_of(2, 1);
	for (size_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < MANY; k++)
			assert_int_equal(vec_push(&g.m[i].p.events,
						  g.m[i].p.events.v[0]), 0);
	assert_int_equal(merge(&g, &err), -ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "a.tally has 300001 events"));
	done(&g);
}

/* Runs of 100, 100 and 400 a side's function: the mean is 200, the median 100;
 * on the new side 120, 120, 120. */
static void test_median(void **state)
{
	static const unsigned int times[DIFF_SIDES][3] = { { 100, 100, 400 },
							   { 120, 120, 120 } };
	struct group g[DIFF_SIDES];
	struct reader *r[DIFF_SIDES];
	struct error err = { 0 };

	(void)state;
	for (int s = 0; s < DIFF_SIDES; s++) {
		g[s] = group_of(3, 1);
		for (size_t i = 0; i < 3; i++)
			add(&g[s].m[i], "work", 0x1000, times[s][i]);
		if (merge(&g[s], &err) < 0)
			fail_msg("%s", err.msg);
		r[s] = g[s].all;
	}
	for (int median = 0; median < 2; median++) {
		struct diff_spec spec = { .path = { "old", "new" },
					  .norm = DIFF_NORM_RUN,
					  .median = median };
		const struct cost_change *c;
		struct diff *d;

		assert_int_equal(key_list_parse("symbol", &spec.keys, &err), 0);
		if (diff_build(r, &spec, &d, &err) < 0)
			fail_msg("%s", err.msg);
		assert_int_equal(d->side[0].nruns, 3);
		c = diff_row_change(d, d->order.v[0], 0, false);
		assert_true(c->cost[0] == (median ? 1000 : 2000));
		assert_true(c->cost[1] == 1200);
		assert_true(c->low < c->change && c->change < c->high);
		assert_true(d->cols.v[0].total.cost[0] ==
			    (median ? 1000 : 2000));
		diff_free(d);
	}
	done(&g[0]);
	done(&g[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_builds),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_equal_events),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_median),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
