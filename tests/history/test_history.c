// SPDX-License-Identifier: GPL-2.0-or-later
/* Batches as text, and changes whose truth is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/test.h"
#include "history/changes.h"
#include "history/detail.h"
#include "history/verdict.h"
#include "random.h"

static const char head[] = "tally-history 1\ncommit\tc1\ntime\t7\nrecorded\t8\n"
	"benchmark\tdefault\ncpu\tFast\nkernel\t6.1.2\nevent\tcpu-clock\n"
	"settings\t4999 Hz\nunit\tns\nper-sample\t200040\nruns\t2\n";

static int parse(struct history *h, const char *rest, struct error *err)
{
	struct buf text = { 0 };
	int rc;

	buf_str(&text, head);
	buf_str(&text, rest);
	rc = history_parse(h, "x", buf_cstr(&text), text.n, err);
	buf_fini(&text);
	return rc;
}

static void test_parse(void **state)
{
	struct history h;
	struct error err;

	(void)state;
	assert_int_equal(history_init(&h, &err), 0);
	assert_int_equal(parse(&h, "f\t10 12.5\tapp\ta\\09b\t\n"
			       "k\t1 2\t[kernel]\tirq\t\nend\t2\n", &err), 0);
	assert_int_equal(h.batches.n, 1);
	assert_int_equal(h.batches.v[0].time, 7);
	assert_int_equal(h.batches.v[0].runs, 2);
	assert_string_equal(history_str(&h, h.funcs.v[0].name), "a\tb");
	assert_true(h.funcs.v[1].kernel);
	assert_true(h.counts.v[1] == 12.5);
	history_fini(&h);
}

/* The statuses of version 3, of which earlier ones know nothing. */
static void test_ended(void **state)
{
	static const char *const bad[] = { "ended\t0\n", "ended\t0 0 0\n",
		"ended\t0 x\n", "ended\t0 -1\n", "ended\t0 \n",
		"ended\t0 0\nended\t0 0\n" };
	struct history h;
	struct error err;

	(void)state;
	assert_int_equal(history_init(&h, &err), 0);
	assert_int_equal(parse(&h, "f\t10 12\tapp\ta\t\nend\t1\n", &err), 0);
	assert_int_equal(parse(&h, "ended\t256 -\nf\t10 12\tapp\ta\t\n"
			       "end\t1\n", &err), 0);
	assert_true(history_ended(&h, &h.batches.v[0], 0) < 0);
	assert_int_equal(history_ended(&h, &h.batches.v[1], 0), 256);
	assert_true(history_ended(&h, &h.batches.v[1], 1) < 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct buf text = { 0 };

		buf_printf(&text, "%sf\t10 12\tapp\ta\t\nend\t1\n", bad[i]);
		assert_true(parse(&h, buf_cstr(&text), &err) < 0);
		buf_fini(&text);
	}
	history_fini(&h);
}

#define FUNC "f\t10 11\tapp\ta\t\n"
#define DETAIL "d\ta.c\t5\t0000000000000001\t"

static void test_details(void **state)
{
	struct history h;
	struct error err;
	const struct history_detail *d;

	(void)state;
	assert_int_equal(history_init(&h, &err), 0);
	assert_int_equal(parse(&h, "recording\t"
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
		"\tdir/my file\n" FUNC DETAIL "00000007ffffffff\nl\t9\t3\n"
		"c\t12\tmain\nf\t1 1\tapp\tb\t\nend\t2\n", &err), 0);
	assert_int_equal(h.batches.v[0].n, 2);
	assert_int_equal(h.batches.v[0].nrecordings, 1);
	assert_int_equal(h.recordings.v[0].hash[1], 0x11);
	assert_string_equal(history_str(&h, h.recordings.v[0].path),
			    "dir/my file");
	d = detail_find(&h, 0, h.costs.v[0].func);
	assert_non_null(d);
	assert_null(detail_find(&h, 0, h.costs.v[1].func));
	assert_string_equal(history_str(&h, d->file), "a.c");
	assert_int_equal(d->line, 5);
	assert_int_equal(d->code, 1);
	assert_int_equal(d->nhashes, 2);
	assert_int_equal(h.hashes.v[d->first_hash + 1], UINT32_MAX);
	assert_int_equal(d->nparts, 2);
	assert_false(h.parts.v[0].caller);
	assert_int_equal(h.parts.v[0].key, 3);
	assert_string_equal(history_str(&h, h.parts.v[1].key), "main");
	history_fini(&h);
}

