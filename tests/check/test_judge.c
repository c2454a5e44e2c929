// SPDX-License-Identifier: GPL-2.0-or-later
/* Decisions on made-up counts whose truth is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/test.h"
#include "check/judge.h"
#include "random.h"

enum { FUNCS = 30, RUNS = 10 };

struct counts {
	double cost[2 * RUNS * FUNCS];
	uint8_t noise[FUNCS];
	struct judge_input in;
	struct judge j;
};

/* Functions of 30, 15, 10, 7.5 … % with 1 % noise between runs. */
static void make(struct counts *c, size_t nbase, size_t nnew, double samples)
{
	struct rng g = rng_seed(42);
	double sum = 0;

	memset(c, 0, sizeof(*c));
	for (int f = 0; f < FUNCS; f++)
		sum += 1.0 / (1 + f);
	for (size_t r = 0; r < nbase + nnew; r++)
		for (int f = 0; f < FUNCS; f++) {
			double mean = samples / sum / (1 + f) *
				      exp(0.01 * rng_normal(&g));

			c->cost[r * FUNCS + (size_t)f] =
				round(mean + sqrt(mean) * rng_normal(&g));
		}
	c->in = (struct judge_input){ nbase, nnew, FUNCS, c->cost, c->noise,
				      NULL, NULL, NULL };
}

static void scale_new(struct counts *c, size_t f, double by)
{
	for (size_t r = c->in.nbase; r < c->in.nbase + c->in.nnew; r++)
		c->cost[r * FUNCS + f] *= by;
}

static void judge(struct counts *c)
{
	struct judge_options o = JUDGE_DEFAULTS;

	assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
}

static size_t count_status(const struct counts *c, enum judge_status s)
{
	size_t n = 0;

	for (size_t f = 0; f <= FUNCS; f++)
		n += c->j.rows[f].status == s;
	return n;
}

static struct counts *counts_new(void)
{
	struct counts *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	return c;
}

static void counts_free(struct counts *c)
{
	judge_fini(&c->j);
	free(c);
}

static void nothing_changed(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_int_equal(count_status(c, JUDGE_IMPROVED), 0);
	assert_false(c->j.total.regressed);
	assert_true(c->j.total.low < 1 && 1 < c->j.total.high);
	assert_true(c->j.rows[0].low < 1 && 1 < c->j.rows[0].high);
	assert_true(c->j.rows[0].visible > 0.02);
	assert_true(c->j.rows[20].visible > c->j.rows[0].visible);
	counts_free(c);
}

static void one_is_slower(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	scale_new(c, 2, 1.2);
	judge(c);
	assert_int_equal(c->j.rows[2].status, JUDGE_REGRESSED);
	assert_true(c->j.rows[2].gates);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 1);
	assert_true(c->j.rows[2].low < 1.2 && 1.2 < c->j.rows[2].high);
	assert_true(c->j.rows[2].q <= 0.01);
	assert_false(c->j.in_reference[2]);
	counts_free(c);
}

/* The machine's speed varies by a fifth between runs, and the new side happened to get
 * the faster ones.  Absolute costs then do not contradict relative ones. */
static void runs_vary_more_than_the_change(void **state)
{
	static const double speed[RUNS] = { 1.25, 0.8, 1.15, 0.85, 1.2,
					    0.75, 1.0, 1.3, 0.9, 0.8 };
	struct judge_options o = JUDGE_DEFAULTS;
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 50000);
	scale_new(c, 0, 1.15);
	for (size_t r = 0; r < 2 * RUNS; r++)
		for (size_t f = 0; f < FUNCS; f++)
			c->cost[r * FUNCS + f] *= speed[r < RUNS ? r : 2 * RUNS - 1 - r] *
						  (r < RUNS ? 1 : 0.85);
	o.same_machine = true;
	assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
	assert_false(c->j.drifted);
	assert_true(c->j.rows[0].low > 1.05);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 1);
	counts_free(c);
}

static void an_improvement_is_no_regression(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	scale_new(c, 0, 0.7);
	judge(c);
	assert_int_equal(c->j.rows[0].status, JUDGE_IMPROVED);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_true(c->j.total.improved);
	counts_free(c);
}

