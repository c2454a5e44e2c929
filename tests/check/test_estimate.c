// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates of changes: expected values are computed by hand from what estimate.h says. */
#include "../checks.h"
#include <math.h>

#include "compare/estimate.h"

#define EVER 1e6	/* degrees of freedom of a normal distribution */

static void near(double is, double want)
{
	if (!(fabs(is - want) <= 1e-6 * (1 + fabs(want))))
		fail_msg("%.9g instead of %.9g", is, want);
}

static void few_samples_are_half_a_sample(void **state)
{
	(void)state;
	/* binomial */
	near(sampling_variance((const double[2]){ 100, 100 }, 5, 5, 0.25), 0.75 / 100);
	/* half a sample in both runs of the side with fewer */
	near(sampling_variance((const double[2]){ 0, 10 }, 2, 10, 0.25),
	     0.75 / ((0.25 + 10) / 2));
}

static void a_margin_is_part_of_the_question(void **state)
{
	const struct log_change c = { log1p(0.05), 0.01, EVER };
	const struct log_change faster = { -log1p(0.05), 0.01, EVER };

	(void)state;
	near(log_change_p(&c, 0.05, false), 0.5);
	near(log_change_p(&faster, 0.05, true), 0.5);
	near(log_change_p(&c, 0, false), 0.5 * erfc(log1p(0.05) / 0.01 / sqrt(2)));
	/* quantiles of the normal distribution: 80 %, 95 % */
	near(log_change_visible(&c, 0.05, 0.02),
	     log1p(0.02) + (0.841621234 + 1.644853627) * 0.01);
}

static void totals_are_compared_by_their_spread(void **state)
{
	/* the new side's variance is 0.01 */
	static const double one[] = { 1, 1.1, 1.2, 1.3 };
	/* differences of 0.01, 0.03 and -0.01 */
	static const double pairs[] = { 0, 0.1, 0.2, 0.01, 0.13, 0.19 };
	struct log_change c;

	(void)state;
	c = totals_change(one, 1, 3, false);
	near(c.log_ratio, 0.2);
	near(c.se, sqrt(0.01 * (1 + 1 / 3.0)));
	near(c.df, 2);
	c = totals_change(pairs, 3, 3, true);
	near(c.log_ratio, 0.01);
	near(c.se, sqrt(0.0004 / 3));
	near(c.df, 2);
}

static void pairs_have_half_of_the_variance_of_differences(void **state)
{
	static const double y[] = { 90, 100, 110, 100, 100, 100 };
	struct run_costs c;

	(void)state;
	assert_int_equal(run_costs_init(&c, 1, 3, 3), 0);
	for (int i = 0; i < 6; i++)
		run_costs_of(&c, 0)[i] = y[i];
	c.v0[0] = 1;	/* more than there is */
	c.paired = true;
	near(run_costs_tau2(&c), 0);
	near(c.v[0], 0.005);
	c.paired = false;
	near(run_costs_tau2(&c), 0);
	near(c.v[0], 0.02 / 4);
	run_costs_fini(&c);
}

/* `n` functions in five runs of each side, each by this part above and below 100. */
static void make_costs(struct run_costs *c, size_t n, double part)
{
	static const double by[] = { -1, 1, 0, -1, 1 };

	assert_int_equal(run_costs_init(c, n, 5, 5), 0);
	for (size_t f = 0; f < n; f++) {
		for (int i = 0; i < 10; i++)
			run_costs_of(c, f)[i] = 100 * (1 + part * by[i % 5]);
		c->v0[f] = 0.01;
	}
}