static void test_refused(void **state)
{
	static const struct {
		const char *rest, *why;
	} rows[] = {
		{ "", "truncated" },
		{ "end\t1\n", "truncated" },
		{ "end\t0\nmore\n", "truncated" },
		{ "f\t10\tapp\ta\t\nend\t1\n", "line 13" },
		{ "f\t10 11 12\tapp\ta\t\nend\t1\n", "line 13" },
		{ "f\t10 -1\tapp\ta\t\nend\t1\n", "line 13" },
		{ "f\t10 1e99\tapp\ta\t\nend\t1\n", "line 13" },
		{ "f\t10 11\tapp\ta\nend\t1\n", "line 13" },
		{ "d\ta.c\t5\t0000000000000001\t\nend\t0\n", "without a function" },
		{ FUNC "l\t5\t3\nend\t1\n", "without a function" },
		{ FUNC DETAIL "\n" DETAIL "\nend\t1\n", "twice" },
		{ FUNC DETAIL "0000000\nend\t1\n", "a sketch" },
		{ FUNC DETAIL "0000000g\nend\t1\n", "order" },
		{ FUNC DETAIL "0000000200000001\nend\t1\n", "order" },
		{ FUNC "d\ta.c\t5\t01\t\nend\t1\n", "a sketch" },
		{ FUNC "d\ta.c\t-5\t0000000000000001\t\nend\t1\n", "line number" },
		{ FUNC DETAIL "\nl\t5\t9999999999\nend\t1\n", "line number" },
		{ FUNC DETAIL "\nl\tx\t9\nend\t1\n", "a count" },
		{ "recording\t00\tx\nend\t0\n", "SHA-256" },
	};
	struct history h;
	struct error err;

	(void)state;
	assert_int_equal(history_init(&h, &err), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&h, rows[i].rest, &err), -ERR_FORMAT);
		assert_non_null(strstr(err.msg, rows[i].why));
		assert_int_equal(h.batches.n, 0);
		assert_int_equal(h.costs.n, 0);
		assert_int_equal(h.counts.n, 0);
		assert_int_equal(h.details.n, 0);
		assert_int_equal(h.recordings.n, 0);
	}
	assert_int_equal(history_parse(&h, "x", "tally-history 3\n", 16, &err),
			 -ERR_FORMAT);
	history_fini(&h);
}

/* Values of standard deviation 1 % around `level`, then around a later one. */
static void make(double *y, size_t n, size_t at, double later, uint64_t seed)
{
	struct rng r = rng_seed(seed);

	for (size_t i = 0; i < n; i++)
		y[i] = 0.01 * rng_normal(&r) + (i >= at ? later : 0);
}

static const double even[120] = { [0 ... 119] = 0.01 * 0.01 };

static void test_cuts(void **state)
{
	double y[100];
	size_t cuts[100], wrong = 0, near = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		make(y, 100, 100, 0, seed);
		wrong += (size_t)changes_cut(y, 100, even, NULL, cuts);
		make(y, 100, 60, log(1.05), seed);
		if (changes_cut(y, 100, even, NULL, cuts) == 1)
			near += cuts[0] >= 59 && cuts[0] <= 61;
	}
	/* at five standard errors, of 20,000 places */
	assert_in_range(wrong, 0, 3);
	/* five standard deviations are dated to one place or the next */
	assert_in_range(near, 190, 200);
}

/* Two changes, of which one goes back; one too small to be any. */
static void test_several(void **state)
{
	double y[120];
	size_t cuts[120];

	(void)state;
	make(y, 120, 40, log(1.1), 7);
	for (size_t i = 80; i < 120; i++)
		y[i] -= log(1.1);
	assert_int_equal(changes_cut(y, 120, even, NULL, cuts), 2);
	assert_in_range(cuts[0], 39, 41);
	assert_in_range(cuts[1], 79, 81);
	make(y, 120, 60, log(1.02), 7);
	assert_int_equal(changes_cut(y, 120, even, NULL, cuts), 0);
	assert_int_equal(changes_cut(y, 1, even, NULL, cuts), 0);
}