static void a_slower_machine_is_no_regression(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t f = 0; f < FUNCS; f++)
		scale_new(c, f, 1.08);
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_true(c->j.shifted);
	assert_true(fabs(c->j.shift - 0.08) < 0.02);
	assert_true(c->j.total.regressed && c->j.total.gates);
	counts_free(c);
}

/* A program that is nearly one function: when that is slower, so is the median
 * of the larger functions, and yet it is not the machine. */
static void one_large_function(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t r = 0; r < 2 * RUNS; r++) {
		c->cost[r * FUNCS] *= 15;
		for (size_t f = 3; f < FUNCS; f++)
			c->cost[r * FUNCS + f] = 0;
	}
	scale_new(c, 0, 1.1);
	scale_new(c, 2, 1.2);
	scale_new(c, 1, 0.8);
	judge(c);
	assert_false(c->j.shifted);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	assert_true(c->j.total.gates);
	counts_free(c);
}

/* Samples of two recorded programs: the first function was made to loop 30 times
 * instead of 25, the second is the same, the rest is the kernel's. */
static void one_of_two_functions(void **state)
{
	static const double samples[8][5] = {
		{ 651, 251, 12, 4, 7 }, { 645, 256, 5, 3, 12 },
		{ 645, 247, 7, 2, 15 }, { 656, 249, 17, 10, 18 },
		{ 767, 260, 23, 11, 11 }, { 774, 260, 18, 8, 14 },
		{ 770, 260, 13, 8, 10 }, { 771, 256, 13, 18, 11 },
	};
	struct counts *c = counts_new();

	(void)state;
	c->in = (struct judge_input){ 4, 4, FUNCS, c->cost, c->noise,
				      NULL, NULL, NULL };
	for (size_t r = 0; r < 8; r++)
		memcpy(c->cost + r * FUNCS, samples[r], sizeof(samples[r]));
	judge(c);
	assert_false(c->j.shifted);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	assert_true(c->j.rows[0].low < 1.2 && 1.2 < c->j.rows[0].high);
	assert_int_equal(c->j.rows[1].status, JUDGE_SAME);
	counts_free(c);
}

/* Runs of zlib's minigzip with deflate.c at -O0 (the last column: small functions
 * together): two functions cost more than twice as much, the largest a quarter
 * more, the rest the same.  The median of all that is nobody's. */
static void some_of_a_few_functions(void **state)
{
	static const double samples[16][6] = {
		{ 492, 125, 46, 16, 11, 13 }, { 494, 112, 38, 22, 10, 17 },
		{ 498, 117, 43, 20, 7, 13 },  { 505, 112, 44, 17, 4, 17 },
		{ 515, 98, 49, 21, 11, 17 },  { 508, 113, 42, 13, 8, 17 },
		{ 606, 126, 52, 26, 5, 22 },  { 506, 108, 38, 19, 5, 17 },
		{ 640, 272, 48, 68, 6, 17 },  { 648, 267, 50, 77, 4, 17 },
		{ 668, 235, 48, 61, 10, 16 }, { 612, 246, 51, 91, 6, 16 },
		{ 618, 320, 44, 64, 10, 19 }, { 633, 252, 49, 78, 6, 17 },
		{ 620, 269, 49, 74, 10, 15 }, { 611, 256, 50, 75, 3, 17 },
	};
	struct counts *c = counts_new();

	(void)state;
	c->in = (struct judge_input){ 8, 8, FUNCS, c->cost, c->noise,
				      NULL, NULL, NULL };
	for (size_t r = 0; r < 16; r++)
		memcpy(c->cost + r * FUNCS, samples[r], sizeof(samples[r]));
	judge(c);
	assert_false(c->j.shifted);
	assert_int_equal(c->j.rows[1].status, JUDGE_REGRESSED);
	assert_int_equal(c->j.rows[3].status, JUDGE_REGRESSED);
	assert_int_equal(c->j.rows[2].status, JUDGE_SAME);
	counts_free(c);
}

/* The largest function, more than half of all, is as it was: what many small ones have
 * in common is not everything. */
static void most_by_number_only(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t r = 0; r < 2 * RUNS; r++)
		c->cost[r * FUNCS] *= 5;
	for (size_t f = 1; f < 20; f++)
		scale_new(c, f, 1.15);
	judge(c);
	assert_false(c->j.shifted);
	assert_int_equal(c->j.rows[0].status, JUDGE_SAME);
	counts_free(c);
}

