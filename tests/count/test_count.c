// SPDX-License-Identifier: GPL-2.0-or-later
/* What is made of counts: spread, estimates, groups, metrics, output. */
#include "../checks.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count/count.h"

static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.9g is not %.9g", got, want);
}

/* By hand: 2 4 4 4 5 5 7 9 have mean 5 and squares 32, so s = sqrt(32/7); t of 7
 * degrees is 2.365 (any table of Student's t). */
static void spread_is_of_a_sample(void **state)
{
	const double v[] = { 2, 4, 4, 4, NAN, 5, 5, 7, 9 };
	struct spread s = spread_of(v, 9);

	(void)state;
	assert_int_equal(s.n, 8);
	near(s.mean, 5, 1e-12);
	near(s.stddev, 2.138089935, 1e-9);
	/* R: qt(.975, 7) */
	near(s.ci95, 2.364624252 * 2.138089935 / sqrt(8), 1e-8);
	near(s.min, 2, 0);
	near(s.max, 9, 0);
}

static void spread_of_few(void **state)
{
	const double one = 7, two[] = { 1, 3 };
	struct spread s = spread_of(&one, 1);

	(void)state;
	near(s.mean, 7, 0);
	near(s.stddev + s.ci95, 0, 0);
	s = spread_of(two, 2);
	near(s.stddev, sqrt(2), 1e-12);
	/* one degree of freedom: the Cauchy distribution; sqrt(2) / sqrt(2) */
	near(s.ci95, tan(0.475 * M_PI), 1e-7);
	assert_true(isnan(spread_of(NULL, 0).mean));
}

/* Tables have 2.021 for 40 degrees of freedom and 1.980 for 120. */
static void spread_of_many(void **state)
{
	double v[121];

	(void)state;
	for (int i = 0; i < 121; i++)
		v[i] = i % 2 ? 1 : -1;
	near(spread_of(v, 41).ci95 / spread_of(v, 41).stddev * sqrt(41), 2.021,
	     0.0005);
	near(spread_of(v, 121).ci95 / spread_of(v, 121).stddev * sqrt(121),
	     1.980, 0.0005);
}

static void shared_counters_are_estimated(void **state)
{
	const struct count_value whole = { 100, 5000, 5000 };
	const struct count_value skew = { 100, 5003, 5000 };
	const struct count_value part = { 100, 5000, 2000 };
	const struct count_value never = { 0, 5000, 0 };
	const struct count_value nothing = { 0, 0, 0 };

	(void)state;
	near(count_whole(&whole), 100, 0);
	assert_false(count_estimated(&whole));
	near(count_whole(&skew), 100, 0);
	near(count_whole(&part), 250, 1e-9);
	near(count_share(&part), 0.4, 1e-12);
	assert_true(count_estimated(&part));
	assert_true(isnan(count_whole(&never)));
	near(count_share(&never), 0, 0);
	/* Whoever never ran has counted nothing, and that is exact. */
	near(count_whole(&nothing), 0, 0);
	assert_false(count_estimated(&nothing));
}

/* A sysfs of a K8, or of no processor that tally has tables of. */
struct fixture {
	char root[64];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[256];
	FILE *out;

	strcpy(f->root, "/tmp/tally-count.XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(path, sizeof(path), "%s/devices", f->root);
	mkdir(path, 0700);
	strcat(path, "/system");
	mkdir(path, 0700);
	strcat(path, "/cpu");
	mkdir(path, 0700);
	strcat(path, "/modalias");
	out = fopen(path, "w");
	assert_non_null(out);
	fputs("cpu:type:x86,ven0002fam000Fmod0005:feature:,0000\n", out);
	fclose(out);
	*state = f;
	return 0;
}

static void become(const struct fixture *f, const char *modalias)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/modalias",
		 f->root);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(modalias, out);
	fclose(out);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {
		"/devices/system/cpu/modalias", "/devices/system/cpu",
		"/devices/system", "/devices", "",
	};
	char path[256];

	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s%s", f->root, names[i]);
		remove(path);
	}
	free(f);
	return 0;
}

