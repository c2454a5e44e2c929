// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metrics: formulas with made-up counts, expectations by hand from BKDG §10.2.1
 * and SDM 3B §18.22.1.
 */
#include "../checks.h"
#include <math.h>
#include <string.h>

#include "events/hw.h"
#include "events/events.h"
#include "events/metrics.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static void formulas_are_computed(void **state)
{
	static const struct formula_name names[] = {
		{ "a", 8 }, { "b", 2 }, { "time", 0.5 }, { "tcl", 3 },
	};
	static const struct {
		const char *text;
		double want;
	} cases[] = {
		{ "a", 8 }, { "a / b", 4 }, { "a - b - 1", 5 },
		{ "a / b / 2", 2 }, { "100 * a / (a + b)", 80 },
		{ "2 + 3 * 4", 14 }, { "(2 + 3) * 4", 20 },
		{ "64 * (a - b) / time", 768 }, { "1.25*a", 10 },
		{ "a*(tcl-1)", 16 }, { "((((a))))", 8 }, { " a ", 8 },
		{ "1000000000", 1e9 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct error err = { 0 };
		double v = 0;

		if (formula_eval(cases[i].text, names, N(names), &v, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		if (fabs(v - cases[i].want) > 1e-9)
			fail_msg("%s is %g", cases[i].text, v);
	}
}

static void bad_formulas_are_refused(void **state)
{
	static const struct formula_name names[] = { { "a", 1 } };
	static const char *const bad[] = {
		"", "a +", "a b", "(a", "a)", "x", "1e5", "*a", "a ** a", "-a",
		"((((((((((((((((((((((((((((((((((a",
	};
	struct error err = { 0 };
	double v;

	(void)state;
	for (size_t i = 0; i < N(bad); i++)
		if (formula_eval(bad[i], names, 1, &v, &err) >= 0)
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(formula_eval("a / (a - 1)", names, 1, &v, &err), 0);
	assert_true(isnan(v));
	assert_true(formula_uses("4 * a / time", "time"));
	assert_false(formula_uses("4 * a / times", "time"));
}

/* Each metric fits the counters of its processor, so that its events count at
 * the same time; and has what the documents name. */
static void metrics_fit_their_counters(void **state)
{
	const struct metric *m;
	struct hw_program p;
	struct error err = { 0 };

	(void)state;
	for (m = metric_table; m->name; m++) {
		double ones[METRIC_EVENTS_MAX] = { 3, 2, 1, 1 };
		struct metric_use u = metric_plain(m);
		char *specs[METRIC_EVENTS_MAX];
		size_t n = metric_events(m);

		assert_true(n > 0);
		if (isnan(metric_value(&u, ones, 1)))
			fail_msg("%s: \"%s\" has no value", m->name,
				 m->formula);
		for (size_t k = 0; k < n; k++)
			specs[k] = (char *)(uintptr_t)m->events[k];
		if (m->pmu && hw_encode(m->pmu, specs, n, NULL, false, &p,
					&err) < 0)
			fail_msg("%s: %s", m->name, err.msg);
		for (size_t k = 0; k < n && !m->pmu; k++) {
			struct event_list l = { 0 };

			assert_int_equal(events_parse(m->events[k],
						      "/nonexistent", &l,
						      &err), 0);
			assert_int_equal(l.n, 1);
			event_list_fini(&l);
		}
		assert_ptr_equal(metric_find(m->name, strlen(m->name)), m);
		assert_true(m->source && *m->source && *m->summary);
	}
}

/* What the registers hold: event and mask of each of a metric's counts. */
static void metrics_select_what_the_documents_say(void **state)
{
	static const struct {
		const char *metric;
		uint32_t evtsel[METRIC_EVENTS_MAX];	/* USR, OS, EN: 43h */
	} cases[] = {
		{ "k8-cpi", { 0x430076, 0x4300c0 } },
		{ "k8-interrupts-masked", { 0x4300cd, 0x4700cd } },
		{ "k8-interrupts-masked-by-handling", { 0x4300cf, 0x4700cd } },
		{ "k8-interrupts-delayed", { 0x4700ce, 0x4700cd } },
		{ "k8-interrupt-delay", { 0x4300ce, 0x4700ce } },
		{ "k8-page-hit-rate", { 0x4301e0, 0x4302e0, 0x4304e0 } },
		{ "k8-dram-bandwidth", { 0x4307e0 } },
		{ "k8-dram-turnaround-loss",
		  { 0x4301e3, 0x4302e3, 0x4304e3 } },
		{ "k8-gart-miss-rate", { 0x4304ee, 0x4303ee } },
		{ "k8-probe-bandwidth", { 0x430cec } },
		{ "k8-ht0-use", { 0x4307f6, 0x4308f6 } },
		{ "k8-ht1-bandwidth", { 0x4307f7 } },
		{ "k8-ht2-data", { 0x4302f8 } },
		{ "k8-read-bandwidth", { 0x43076c } },
		{ "k8-write-bandwidth", { 0x43016d } },
		{ "k8-prefetch-bandwidth", { 0x430267, 0x430167 } },
		{ "k8-wc-writes", { 0x430265, 0x438065 } },
		{ "k8-fpu-busy", { 0x01c30001, 0x430076 } },
		{ "p6-cpi", { 0x430079, 0x0300c0 } },
		{ "p6-interrupts-masked", { 0x4300c6, 0x0700c6 } },
		{ "p6-interrupt-delay", { 0x4300c7, 0x0700c7 } },
		{ "p6-bus-use", { 0x432062, 0x030079 } },
		{ "p6-l2-miss-rate", { 0x43012e, 0x030f2e } },
		{ "p6-data-miss-cycles", { 0x430048, 0x030045 } },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const struct metric *m = metric_find(cases[i].metric,
						     strlen(cases[i].metric));
		char *specs[METRIC_EVENTS_MAX];
		struct hw_program p;

		assert_non_null(m);
		for (size_t k = 0; k < metric_events(m); k++)
			specs[k] = (char *)(uintptr_t)m->events[k];
		assert_int_equal(hw_encode(m->pmu, specs, metric_events(m),
					   NULL, false, &p, NULL), 0);
		for (size_t k = 0; k < p.n; k++)
			if (p.ev[k].evtsel != cases[i].evtsel[k])
				fail_msg("%s: event %zu is 0x%llx", m->name, k,
					 (unsigned long long)p.ev[k].evtsel);
	}
}

static void metrics_have_their_values(void **state)
{
	static const struct {
		const char *text;
		double counts[METRIC_EVENTS_MAX], seconds, want;
	} cases[] = {
		/* 3,000 clocks not halted for 2,000 instructions */
		{ "k8-cpi", { 3000, 2000 }, 9, 1.5 },
		{ "k8-ipc", { 2000, 4000 }, 9, 0.5 },
		/* 50,000 cycles masked in 250 stretches */
		{ "k8-interrupts-masked", { 50000, 250 }, 1, 200 },
		{ "k8-interrupts-masked-by-handling", { 30, 120 }, 1, 25 },
		{ "k8-interrupts-delayed", { 5, 100 }, 1, 5 },
		{ "k8-interrupt-delay", { 700, 7 }, 1, 100 },
		/* 60 hits, 30 misses, 10 conflicts */
		{ "k8-page-hit-rate", { 60, 30, 10 }, 1, 60 },
		{ "k8-page-miss-rate", { 60, 30, 10 }, 1, 30 },
		{ "k8-page-conflict-rate", { 60, 30, 10 }, 1, 10 },
		/* a million accesses of 64, or 32, bytes in half a second */
		{ "k8-dram-bandwidth", { 1e6 }, 0.5, 128e6 },
		{ "k8-dram-bandwidth:block=32", { 1e6 }, 0.5, 64e6 },
		/* BKDG E3h: DIMM 16*2*2, R/W 16*2*1, W/R 16*2*(3-1) */
		{ "k8-dram-turnaround-loss", { 10, 0, 0 }, 1, 640 },
		{ "k8-dram-turnaround-loss", { 0, 10, 0 }, 1, 320 },
		{ "k8-dram-turnaround-loss", { 0, 0, 10 }, 1, 640 },
		{ "k8-dram-turnaround-loss:width=8:tcl=2.5", { 1, 1, 1 }, 2,
		  (32 + 16 + 24) / 2.0 },
		{ "k8-gart-miss-rate", { 1, 50 }, 1, 2 },
		{ "k8-probe-bandwidth", { 100 }, 1, 6400 },
		/* 25 of 100 dwords are no nops; 4 bytes each */
		{ "k8-ht0-use", { 25, 75 }, 1, 25 },
		{ "k8-ht1-bandwidth", { 250 }, 0.5, 2000 },
		{ "k8-ht2-data", { 100 }, 1, 400 },
		{ "k8-read-bandwidth", { 1000 }, 1, 64000 },
		{ "k8-write-bandwidth", { 1000 }, 1, 8000 },
		{ "k8-prefetch-bandwidth", { 10, 4 }, 1, 384 },
		{ "k8-wc-writes", { 10, 4 }, 1, 6 },
		{ "k8-fpu-busy", { 25, 100 }, 1, 25 },
		{ "p6-cpi", { 300, 100 }, 1, 3 },
		{ "p6-interrupts-masked-share", { 1, 4 }, 1, 25 },
		{ "p6-l2-miss-rate", { 1, 10 }, 1, 10 },
		{ "ipc", { 300, 100 }, 1, 3 },
		{ "cpus", { 1.5e9 }, 0.75, 2 },
		{ "ghz", { 3e9, 1e9 }, 7, 3 },
		{ "switch-rate", { 10, 2e9 }, 9, 5 },
		{ "branch-miss-rate", { 1, 200 }, 1, 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct error err = { 0 };
		struct metric_use u;
		double v;

		if (metric_parse(cases[i].text, &u, &err) < 0)
			fail_msg("%s", err.msg);
		v = metric_value(&u, cases[i].counts, cases[i].seconds);
		if (!(fabs(v - cases[i].want) < 1e-6))
			fail_msg("%s is %g, not %g", cases[i].text, v,
				 cases[i].want);
	}
}

static void no_ratio_of_nothing(void **state)
{
	const double none[METRIC_EVENTS_MAX] = { 5, 0 };
	struct metric_use u;

	(void)state;
	assert_int_equal(metric_parse("k8-cpi", &u, NULL), 0);
	assert_true(isnan(metric_value(&u, none, 1)));
}

static void bad_metrics_are_refused(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "empty" }, { ":", "empty" },
		{ "k8-cp", "did you mean k8-cpi" },
		{ "nonsense-of-all-kinds", "tally list metrics" },
		{ "k8-cpi:x=1", "no parameters" },
		{ "k8-dram-bandwidth:", "it has block" },
		{ "k8-dram-bandwidth:block", "needs a number" },
		{ "k8-dram-bandwidth:block=", "needs a number" },
		{ "k8-dram-bandwidth:block=a", "needs a number" },
		{ "k8-dram-bandwidth:block=1/0", "needs a number" },
		{ "k8-dram-turnaround-loss:with=1", "width and tcl" },
	};
	char big[400];
	struct metric_use u;
	struct error err = { 0 };

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		assert_int_equal(metric_parse(cases[i].text, &u, &err),
				 -ERR_USAGE);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("\"%s\": %s", cases[i].text, err.msg);
	}
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_int_equal(metric_parse(big, &u, &err), -ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas_are_computed),
		cmocka_unit_test(bad_formulas_are_refused),
		cmocka_unit_test(metrics_fit_their_counters),
		cmocka_unit_test(metrics_select_what_the_documents_say),
		cmocka_unit_test(metrics_have_their_values),
		cmocka_unit_test(no_ratio_of_nothing),
		cmocka_unit_test(bad_metrics_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