/* A function whose code changed says nothing of the machine. */
static void unchanged_code_decides(void **state)
{
	struct counts *c = counts_new();
	bool changed[FUNCS] = { false };

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t f = 0; f < 22; f++) {
		scale_new(c, f, 1.1);
		changed[f] = true;
	}
	judge(c);
	assert_true(c->j.shifted);
	judge_fini(&c->j);
	c->in.changed = changed;
	judge(c);
	assert_false(c->j.shifted);
	counts_free(c);
}

/* Of four functions it is they that changed, or the machine: who knows. */
static void few_are_not_everything(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t r = 0; r < 2 * RUNS; r++)
		for (size_t f = 4; f < FUNCS; f++)
			c->cost[r * FUNCS + f] = 0;
	for (size_t f = 0; f < 4; f++)
		scale_new(c, f, 1.1);
	judge(c);
	assert_false(c->j.shifted);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_true(c->j.total.regressed);
	counts_free(c);
}

/* 5 % more of everything, beside other load: no function is to blame. */
static void a_common_cause_is_no_regression(void **state)
{
	struct counts *c = counts_new();
	struct rng g = rng_seed(7);
	size_t accused = 0;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		make(c, RUNS, RUNS, 20000);
		for (size_t r = 0; r < 2 * RUNS; r++) {
			double by = exp(0.02 * rng_normal(&g)) *
				    (r < RUNS ? 1 : 1.06);

			for (size_t f = 0; f < FUNCS; f++)
				c->cost[r * FUNCS + f] *=
					f < 8 ? by * exp(0.005 * rng_normal(&g)) : 0;
		}
		judge(c);
		accused += count_status(c, JUDGE_REGRESSED) > 0;
		judge_fini(&c->j);
	}
	assert_int_equal(accused, 0);
	counts_free(c);
}

static void one_wild_run_is_no_regression(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, 5, 5, 20000);
	c->cost[7 * FUNCS + 3] *= 3;
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	counts_free(c);
}

/* Samples of _raw_spin_unlock_irqrestore in 20 runs of the same program: something
 * else ran beside one of them. */
static void one_burst_of_a_rare_function(void **state)
{
	static const double got[] = { 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
				      1, 0, 2, 0, 1, 2, 511, 1, 0, 2 };
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 5400);
	for (size_t r = 0; r < 2 * RUNS; r++)
		c->cost[r * FUNCS + FUNCS - 1] = got[r];
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	judge_fini(&c->j);
	/* nothing of it in the baseline: it is new, but in one run only */
	make(c, 3, 3, 5400);
	for (size_t r = 0; r < 6; r++)
		c->cost[r * FUNCS + FUNCS - 1] = r == 4 ? 511 : 0;
	judge(c);
	assert_int_equal(c->j.rows[FUNCS - 1].status, JUDGE_NEW);
	assert_false(c->j.rows[FUNCS - 1].gates);
	counts_free(c);
}

static void new_and_gone(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	for (size_t r = 0; r < RUNS; r++)
		c->cost[r * FUNCS + 1] = 0;
	for (size_t r = RUNS; r < 2 * RUNS; r++)
		c->cost[r * FUNCS + 4] = 0;
	judge(c);
	assert_int_equal(c->j.rows[1].status, JUDGE_NEW);
	assert_true(c->j.rows[1].gates);
	assert_int_equal(c->j.rows[4].status, JUDGE_REMOVED);
	assert_false(c->j.rows[4].gates);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_true(isinf(c->j.rows[1].ratio));
	counts_free(c);
}

static void one_run_a_side(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, 1, 1, 20000);
	scale_new(c, 0, 1.5);
	scale_new(c, 1, 1.5);
	c->noise[1] = JUDGE_UNSTEADY;
	judge(c);
	assert_true(c->j.single);
	assert_false(c->j.total.tested);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	/* the kernel's functions never fail a check of one run each */
	assert_int_equal(c->j.rows[1].status, JUDGE_SUSPECT);
	assert_false(c->j.rows[1].gates);
	counts_free(c);
}