static struct plan plan(const char *root, const char *events,
			const char *metric, bool no_group)
{
	struct plan p = { 0 };
	struct event_list l = { 0 };
	struct metric_use use;
	struct error err = { 0 };
	struct plan_options o = { .events = &l, .no_group = no_group,
				  .sysfs = root };

	if (events && events_parse(events, root, &l, &err) < 0)
		fail_msg("%s", err.msg);
	if (metric) {
		if (metric_parse(metric, &use, &err) < 0)
			fail_msg("%s", err.msg);
		o.metrics = &use;
		o.nmetrics = 1;
	}
	if (plan_make(&p, &o, &err) < 0)
		fail_msg("%s", err.msg);
	event_list_fini(&l);
	return p;
}

static uint32_t group_of(const struct plan *p, const char *event)
{
	for (size_t i = 0; i < p->events.n; i++)
		if (!strcmp(p->events.v[i].ev.spec.text, event))
			return p->events.v[i].group;
	fail_msg("no event %s", event);
	return 0;
}

static bool shows(const struct plan *p, const char *name)
{
	char text[METRIC_NAME_MAX + 4];

	for (size_t i = 0; i < p->metrics.n; i++) {
		count_metric_name(&p->metrics.v[i], text, sizeof(text));
		if (!strcmp(text, name))
			return true;
	}
	return false;
}

static void ratios_count_together(void **state)
{
	const struct fixture *f = *state;
	struct plan p = plan("/nonexistent", NULL, NULL, false);

	assert_int_equal(p.events.n, 8);
	assert_int_equal(group_of(&p, "task-clock"), 0);
	assert_int_not_equal(group_of(&p, "cycles"), 0);
	assert_int_equal(group_of(&p, "cycles"), group_of(&p, "instructions"));
	assert_int_equal(group_of(&p, "branches"),
			 group_of(&p, "branch-misses"));
	assert_int_not_equal(group_of(&p, "cycles"), group_of(&p, "branches"));
	assert_true(shows(&p, "ipc") && shows(&p, "cpus"));
	assert_false(shows(&p, "cpi"));
	plan_fini(&p);
	p = plan("/nonexistent", NULL, NULL, true);
	assert_int_equal(group_of(&p, "cycles"), 0);
	plan_fini(&p);
	p = plan(f->root, "k8:0x40", "k8-page-hit-rate", false);
	assert_int_equal(p.events.n, 4);
	assert_int_equal(group_of(&p, "k8:0x40"), 0);
	for (size_t i = 1; i < 4; i++) {
		assert_int_equal(p.events.v[i].group, 1);
		assert_true(p.events.v[i].ev.spec.shared);
	}
	plan_fini(&p);
}

static void groups_are_the_users(void **state)
{
	struct plan p = plan("/nonexistent", "{cycles,cache-misses},"
			     "instructions,{branches,branch-misses}", NULL,
			     false);

	(void)state;
	assert_int_equal(group_of(&p, "cycles"), 1);
	assert_int_equal(group_of(&p, "cache-misses"), 1);
	assert_int_equal(group_of(&p, "branches"), 2);
	assert_int_equal(group_of(&p, "branch-misses"), 2);
	/* joins what its metric needs */
	assert_int_equal(group_of(&p, "instructions"), 1);
	plan_fini(&p);
}

static void groups_stay_small(void **state)
{
	struct plan p = plan("/nonexistent",
			     "cycles,instructions,stalled-cycles-frontend,"
			     "stalled-cycles-backend,cache-misses,"
			     "cache-references", NULL, false);

	(void)state;
	assert_int_equal(group_of(&p, "cycles"), 1);
	assert_int_equal(group_of(&p, "stalled-cycles-backend"), 1);
	assert_int_equal(group_of(&p, "cache-misses"), 2);
	assert_int_equal(group_of(&p, "cache-references"), 2);
	plan_fini(&p);
	p = plan("/nonexistent", "{cycles,bus-cycles,ref-cycles,branches},"
		 "instructions", NULL, false);
	assert_int_equal(group_of(&p, "instructions"), 0);
	plan_fini(&p);
}