static void noise_is_between_a_third_and_all_of_chance(void **state)
{
	enum { N = 100, FREEDOM = 8 };
	struct run_costs c;

	(void)state;
	/* Far more even than chance. */
	make_costs(&c, N, 0);
	run_costs_estimate(&c);
	near(c.kappa, 0.3);
	near(c.tau2, 0);
	near(c.change[0].log_ratio, 0);
	/* Never less than that, for five runs of each side. */
	near(c.change[0].se, sqrt(0.3 * 0.01 * 2 / 5));
	run_costs_fini(&c);
	/* One function alone says little: 20 degrees of freedom more say 1. */
	make_costs(&c, 1, 0);
	run_costs_estimate(&c);
	near(c.kappa, 20.0 / (FREEDOM + 20));
	near(c.change[0].df, 4 + FREEDOM);
	run_costs_fini(&c);
	/* Less even than chance is a variance between runs.  All have the same one, so
	 * that a function's own says least: 50 degrees of freedom. */
	make_costs(&c, N, 0.5);
	run_costs_estimate(&c);
	near(c.kappa, 1);
	assert_true(c.tau2 > 0.1);
	near(c.change[0].df, 50 + FREEDOM);
	run_costs_fini(&c);
}

static void a_bursty_function_has_its_own_noise(void **state)
{
	enum { N = 40, FREEDOM = 8 };
	struct run_costs c;

	(void)state;
	make_costs(&c, N, 0.1);
	for (int i = 0; i < 10; i++)
		run_costs_of(&c, 7)[i] = i % 5 ? 10 : 460;	/* a mean of 100 */
	run_costs_estimate(&c);
	assert_false(c.bursty[6]);
	assert_true(c.bursty[7]);
	near(c.change[7].df, FREEDOM);
	/* (3.6^2 + 4 * 0.9^2) of each side */
	near(c.change[7].se, sqrt(2 * 16.2 / FREEDOM * 2 / 5));
	run_costs_fini(&c);
}

static void what_is_new_was_half_a_sample(void **state)
{
	struct run_costs c;

	(void)state;
	make_costs(&c, 2, 0);
	for (int i = 0; i < 5; i++)
		run_costs_of(&c, 1)[i] = 0;
	run_costs_estimate(&c);
	/* 0.01: 100 samples in a run cost 100, and there are five runs */
	near(c.change[1].log_ratio, log(100 / 0.1));
	run_costs_fini(&c);
}

static void p_belongs_to_the_interval(void **state)
{
	/* So uncertain that there may have been no cost: 0 is the end of the interval. */
	struct cost_pair x = { .count = { 0, 1 }, .cost = { 0, 1 }, .unit = { 0, 1 },
			       .wide = { 5, 5 }, .df = 10, .t = change_quantile(10) };
	struct cost_change c;

	(void)state;
	cost_change_set(&c, &x);
	near(c.change, 1);
	near(c.low, 0);
	near(c.p, 0.05);
	assert_false(c.tested);
	x = (struct cost_pair){ .count = { 1, 0 }, .cost = { 1, 0 }, .unit = { 1, 0 },
				.wide = { 5, 5 }, .df = 10, .t = x.t };
	cost_change_set(&c, &x);
	near(c.change, -1);
	near(c.high, 0);
	near(c.p, 0.05);
}

static void what_is_tested_together_is_adjusted(void **state)
{
	struct cost_change v[4] = { { .p = 0.04, .tested = true } };

	(void)state;
	for (int i = 1; i < 4; i++)
		v[i] = (struct cost_change){ .p = 0.5, .tested = true };
	assert_int_equal(cost_changes_adjust(v, 4, 1), 4);
	near(v[0].q, 0.16);
	assert_false(v[0].real);
	v[0].p = 0.01;
	assert_int_equal(cost_changes_adjust(v, 4, 1), 4);
	near(v[0].q, 0.04);
	assert_true(v[0].real);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_samples_are_half_a_sample),
		cmocka_unit_test(a_margin_is_part_of_the_question),
		cmocka_unit_test(totals_are_compared_by_their_spread),
		cmocka_unit_test(pairs_have_half_of_the_variance_of_differences),
		cmocka_unit_test(noise_is_between_a_third_and_all_of_chance),
		cmocka_unit_test(a_bursty_function_has_its_own_noise),
		cmocka_unit_test(what_is_new_was_half_a_sample),
		cmocka_unit_test(p_belongs_to_the_interval),
		cmocka_unit_test(what_is_tested_together_is_adjusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