static void noise_never_fails(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	scale_new(c, 0, 1.5);
	scale_new(c, 1, 1.5);
	c->noise[0] = JUDGE_UNSTEADY;
	c->noise[1] = JUDGE_NOISE;
	judge(c);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	assert_true(c->j.rows[0].gates);
	assert_int_equal(c->j.rows[1].status, JUDGE_SUSPECT);
	assert_false(c->j.rows[1].gates);
	counts_free(c);
}

static void many_against_few(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, 1, 20000);
	scale_new(c, 0, 1.2);
	judge(c);
	assert_int_equal(c->j.rows[0].status, JUDGE_REGRESSED);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 1);
	assert_true(c->j.total.tested);
	counts_free(c);
}

/* Whatever is empty, equal or huge: numbers come out, and no alarm. */
static void odd_input(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, 3, 3, 1000);
	memset(c->cost, 0, sizeof(c->cost));
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	judge_fini(&c->j);
	for (size_t i = 0; i < COUNT(c->cost); i++)
		c->cost[i] = 100;
	judge(c);
	assert_int_equal(count_status(c, JUDGE_SAME), FUNCS);
	assert_true(isfinite(c->j.rows[0].low));
	judge_fini(&c->j);
	for (size_t i = 0; i < COUNT(c->cost); i++)
		c->cost[i] = 1e15;
	judge(c);
	assert_true(isfinite(c->j.rows[0].high));
	judge_fini(&c->j);
	c->in.nfuncs = 0;
	judge(c);
	judge_fini(&c->j);
	/* a program of one function */
	c->in.nfuncs = 1;
	judge(c);
	assert_int_equal(c->j.rows[0].status, JUDGE_SAME);
	counts_free(c);
}

static void sums_are_relative(void **state)
{
	struct counts *c = counts_new();
	size_t both[] = { 0, 3 };
	struct judge_sum s;

	(void)state;
	make(c, RUNS, RUNS, 20000);
	/* 30 % of function 0 becomes part of function 3 */
	for (size_t r = RUNS; r < 2 * RUNS; r++) {
		c->cost[r * FUNCS + 3] += 0.3 * c->cost[r * FUNCS];
		c->cost[r * FUNCS] *= 0.7;
	}
	judge(c);
	assert_int_equal(c->j.rows[3].status, JUDGE_REGRESSED);
	assert_int_equal(judge_group(&c->j, both, 2, &s), 0);
	assert_true(fabs(s.ratio - 1) < 0.02);
	assert_true(s.p > 0.05);
	/* with twice as much on the way, they cost more, and surely so */
	for (size_t r = RUNS; r < 2 * RUNS; r++)
		c->cost[r * FUNCS + 3] *= 2;
	assert_int_equal(judge_group(&c->j, both, 2, &s), 0);
	assert_true(s.ratio > 1.2 && s.p < 0.01);
	counts_free(c);
}

/* Each block of runs slows functions down by its own factors, which both sides
 * share: a neighbour on the machine that needs caches or memory. */
static void share_blocks(struct counts *c, double by)
{
	struct rng g = rng_seed(7);

	for (size_t b = 0; b < c->in.nbase; b++)
		for (size_t f = 0; f < FUNCS; f++) {
			double e = exp(by * rng_normal(&g));

			c->cost[b * FUNCS + f] *= e;
			c->cost[(c->in.nbase + b) * FUNCS + f] *= e;
		}
}

static void blocks_are_compared_in_pairs(void **state)
{
	struct counts *c = counts_new();
	struct judge_options o = JUDGE_DEFAULTS;
	double alone;

	(void)state;
	make(c, RUNS, RUNS, 50000);
	share_blocks(c, 0.1);
	scale_new(c, 3, 1.1);
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_false(c->j.rows[3].paired);
	alone = c->j.rows[3].change.se;
	judge_fini(&c->j);
	o.paired = true;
	assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
	assert_int_equal(c->j.rows[3].status, JUDGE_REGRESSED);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 1);
	assert_true(c->j.rows[3].paired);
	/* 0.1 between blocks against 0.01 between runs and 2 % of sampling */
	assert_true(c->j.rows[3].change.se < alone / 2);
	assert_true(c->j.rows[3].low < 1.1 && 1.1 < c->j.rows[3].high);
	counts_free(c);
}