static void groups_fit_the_counters(void **state)
{
	const struct fixture *f = *state;
	struct plan p;

	become(f, "cpu:type:x86,ven0000fam0006mod0008:feature:,0000\n");
	p = plan(f->root, "CPU_CLK_UNHALTED,INST_RETIRED,CYCLES_INT_MASKED,"
		 "CYCLES_INT_MASKED,edge", NULL, false);
	assert_int_equal(p.events.n, 4);
	assert_int_equal(p.events.v[0].group, p.events.v[1].group);
	assert_int_equal(p.events.v[2].group, p.events.v[3].group);
	assert_int_not_equal(p.events.v[0].group, p.events.v[2].group);
	assert_true(shows(&p, "p6-cpi") && shows(&p, "p6-interrupts-masked") &&
		    shows(&p, "p6-interrupts-masked-share"));
	plan_fini(&p);
}

static void metrics_keep_their_mode(void **state)
{
	const struct fixture *f = *state;
	struct plan p = plan("/nonexistent", "cycles:u,instructions:u,"
			     "cycles:k,branches:u,branch-misses:k", NULL,
			     false);

	assert_true(shows(&p, "ipc:u"));
	assert_false(shows(&p, "ipc:k") || shows(&p, "branch-miss-rate:u") ||
		     shows(&p, "branch-miss-rate:k"));
	plan_fini(&p);
	/* on a K8 both ways of writing count */
	p = plan(f->root, "k8:0x76,k8-fr-retired-x86-instructions", NULL,
		 false);
	assert_true(shows(&p, "k8-cpi"));
	plan_fini(&p);
	p = plan(f->root, "k8:0x76,usr,k8-fr-retired-x86-instructions", NULL,
		 false);
	assert_false(shows(&p, "k8-cpi"));
	plan_fini(&p);
}

static void doubts_follow_groups(void **state)
{
	struct plan p = plan("/nonexistent", "cycles,instructions,task-clock",
			     NULL, false);
	struct count_value v[] = {
		{ 100, 10, 5 }, { 200, 10, 5 }, { 50, 10, 10 },
	};
	const struct plan_metric *ipc = NULL, *ghz = NULL;

	(void)state;
	for (size_t i = 0; i < p.metrics.n; i++) {
		if (!strcmp(p.metrics.v[i].use.m->name, "ipc"))
			ipc = &p.metrics.v[i];
		if (!strcmp(p.metrics.v[i].use.m->name, "ghz"))
			ghz = &p.metrics.v[i];
	}
	assert_true(ipc && ghz);
	near(count_metric(ipc, v, 1), 2, 1e-12);
	near(count_metric(ghz, v, 1), 4, 1e-12);	/* 200 in 50 ns */
	assert_int_equal(count_metric_accuracy(&p, ipc, v), COUNT_ESTIMATED);
	assert_int_equal(count_metric_accuracy(&p, ghz, v), COUNT_ESTIMATED);
	p.events.v[1].split = true;
	assert_int_equal(count_metric_accuracy(&p, ipc, v), COUNT_SEPARATE);
	v[0].running_ns = v[1].running_ns = 10;
	assert_int_equal(count_metric_accuracy(&p, ipc, v), COUNT_EXACT);
	v[1] = (struct count_value){ 0, 10, 0 };
	assert_true(isnan(count_metric(ipc, v, 1)));
	plan_fini(&p);
}

/* Hostile names leave no control characters, and tables stay tables. */
static void output_is_safe(void **state)
{
	static char *const argv[] = { (char *)"a\033[31m\n,b", NULL };
	const struct count_show show = { .command = argv };
	struct count_result r = { .of_command = true };
	struct count_value v = { 7, 10, 10 };
	struct count_run run = { .elapsed_ns = 1000000000 };
	struct buf b = { 0 };
	struct json j;

	(void)state;
	r.plan = plan("/nonexistent", "cycles", NULL, false);
	strcpy(r.plan.events.v[0].ev.spec.text, "=e\033vil,\n\"name");
	assert_int_equal(vec_push(&r.values, v), 0);
	assert_int_equal(vec_push(&r.runs, run), 0);
	buf_str(&r.notes, "one\ntwo\n");
	count_text(&b, &r, &show);
	check_lacks(buf_cstr(&b), "\033");
	assert_non_null(strstr(buf_cstr(&b), "\\x1bvil,\\x0a"));
	buf_reset(&b);
	j = json_on(&b);
	count_json_begin(&j, &show);
	count_json_end(&j, &r, &show);
	assert_false(b.failed);
	check_lacks(buf_cstr(&b), "\033");
	assert_non_null(strstr(buf_cstr(&b), "\"notes\":[\"one\",\"two\"]"));
	buf_reset(&b);
	count_csv_begin(&b);
	count_csv_end(&b, &r);
	assert_non_null(strstr(buf_cstr(&b), "\n,event,\"'=e\\x1bvil,"
					     "\\x0a\"\"name\",7,"));
	buf_fini(&b);
	count_result_fini(&r);
}