/* No change is inside a commit that was recorded several times. */
static void test_edges(void **state)
{
	double y[60];
	size_t cuts[60];
	bool edge[60];
	long n;

	(void)state;
	for (size_t i = 0; i < 60; i++)
		edge[i] = i % 3 == 0;
	make(y, 60, 30, log(1.2), 3);
	/* the first recording of the new commit is out of line */
	y[30] -= 0.15;
	n = changes_cut(y, 60, even, edge, cuts);
	assert_true(n >= 1);
	for (long i = 0; i < n; i++)
		assert_int_equal(cuts[i] % 3, 0);
}

static void test_spread(void **state)
{
	double y[2000], tmp[2000], s;

	(void)state;
	make(y, 2000, 1000, 5, 11);
	s = series_spread(y, 2000, tmp);
	/* of the noise, whatever the step in the middle */
	assert_true(s > 0.0095 && s < 0.0125);
}

static uint32_t add_func(struct history *h, const char *name)
{
	struct history_func f = { .image = strtab_add(&h->str, "app"),
				  .name = strtab_add(&h->str, name) };

	return history_func(h, &f);
}

/* A batch of n functions, at most 12, on a machine that is `speed` as slow; `slow`
 * makes the third one slower. */
static void add_some(struct history *h, struct rng *r, const char *commit,
		     uint32_t n, double speed, double slow)
{
	struct batch b = { .per_sample = 1000, .first_ended = UINT32_MAX,
			   .runs = 3, .n = n,
			   .first = (uint32_t)h->costs.n,
			   .recorded = (int64_t)h->batches.n };

	b.commit = strtab_add(&h->str, commit);
	for (uint32_t f = 0; f < n; f++) {
		struct history_cost c = { .counts = (uint32_t)h->counts.n };
		char name[8];

		snprintf(name, sizeof(name), "f%u", f);
		c.func = add_func(h, name);
		for (int k = 0; k < 3; k++)
			assert_int_equal(vec_push(&h->counts, 3000.0 / (f + 1) *
				speed * (f == 2 ? slow : 1) *
				exp(0.01 * rng_normal(r))), 0);
		assert_int_equal(vec_push(&h->costs, c), 0);
	}
	assert_int_equal(vec_push(&h->batches, b), 0);
}

static void add_batch(struct history *h, struct rng *r, const char *commit,
		      double speed, double slow)
{
	add_some(h, r, commit, 12, speed, slow);
}