/* Without noise that blocks have in common, pairs only cost certainty. */
static void alike_blocks_are_not_paired(void **state)
{
	struct counts *c = counts_new();
	struct judge_options o = JUDGE_DEFAULTS;
	double se;

	(void)state;
	make(c, RUNS, RUNS, 20000);
	judge(c);
	se = c->j.rows[3].change.se;
	judge_fini(&c->j);
	o.paired = true;
	assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
	assert_false(c->j.rows[3].paired);
	assert_true(c->j.rows[3].change.se == se);
	counts_free(c);
}

/* Two runs a side leave one degree of freedom, and pairs need equal numbers. */
static void few_blocks_are_not_paired(void **state)
{
	static const size_t runs[][2] = { { 2, 2 }, { 6, 5 }, { 1, 1 } };
	struct judge_options o = JUDGE_DEFAULTS;

	(void)state;
	o.paired = true;
	for (size_t i = 0; i < 3; i++) {
		struct counts *c = counts_new();

		make(c, runs[i][0], runs[i][1], 20000);
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		for (size_t f = 0; f <= FUNCS; f++)
			assert_false(c->j.rows[f].paired);
		counts_free(c);
	}
}

/* Between the times at which sides were recorded, the speed of a machine changes by
 * some percent. */
static void total_of_sides_recorded_apart(void **state)
{
	static const double slower[] = { 1.09, 1.09, 1.6 };
	static const double session[] = { 0, 0.045, 0.045 };
	static const bool fails[] = { true, false, true };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();

		make(c, RUNS, RUNS, 20000);
		o.session = session[i];
		for (size_t f = 0; f < FUNCS / 2; f++)
			scale_new(c, f, slower[i]);
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		assert_int_equal(c->j.total.gates, fails[i]);
		assert_true(judge_sensitivity(&c->j, NULL, 0.1).row != JUDGE_TOTAL ||
			    session[i] == 0);
		counts_free(c);
	}
}

/* The size of a change of the total that fails is a question of its own. */
static void the_total_has_its_own_limits(void **state)
{
	static const struct {
		double slower, least;
		bool same_machine, regressed, gates;
	} cases[] = {
		{ 1.06, 0.03, true, true, true },
		{ 1.06, 0.10, true, false, false },
		{ 1.15, 0.10, true, true, true },
		{ 1.06, -1, true, true, false },
		{ 1.5, 0.03, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();

		make(c, RUNS, RUNS, 20000);
		for (size_t f = 0; f < FUNCS; f++)
			scale_new(c, f, cases[i].slower);
		o.total_threshold = cases[i].least;
		o.same_machine = cases[i].same_machine;
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		assert_int_equal(c->j.total.regressed, cases[i].regressed);
		assert_int_equal(c->j.total.gates, cases[i].gates);
		for (size_t f = 0; f < FUNCS && !o.same_machine; f++)
			assert_false(c->j.rows[f].absolute);
		counts_free(c);
	}
}

/* Nothing is known of the other machine's speed. */
static void absolute_costs_are_those_of_one_machine(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();
		size_t n = 0;

		make(c, RUNS, RUNS, 20000);
		o.same_machine = same;
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		for (size_t f = 0; f < FUNCS; f++)
			n += c->j.rows[f].absolute;
		assert_int_equal(n > 0, same);
		counts_free(c);
	}
}

static void the_total_is_not_that_of_the_kernel(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	scale_new(c, 0, 1.5);
	c->noise[0] = JUDGE_NOISE;
	judge(c);
	assert_true(c->j.total.regressed);
	assert_false(c->j.total.gates);
	counts_free(c);
}

/* The machine's speed varies by a fifth from block to block. */
static void totals_of_blocks_are_compared_in_pairs(void **state)
{
	static const double speed[RUNS] = { 1.25, 0.8, 1.15, 0.85, 1.2,
					    0.75, 1.0, 1.3, 0.9, 0.8 };

	(void)state;
	for (int paired = 0; paired < 2; paired++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();

		make(c, RUNS, RUNS, 50000);
		for (size_t r = 0; r < 2 * RUNS; r++)
			for (size_t f = 0; f < FUNCS; f++)
				c->cost[r * FUNCS + f] *= speed[r % RUNS] *
							  (r < RUNS ? 1 : 1.06);
		o.paired = paired;
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		assert_int_equal(c->j.total.paired, paired);
		assert_int_equal(c->j.total.regressed, paired);
		counts_free(c);
	}
}