/* A quarter of a unit each: 9 of them, counted half of the time, are 4.5. */
static void scaled_events_have_their_unit(void **state)
{
	const struct count_show show = { 0 };
	struct count_result r = { .of_command = false };
	struct count_value v = { 9, 1000, 500 };
	struct count_run run = { .elapsed_ns = 1 };
	struct buf b = { 0 };
	struct json j;

	(void)state;
	r.plan = plan("/nonexistent", "cycles", NULL, false);
	r.plan.events.v[0].ev.spec.scale = 0.25;
	strcpy(r.plan.events.v[0].ev.spec.scaled, "J\033");
	assert_int_equal(vec_push(&r.values, v), 0);
	assert_int_equal(vec_push(&r.runs, run), 0);
	count_text(&b, &r, &show);
	assert_non_null(strstr(buf_cstr(&b), " 4.50 J\\x1b"));
	buf_reset(&b);
	j = json_on(&b);
	count_json_begin(&j, &show);
	count_json_end(&j, &r, &show);
	assert_non_null(strstr(buf_cstr(&b), "\"value\":4.5"));
	assert_non_null(strstr(buf_cstr(&b), "\"counted\":9,"));
	buf_reset(&b);
	count_csv_end(&b, &r);
	assert_non_null(strstr(buf_cstr(&b), "cycles,4.5,J\\x1b,"));
	buf_fini(&b);
	count_result_fini(&r);
}

static void means_are_shown(void **state)
{
	const struct count_show show = { 0 };
	struct count_result r = { .of_command = false };
	struct buf b = { 0 };

	(void)state;
	r.plan = plan("/nonexistent", "page-faults,cycles", NULL, false);
	for (uint64_t i = 0; i < 3; i++) {
		struct count_value faults = { 1000 + i * 1000, 9, 9 };
		struct count_value cycles = { 100, 1000, 250 };
		struct count_run run = { .elapsed_ns = 500000000 };

		assert_int_equal(vec_push(&r.values, faults), 0);
		assert_int_equal(vec_push(&r.values, cycles), 0);
		assert_int_equal(vec_push(&r.runs, run), 0);
	}
	count_text(&b, &r, &show);
	/* 4.303 * 1000 / sqrt(3) is 124.2 % of 2,000 */
	assert_non_null(strstr(buf_cstr(&b), "2,000 "));
	assert_non_null(strstr(buf_cstr(&b), "± 124.2%  1,000 .. 3,000"));
	assert_non_null(strstr(buf_cstr(&b),
			       "estimated, counted 25.0% of the time"));
	assert_non_null(strstr(buf_cstr(&b), "400.0 "));
	assert_non_null(strstr(buf_cstr(&b), "0.500000 s"));
	buf_fini(&b);
	count_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread_is_of_a_sample),
		cmocka_unit_test(spread_of_few),
		cmocka_unit_test(spread_of_many),
		cmocka_unit_test(shared_counters_are_estimated),
		cmocka_unit_test_setup_teardown(ratios_count_together, setup,
						teardown),
		cmocka_unit_test(groups_are_the_users),
		cmocka_unit_test(groups_stay_small),
		cmocka_unit_test_setup_teardown(groups_fit_the_counters, setup,
						teardown),
		cmocka_unit_test_setup_teardown(metrics_keep_their_mode, setup,
						teardown),
		cmocka_unit_test(doubts_follow_groups),
		cmocka_unit_test(output_is_safe),
		cmocka_unit_test(scaled_events_have_their_unit),
		cmocka_unit_test(means_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