static struct verdict verdict(double speed, double slow, size_t stored)
{
	static const uint32_t id[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	struct verdict_options o = verdict_defaults();
	struct rng r = rng_seed(5);
	struct history h;
	struct verdict v;
	char commit[8];

	assert_int_equal(history_init(&h, NULL), 0);
	for (size_t i = 0; i < stored; i++) {
		snprintf(commit, sizeof(commit), "c%zu", i);
		add_batch(&h, &r, commit, exp(0.03 * rng_normal(&r)), 1);
	}
	add_batch(&h, &r, "new", speed, slow);
	assert_int_equal(verdict_reach(&h, id, stored, id + stored, 1, &o, &v,
				       NULL), 0);
	if (v.rows.n && v.slower)
		assert_string_equal(history_str(&h, h.funcs.v[v.rows.v[0].func]
							    .name), "f2");
	history_fini(&h);
	return v;
}

/* Commits in the order of their repository, whatever their times; those it does not know
 * by time. */
static void test_order(void **state)
{
	static const struct {
		const char *commit;
		int64_t time;
		uint32_t rank;
	} rows[] = {
		/* c and d were made by a clock that was late */
		{ "x", 35, U64MAP_NONE }, { "c", 12, 3 }, { "e", 50, 5 },
		{ "y", 5, U64MAP_NONE }, { "b", 20, 2 }, { "d", 13, 4 },
		{ "z", 20, U64MAP_NONE }, { "a", 10, 1 }, { "w", 60, U64MAP_NONE },
	};
	struct history_classes classes;
	struct u64map order = { 0 };
	struct rng r = rng_seed(1);
	struct history h;
	char found[32] = "";

	(void)state;
	assert_int_equal(history_init(&h, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		add_batch(&h, &r, rows[i].commit, 1, 1);
		h.batches.v[i].time = rows[i].time;
		if (rows[i].rank != U64MAP_NONE)
			*u64map_slot(&order, h.batches.v[i].commit) = rows[i].rank;
	}
	assert_int_equal(history_classify(&h, NULL, &order, &classes, NULL), 0);
	assert_int_equal(classes.v.n, 1);
	for (size_t i = 0; i < classes.v.v[0].batches.n; i++)
		strcat(found, history_str(&h, h.batches.v[classes.v.v[0].batches.v[i]]
						      .commit));
	/* z is as old as b, after which c and d came by the repository */
	assert_string_equal(found, "yabcdzxew");
	history_classes_fini(&classes);
	u64map_fini(&order);
	history_fini(&h);
}

/* A steady machine that costs `speed` times as much from the 20th of 40 batches on, and
 * n functions.  Returns how many of them changed, and whether the whole run did. */
static size_t changed(uint32_t n, double speed, bool *total)
{
	struct rng r = rng_seed(n);
	struct cost_series s;
	struct changes c;
	struct history h;
	uint32_t id[40];
	char commit[8];
	size_t found = 0;

	assert_int_equal(history_init(&h, NULL), 0);
	for (uint32_t i = 0; i < 40; i++) {
		id[i] = i;
		snprintf(commit, sizeof(commit), "c%u", i);
		add_some(&h, &r, commit, n, (i < 20 ? 1 : speed) *
			 exp(0.01 * rng_normal(&r)), 1);
	}
	assert_int_equal(series_build(&h, id, 40, 0, 0.004, &s, NULL), 0);
	assert_int_equal(changes_find(&s, &c, NULL), 0);
	*total = false;
	for (size_t i = 0; i < c.v.n; i++) {
		*total |= c.v.v[i].func == SERIES_TOTAL;
		found += c.v.v[i].func != SERIES_TOTAL;
	}
	changes_fini(&c);
	series_fini(&s);
	history_fini(&h);
	return found;
}

/* A run got faster by a fifth ten batches ago, and costs as much as before now. */
static void test_total(void **state)
{
	struct verdict_options o = verdict_defaults();
	struct rng r = rng_seed(5);
	uint32_t id[21];
	struct history h;
	struct verdict v;
	char commit[8];

	(void)state;
	assert_int_equal(history_init(&h, NULL), 0);
	for (uint32_t i = 0; i < 21; i++) {
		id[i] = i;
		snprintf(commit, sizeof(commit), "c%u", i);
		add_batch(&h, &r, commit, (i < 10 || i == 20 ? 1 : 0.8) *
			  exp(0.01 * rng_normal(&r)), 1);
	}
	assert_int_equal(verdict_reach(&h, id, 20, id + 20, 1, &o, &v, NULL), 0);
	assert_true(v.total.slower);
	assert_true(v.total.low < 1.25 && v.total.high > 1.25);
	assert_true(v.total.ratio > 1.2 && v.total.ratio < 1.3);
	assert_int_equal(v.slower, 0);
	verdict_fini(&v);
	history_fini(&h);
}

/* Adds a function to the last batch. */
static void add_function(struct history *h, const char *name, double samples)
{
	struct history_cost c = { add_func(h, name), (uint32_t)h->counts.n };

	for (int k = 0; k < 3; k++)
		assert_int_equal(vec_push(&h->counts, samples), 0);
	assert_int_equal(vec_push(&h->costs, c), 0);
	h->batches.v[h->batches.n - 1].n++;
}

/* Twenty batches, then one in which a function of 0.2 % of the program has 1 %, and there
 * is another one of 1.9 %. */
static void test_small(void **state)
{
	struct verdict_options o = verdict_defaults();
	struct rng r = rng_seed(5);
	uint32_t id[21];
	const char *slower = "", *new = "";
	struct history h;
	struct verdict v;
	char commit[8];

	(void)state;
	assert_int_equal(history_init(&h, NULL), 0);
	for (uint32_t i = 0; i < 21; i++) {
		id[i] = i;
		snprintf(commit, sizeof(commit), "c%u", i);
		add_batch(&h, &r, commit, 1, 1);
		/* of 9,310 */
		add_function(&h, "tiny", i < 20 ? 18 + i % 3 : 93);
		if (i == 20)
			add_function(&h, "more", 180);
	}
	assert_int_equal(verdict_reach(&h, id, 20, id + 20, 1, &o, &v, NULL), 0);
	for (size_t i = 0; i < v.rows.n; i++) {
		const struct verdict_row *row = &v.rows.v[i];
		const char *name = history_str(&h, h.funcs.v[row->func].name);

		if (row->status == VERDICT_SLOWER)
			slower = name;
		if (row->status == VERDICT_NEW)
			new = name;
		/* nothing below the threshold is reported */
		assert_true(row->visible == 0 || row->visible > o.threshold);
	}
	assert_string_equal(slower, "tiny");
	assert_string_equal(new, "more");
	assert_int_equal(v.answer, VERDICT_REGRESSED);
	verdict_fini(&v);
	history_fini(&h);
}

/* Returns the change of a function, of which a history must show one. */
static const struct change *change_of(const struct changes *c,
				      const struct cost_series *s, const char *name)
{
	const struct change *found = NULL;

	for (size_t i = 0; i < c->v.n; i++) {
		const struct change *x = &c->v.v[i];

		if (x->func == SERIES_TOTAL ||
		    strcmp(history_str(s->h, s->h->funcs.v[s->funcs.v[x->func].func]
						     .name), name))
			continue;
		assert_null(found);
		found = x;
	}
	assert_non_null(found);
	return found;
}

/* What changes mean for the program: an early one that triples a function, one that is
 * new and one that is gone. */
static void test_impact(void **state)
{
	struct rng r = rng_seed(3);
	const struct change *x;
	struct cost_series s;
	struct changes c;
	struct history h;
	uint32_t id[40];
	char commit[8];

	(void)state;
	assert_int_equal(history_init(&h, NULL), 0);
	for (uint32_t i = 0; i < 40; i++) {
		id[i] = i;
		snprintf(commit, sizeof(commit), "c%u", i);
		add_batch(&h, &r, commit, 1, i < 5 ? 1 : 3);
		add_function(&h, i < 20 ? "before" : "after", i < 20 ? 300 : 500);
	}
	assert_int_equal(series_build(&h, id, 40, 0, 0.004, &s, NULL), 0);
	assert_int_equal(changes_find(&s, &c, NULL), 0);
	x = change_of(&c, &s, "f2");
	/* 2,000 samples more, of 9,310 and 300 before */
	assert_int_equal(x->kind, CHANGE_COST);
	assert_true(fabs(x->impact - 2000.0 / 9610) < 0.01);
	x = change_of(&c, &s, "before");
	assert_int_equal(x->kind, CHANGE_GONE);
	assert_true(fabs(x->impact + 300.0 / 11610) < 0.002);
	x = change_of(&c, &s, "after");
	assert_int_equal(x->kind, CHANGE_NEW);
	assert_true(fabs(x->impact - 500.0 / 11810) < 0.002);
	changes_fini(&c);
	series_fini(&s);
	history_fini(&h);
}

/* Thirty batches of the same program, by chance of sampling alone, ten runs each and one
 * from batch `at` on.  Returns the number of changes. */
static size_t changed_by_chance(size_t at, uint64_t seed)
{
	struct rng r = rng_seed(seed);
	struct cost_series s;
	struct changes c;
	struct history h;
	uint32_t id[30];
	char name[8];
	size_t found;

	assert_int_equal(history_init(&h, NULL), 0);
	for (uint32_t i = 0; i < 30; i++) {
		struct batch b = { .per_sample = 1000, .first_ended = UINT32_MAX,
			   .runs = i < at ? 10 : 1,
				   .n = 12, .first = (uint32_t)h.costs.n };

		id[i] = i;
		snprintf(name, sizeof(name), "c%u", i);
		b.commit = strtab_add(&h.str, name);
		for (uint32_t f = 0; f < 12; f++) {
			struct history_cost x = { .counts = (uint32_t)h.counts.n };

			snprintf(name, sizeof(name), "f%u", f);
			x.func = add_func(&h, name);
			for (uint32_t k = 0; k < b.runs; k++)
				assert_int_equal(vec_push(&h.counts, (double)
					rng_binomial(&r, 100000, 300.0 / (f + 1) /
								 100000)), 0);
			assert_int_equal(vec_push(&h.costs, x), 0);
		}
		assert_int_equal(vec_push(&h.batches, b), 0);
	}
	assert_int_equal(series_build(&h, id, 30, 0, 0.004, &s, NULL), 0);
	assert_int_equal(changes_find(&s, &c, NULL), 0);
	found = c.v.n;
	changes_fini(&c);
	series_fini(&s);
	history_fini(&h);
	return found;
}

/* A batch of fewer runs differs more by chance. */
static void test_few_runs(void **state)
{
	size_t found = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		found += changed_by_chance(29, seed) + changed_by_chance(15, seed);
	/* at five standard errors, of 28,000 values */
	assert_in_range(found, 0, 1);
}

/* All functions by one factor: the machine. */
static void test_machine(void **state)
{
	static const double speed[] = { 1.06, 1.15, 1.3, 2, 0.8 };
	struct verdict v;
	bool total;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(changed(12, speed[i], &total), 0);
		assert_true(total);
		/* all of few */
		assert_int_equal(changed(3, speed[i], &total), 0);
		assert_true(total);
		v = verdict(speed[i] * speed[i], 1, 10);
		assert_int_equal(v.slower, 0);
		assert_int_equal(v.suspects, 0);
		verdict_fini(&v);
	}
	/* one that got slower besides is found */
	v = verdict(1.5, 1.25, 10);
	assert_int_equal(v.slower, 1);
	assert_true(v.rows.v[0].low < 1.25 && v.rows.v[0].high > 1.25);
	verdict_fini(&v);
}

static void test_verdict(void **state)
{
	struct verdict v = verdict(1, 1, 10);

	(void)state;
	assert_int_equal(v.answer, VERDICT_PASS);
	assert_true(v.mde > 0 && v.mde < 0.1);
	verdict_fini(&v);
	/* a slower machine is no slower function */
	v = verdict(1.06, 1, 10);
	assert_int_equal(v.slower, 0);
	verdict_fini(&v);
	v = verdict(1.06, 1.25, 10);
	assert_int_equal(v.answer, VERDICT_REGRESSED);
	assert_int_equal(v.slower, 1);
	assert_true(v.rows.v[0].low < 1.25 && v.rows.v[0].high > 1.25);
	assert_true(v.rows.v[0].ratio > 1.2 && v.rows.v[0].ratio < 1.3);
	verdict_fini(&v);
	v = verdict(1, 0.7, 10);
	assert_int_equal(v.answer, VERDICT_PASS);
	assert_int_equal(v.rows.v[0].status, VERDICT_FASTER);
	verdict_fini(&v);
	v = verdict(1, 2, 4);
	assert_true(v.learning);
	assert_int_equal(v.answer, VERDICT_INCONCLUSIVE);
	verdict_fini(&v);
}

/* Ten commits, then two of which each is `slow`; a slowdown that one batch cannot
 * prove. */
static struct verdict two_commits_of(double first, double second, uint64_t seed)
{
	static const uint32_t id[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct verdict_options o = verdict_defaults();
	struct rng r = rng_seed(seed);
	struct history h;
	struct verdict v;
	char commit[8];

	assert_int_equal(history_init(&h, NULL), 0);
	for (size_t i = 0; i < 10; i++) {
		snprintf(commit, sizeof(commit), "c%zu", i);
		add_batch(&h, &r, commit, exp(0.03 * rng_normal(&r)), 1);
	}
	add_batch(&h, &r, "last", 1, first);
	add_batch(&h, &r, "new", 1, second);
	assert_int_equal(verdict_reach(&h, id, 11, id + 11, 1, &o, &v, NULL), 0);
	history_fini(&h);
	return v;
}

static struct verdict two_commits(double first, double second)
{
	return two_commits_of(first, second, 7);
}

/* Adds details to a function of the last batch: code that begins at these numbers. */
static void add_code(struct history *h, size_t func, uint64_t code, uint32_t a,
		     uint32_t b)
{
	struct batch *batch = &h->batches.v[h->batches.n - 1];
	struct history_detail d = { .cost = batch->first + (uint32_t)func,
				    .code = code,
				    .first_hash = (uint32_t)h->hashes.n };

	if (!batch->ndetails++)
		batch->first_detail = (uint32_t)h->details.n;
	for (uint32_t i = 0; i < 20 && (i < 10 || b); i++, d.nhashes++)
		assert_int_equal(vec_push(&h->hashes, (i < 10 ? a : b) + i % 10),
				 0);
	assert_int_equal(vec_push(&h->details, d), 0);
}

struct move {
	const char *name;	/* of f5 in the new commit */
	double cost;		/* of f2, times what it and f5 cost; 0: no more than
				 * before */
	uint64_t code2, code5;
	uint32_t has2, has5;	/* f2's further code; f5's code */
	const char *slower, *moved;
	const char *allow;	/* list of allowed changes; NULL: none */
};

/* Eight commits, then one in which f5 has another name, or f2 costs what f5 did. */
static void check_move(const struct move *x)
{
	static const uint32_t id[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct verdict_options o = verdict_defaults();
	struct rng r = rng_seed(5);
	const char *slower = "", *moved = "";
	struct allow_list allow = { { 0 } };
	struct history h;
	struct verdict v;
	char commit[8];

	assert_int_equal(history_init(&h, NULL), 0);
	for (size_t i = 0; i < 9; i++) {
		struct batch *b;

		snprintf(commit, sizeof(commit), "c%zu", i);
		add_batch(&h, &r, commit, 1, i == 8 && x->cost ? x->cost * 1.5 : 1);
		b = &h.batches.v[i];
		add_code(&h, 2, i == 8 ? x->code2 : 1, 100, i == 8 ? x->has2 : 0);
		if (i == 8 && x->cost)
			for (int k = 0; k < 3; k++)
				h.counts.v[h.costs.v[b->first + 5].counts +
					   (uint32_t)k] = 0;
		else
			add_code(&h, 5, i == 8 ? x->code5 : 2,
				 i == 8 ? x->has5 : 200, 0);
		if (i == 8)
			h.costs.v[b->first + 5].func = add_func(&h, x->name);
	}
	if (x->allow)
		assert_int_equal(allow_parse(x->allow, strlen(x->allow), "list",
					     &allow, NULL), 0);
	o.allow = &allow;
	assert_int_equal(verdict_reach(&h, id, 8, id + 8, 1, &o, &v, NULL), 0);
	for (size_t i = 0; i < v.rows.n; i++) {
		const char *name = history_str(&h, h.funcs.v[v.rows.v[i].func]
							   .name);

		if (v.rows.v[i].status == VERDICT_SLOWER)
			slower = name;
		if (v.rows.v[i].status == VERDICT_MOVED)
			moved = name;
	}
	assert_string_equal(slower, x->slower);
	assert_string_equal(moved, x->moved);
	assert_int_equal(v.answer, *slower ? VERDICT_REGRESSED : VERDICT_PASS);
	verdict_fini(&v);
	history_fini(&h);
	allow_fini(&allow);
}

static void test_moved_code(void **state)
{
	static const struct move rows[] = {
		/* renamed; of other code; with half of the code */
		{ "g5", 0, 1, 2, 0, 200, "", "g5", NULL },
		{ "g5", 0, 1, 3, 0, 300, "g5", "", NULL },
		{ "g5", 0, 1, 3, 0, 205, "", "g5", NULL },
		/* … and allowed, by its name in reports */
		{ "_ZN2ns2g5Ei", 0, 1, 3, 0, 300, "_ZN2ns2g5Ei", "",
		  "g5 -- other" },
		{ "_ZN2ns2g5Ei", 0, 1, 3, 0, 300, "", "", "ns::g5(…) -- needed" },
		/* f2 has f5's code and costs the same, or more; f2's code is as it
		 * was, or changed otherwise */
		{ "f5", 1, 4, 2, 200, 0, "", "f2", NULL },
		{ "f5", 1.2, 4, 2, 200, 0, "f2", "", NULL },
		{ "f5", 1, 1, 2, 0, 0, "f2", "", NULL },
		{ "f5", 1, 4, 2, 300, 0, "f2", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_move(&rows[i]);
}

static void test_two_commits(void **state)
{
	const double slow = 1.085;
	struct verdict v = verdict(1, slow, 10);

	(void)state;
	assert_int_equal(v.slower, 0);
	assert_true(v.suspects >= 1);
	verdict_fini(&v);
	v = two_commits(slow, slow);
	assert_int_equal(v.answer, VERDICT_REGRESSED);
	assert_int_equal(v.slower, 1);
	assert_true(v.rows.v[0].before);
	assert_true(v.rows.v[0].low < slow && v.rows.v[0].high > slow);
	verdict_fini(&v);
	/* the last commit was as before: the new one is judged by itself */
	for (uint64_t seed = 1; seed <= 90; seed++) {
		v = two_commits_of(0.995, 1.06 + 0.01 * (double)(seed % 3), seed);
		for (size_t i = 0; i < v.rows.n; i++)
			assert_false(v.rows.v[i].before);
		verdict_fini(&v);
	}
	/* mended since: the new commit is not to blame */
	v = two_commits(1.3, 1);
	assert_int_equal(v.slower, 0);
	assert_int_equal(v.answer, VERDICT_PASS);
	verdict_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_details),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_few_runs),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_impact),
		cmocka_unit_test(test_total),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_two_commits),
		cmocka_unit_test(test_moved_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