/* Both sides have a speed. */
static void sessions_add_the_noise_of_two(void **state)
{
	double se[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();

		make(c, RUNS, RUNS, 20000);
		o.session = i ? 0.05 : 0;
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		se[i] = c->j.total.change.se;
		counts_free(c);
	}
	assert_true(fabs(se[1] * se[1] - se[0] * se[0] - 2 * 0.05 * 0.05) < 1e-9);
}

/* Half more of 0.8 % is 0.4 % of the whole. */
static void what_matters_little_is_no_regression(void **state)
{
	enum { LAST = FUNCS - 1 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct judge_options o = JUDGE_DEFAULTS;
		struct counts *c = counts_new();
		const struct judge_row *row;

		make(c, RUNS, RUNS, 50000);
		scale_new(c, LAST, 1.5);
		o.min_impact = i ? 0.01 : 0.001;
		assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
		row = &c->j.rows[LAST];
		assert_int_equal(row->status, i ? JUDGE_SAME : JUDGE_REGRESSED);
		/* A regression would be as large, or larger to be seen. */
		assert_true(row->visible * row->share >= o.min_impact);
		/* One of many that are tested. */
		row = &c->j.rows[0];
		assert_true(fabs(row->visible - log_change_detectable(
			&row->change, o.alpha / (double)c->j.tested, o.margin,
			fmax(o.threshold, o.min_impact / row->share))) < 1e-9);
		counts_free(c);
	}
}

static void noise_does_not_improve(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, RUNS, RUNS, 20000);
	scale_new(c, 3, 0.6);
	scale_new(c, 4, 0.6);
	c->noise[3] = JUDGE_NOISE;
	judge(c);
	assert_int_equal(c->j.rows[3].status, JUDGE_SAME);
	assert_int_equal(c->j.rows[4].status, JUDGE_IMPROVED);
	counts_free(c);
}

/* Functions 1, 3 and 12 have 13, 6 and 2 % of the cost. */
static void small_new_functions_do_not_fail(void **state)
{
	static const size_t added[] = { 1, 3, 12 };

	(void)state;
	for (int single = 0; single < 2; single++) {
		size_t runs = single ? 1 : RUNS;
		struct counts *c = counts_new();

		make(c, runs, runs, 20000);
		for (size_t r = 0; r < runs; r++)
			for (int i = 0; i < 3; i++)
				c->cost[r * FUNCS + added[i]] = 0;
		judge(c);
		for (int i = 0; i < 3; i++)
			assert_int_equal(c->j.rows[added[i]].status, JUDGE_NEW);
		assert_true(c->j.rows[1].gates);
		/* 3 %, or 10 % by one run of each side */
		assert_int_equal(c->j.rows[3].gates, !single);
		assert_false(c->j.rows[12].gates);
		judge_fini(&c->j);
		c->noise[1] = JUDGE_NOISE;
		judge(c);
		assert_false(c->j.rows[1].gates);
		counts_free(c);
	}
}

/* 0.8 % of 300 samples in each of six runs are 15. */
static void few_samples_are_not_tested_alone(void **state)
{
	struct counts *c = counts_new();

	(void)state;
	make(c, 3, 3, 300);
	for (size_t r = 0; r < 6; r++)
		c->cost[r * FUNCS + 29] = r % 2 ? 2 : 3;
	judge(c);
	assert_true(c->j.rows[29].share > ESTIMATE_MIN_SHARE);
	assert_int_equal(c->j.rows[29].status, JUDGE_SMALL);
	assert_int_equal(c->j.rows[0].status, JUDGE_SAME);
	counts_free(c);
}

static void looks_share_alpha(void **state)
{
	static const size_t planned[] = { 3, 5, 10, 20, 600 };
	struct judge_look look[JUDGE_LOOKS];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		for (int budget = 0; budget < 2; budget++) {
			size_t n = judge_looks(planned[i], budget, 0.01, look);
			double sum = 0;

			assert_true(n >= 2 && n <= JUDGE_LOOKS);
			assert_int_equal(look[0].runs, 3);
			assert_int_equal(look[n - 1].runs, budget
				? 6 * planned[i] : planned[i] * 8 / 5);
			for (size_t k = 0; k < n; k++) {
				sum += look[k].alpha;
				assert_true(!k || look[k].runs >
						  look[k - 1].runs);
			}
			assert_true(fabs(sum - 0.01) < 1e-12);
		}
	/* too few for a second look */
	assert_int_equal(judge_looks(2, false, 0.01, look), 1);
	assert_int_equal(look[0].runs, 2);
	assert_true(look[0].alpha == 0.01);
}

/* What may still be slower, or not be visible, needs more runs. */
static void steps(void **state)
{
	struct judge_options o = JUDGE_DEFAULTS;
	struct counts *c = counts_new();
	double doubt;

	(void)state;
	make(c, 8, 8, 20000);
	judge(c);
	doubt = judge_doubt(&c->j, NULL, 10);
	assert_true(doubt < 0.05);
	assert_int_equal(judge_step(&c->j, NULL, 0.1, 10, 16), JUDGE_CERTAIN);
	/* no number of runs shows less than the margin; 6 % needs more */
	assert_int_equal(judge_step(&c->j, NULL, 0.001, 10, 16), JUDGE_BLIND);
	judge_fini(&c->j);
	/* 2.2 % more in the largest function: too little to report, enough to doubt */
	for (size_t r = 0; r < 16; r++)
		c->cost[r * FUNCS] = (r < 8 ? 5000 : 5110) +
				     (double)(r * 37 % 60) - 30;
	judge(c);
	assert_int_equal(count_status(c, JUDGE_REGRESSED), 0);
	assert_true(judge_doubt(&c->j, NULL, 10) > doubt);
	assert_int_equal(judge_step(&c->j, NULL, 0.1, 10, 16), JUDGE_MORE);
	judge_fini(&c->j);
	/* few samples: what would be visible needs more runs than there may be */
	make(c, 4, 4, 300);
	assert_int_equal(judge_run(&c->in, &o, &c->j, NULL), 0);
	assert_int_not_equal(judge_step(&c->j, NULL, 0.01, 10, 16),
			     JUDGE_CERTAIN);
	counts_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changed),
		cmocka_unit_test(one_is_slower),
		cmocka_unit_test(runs_vary_more_than_the_change),
		cmocka_unit_test(an_improvement_is_no_regression),
		cmocka_unit_test(a_slower_machine_is_no_regression),
		cmocka_unit_test(one_large_function),
		cmocka_unit_test(one_of_two_functions),
		cmocka_unit_test(some_of_a_few_functions),
		cmocka_unit_test(most_by_number_only),
		cmocka_unit_test(unchanged_code_decides),
		cmocka_unit_test(few_are_not_everything),
		cmocka_unit_test(a_common_cause_is_no_regression),
		cmocka_unit_test(one_wild_run_is_no_regression),
		cmocka_unit_test(one_burst_of_a_rare_function),
		cmocka_unit_test(new_and_gone),
		cmocka_unit_test(one_run_a_side),
		cmocka_unit_test(noise_never_fails),
		cmocka_unit_test(many_against_few),
		cmocka_unit_test(odd_input),
		cmocka_unit_test(sums_are_relative),
		cmocka_unit_test(blocks_are_compared_in_pairs),
		cmocka_unit_test(alike_blocks_are_not_paired),
		cmocka_unit_test(few_blocks_are_not_paired),
		cmocka_unit_test(total_of_sides_recorded_apart),
		cmocka_unit_test(the_total_has_its_own_limits),
		cmocka_unit_test(absolute_costs_are_those_of_one_machine),
		cmocka_unit_test(the_total_is_not_that_of_the_kernel),
		cmocka_unit_test(totals_of_blocks_are_compared_in_pairs),
		cmocka_unit_test(sessions_add_the_noise_of_two),
		cmocka_unit_test(what_matters_little_is_no_regression),
		cmocka_unit_test(noise_does_not_improve),
		cmocka_unit_test(small_new_functions_do_not_fail),
		cmocka_unit_test(few_samples_are_not_tested_alone),
		cmocka_unit_test(looks_share_alpha),
		cmocka_unit_test(steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
