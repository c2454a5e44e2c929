// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Specifiers and register values.  Values are put together by hand from the
 * fields of PerfEvtSel (BKDG §10.2; SDM 3B §18.22, figure 18-60): event 7-0,
 * mask 15-8, USR 16, OS 17, E 18, INT 20, EN 22, INV 23, counter mask 31-24.
 */
#include "../checks.h"
#include <string.h>

#include "events/hw.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
enum { SPECS = 6 };

static int encode(const struct hw_pmu *pmu, const char *const *specs,
		  uint64_t period, bool interrupt, struct hw_program *out,
		  struct error *err)
{
	char *copy[SPECS];
	size_t n = 0;

	for (; n < SPECS && specs[n]; n++)
		copy[n] = (char *)(uintptr_t)specs[n];
	return hw_encode(pmu, copy, n, &period, interrupt, out, err);
}

static void specifiers_select_their_bits(void **state)
{
	static const struct {
		const struct hw_pmu *pmu;
		const char *spec;
		uint32_t evtsel;	/* on counter 0, with INT */
	} cases[] = {
		{ &hw_k8, "k8-bu-cpu-clk-unhalted", 0x00530076 },
		{ &hw_k8, "unhalted-cycles,usr", 0x00510076 },
		{ &hw_k8, "k8:0x76:0x00", 0x00530076 },
		{ &hw_k8, "K8:118,os", 0x00520076 },
		{ &hw_k8, "cpu-clocks-not-halted:u", 0x00510076 },
		{ &hw_k8, "k8-dc-refill-from-system,mask=modified+owner,usr,os,"
			  "edge,inv,count=2", 0x02d71843 },
		{ &hw_k8, "k8-dc-refill-from-system", 0x00531f43 },
		{ &hw_k8, "dc-refill-from-system:modified", 0x00531043 },
		{ &hw_k8, "k8-bu-fill-into-l2,mask=dirty-l2-victim",
		  0x0053017f },
		{ &hw_k8, "k8:0x6c,mask=exclusive+shared", 0x0053056c },
		{ &hw_k8, "k8-ls-locked-operation", 0x00530124 },
		{ &hw_k8, "k8-fr-interrupts-masked-cycles,edge", 0x005700cd },
		{ &hw_k8, "k8:0xe9:0xb8", 0x0053b8e9 },
		{ &hw_k8, "k8:0xe9:0xf4", 0x0053f4e9 },
		{ &hw_k8, "fp-cycles-with-no-fpu-ops-retired,inv,count=1",
		  0x01d30001 },
		{ &hw_k8, "dc-access,count=3", 0x03530040 },
		/* BKDG 10.2: PIN_CONTROL is bit 19 */
		{ &hw_k8, "dc-access,pc,usr", 0x00590040 },
		{ &hw_p6, "L2_LD:MESI", 0x00530f29 },
		{ &hw_p6, "L2_LD:M+E", 0x00530c29 },
		{ &hw_p6, "L2_LD:ME", 0x00530c29 },
		{ &hw_p6, "PP_L2_LD", 0x00530f29 },
		{ &hw_p6, "l2_st:s,usr", 0x0051022a },
		{ &hw_p6, "p6-l2-ld,mask=m+i,os", 0x00520929 },
		{ &hw_p6, "p6-l2-ld,umask=0x5", 0x00530529 },
		{ &hw_p6, "BUS_TRAN_MEM:ANY", 0x0053206f },
		{ &hw_p6, "BUS_TRAN_MEM:SELF", 0x0053006f },
		{ &hw_p6, "BUS_TRANS_MEM", 0x0053006f },
		{ &hw_p6, "BUS_DRDY_CLOCKS:ANY,edge", 0x00572062 },
		{ &hw_p6, "CPU_CLK_UNHALTED,inv,count=255", 0xffd30079 },
		{ &hw_p6, "p6:0x29:0x0f", 0x00530f29 },
		{ &hw_p6, "p6:0xc0", 0x005300c0 },
		/* SDM 18.22: PC is bit 19 */
		{ &hw_p6, "p6:0xc0,pc", 0x005b00c0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const char *const specs[] = { cases[i].spec, NULL };
		struct hw_program p;
		struct error err = { 0 };

		if (encode(cases[i].pmu, specs, 1000, true, &p, &err) < 0)
			fail_msg("%s: %s", cases[i].spec, err.msg);
		if (p.ev[0].evtsel != cases[i].evtsel)
			fail_msg("%s: %#llx", cases[i].spec,
				 (unsigned long long)p.ev[0].evtsel);
		assert_string_equal(p.ev[0].spec.text, cases[i].spec);
		/* --no-int: the same without bit 20. */
		assert_int_equal(encode(cases[i].pmu, specs, 1000, false, &p,
					&err), 0);
		assert_int_equal(p.ev[0].evtsel,
				 cases[i].evtsel & ~(1u << 20));
	}
}

static void wrong_specifiers_name_the_rule(void **state)
{
	static const struct {
		const struct hw_pmu *pmu;
		const char *spec, *want;
	} cases[] = {
		{ &hw_k8, "", "empty" },
		{ &hw_k8, ",usr", "empty" },
		{ &hw_k8, "k8-dc-mis", "did you mean k8-dc-miss" },
		{ &hw_k8, "k8-nonsense", "tally list k8" },
		{ &hw_k8, "L2_LD", "event of p6, not of k8" },
		{ &hw_p6, "k8-dc-miss", "event of k8, not of p6" },
		{ &hw_p6, "k8:0x76:0x00", "event of k8, not of p6" },
		{ &hw_k8, "k8:0xff", "reserved" },
		{ &hw_k8, "k8:0x176", "reserved" },
		{ &hw_k8, "k8:", "no event" },
		{ &hw_k8, "k8-dc-miss,user", "qualifier \"user\"; write usr" },
		{ &hw_k8, "k8-dc-miss,kernel", "write os" },
		{ &hw_k8, "k8-dc-miss,fast", "known: usr, os" },
		{ &hw_k8, "k8:41", "hexadecimal is written 0x41" },
		{ &hw_k8, "k8:99", "reserved" },
		{ &hw_k8, "k8-dc-miss,cmask=4", "at most 3" },
		{ &hw_k8, "k8-dc-miss,cmask=1,count=1", "twice" },
		{ &hw_k8, "k8-dc-miss,", "unknown qualifier" },
		{ &hw_k8, "k8-dc-miss,mask=modified", "takes no mask" },
		{ &hw_k8, "k8:0x76:0x01", "takes no mask" },
		{ &hw_k8, "k8-dc-copyback,mask=m", "no mask \"m\"; it has" },
		{ &hw_k8, "k8-dc-copyback,mask=", "no mask \"\"" },
		{ &hw_k8, "k8-dc-copyback,mask=shared+", "no mask \"\"" },
		{ &hw_k8, "k8:0x42:0x20", "no mask bits 0x20" },
		{ &hw_k8, "k8:0x42:0x120", "no mask bits" },
		{ &hw_k8, "k8-dc-copyback:shared,mask=owner", "twice" },
		{ &hw_k8, "k8-dc-miss,count=4", "at most 3" },
		{ &hw_k8, "k8-dc-miss,count=9999999999999999999", "at most 3" },
		{ &hw_k8, "k8-dc-miss,count=", "not a number" },
		{ &hw_k8, "k8-dc-miss,count=-1", "not a number" },
		{ &hw_k8, "k8-dc-miss,count=1,count=2", "twice" },
		{ &hw_k8, "k8-dc-miss,inv", "inv without count" },
		{ &hw_k8, "k8-dc-miss,inv,count=0", "inv without count" },
		{ &hw_k8, "k8:0xe9:0x68", "not a sum" },
		{ &hw_k8, "k8:0xe9:0x00", "not a sum" },
		{ &hw_k8, "k8:0xe9,mask=cpu-to-mem+from-local-node", "not a sum" },
		{ &hw_p6, "L2_LD:0", "counts nothing" },
		{ &hw_p6, "p6:0x29:0x00", "counts nothing" },
		{ &hw_p6, "L2_LD:X", "no mask \"X\"; it has m, e, s, i" },
		{ &hw_p6, "L2_LD:0x10", "no mask bits 0x10" },
		{ &hw_p6, "BUS_DATA_RCV:ANY", "no mask \"ANY\"; it has self" },
		{ &hw_p6, "FLOPS:MESI", "takes no mask" },
		{ &hw_p6, "FLOPS,count=256", "at most 255" },
		{ &hw_p6, "FLOPS,inv", "inv without count" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const char *const specs[] = { cases[i].spec, NULL };
		struct hw_program p;
		struct error err = { 0 };

		if (encode(cases[i].pmu, specs, 1000, true, &p, &err) !=
		    -ERR_USAGE)
			fail_msg("\"%s\" was accepted", cases[i].spec);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("\"%s\": %s", cases[i].spec, err.msg);
		assert_int_equal(p.n, 0);
	}
}

static void long_specifiers_are_refused(void **state)
{
	char spec[400];
	const char *const specs[] = { spec, NULL };
	struct hw_program p;
	struct error err;

	(void)state;
	memset(spec, 'a', sizeof(spec) - 1);
	spec[sizeof(spec) - 1] = 0;
	assert_int_equal(encode(&hw_k8, specs, 1, true, &p, &err), -ERR_USAGE);
}

/* SDM: C1h, 10h, 14h on counter 0 only; 11h, 12h, 13h on counter 1 only. */
static void unpinned_events_move_out_of_the_way(void **state)
{
	static const struct {
		const struct hw_pmu *pmu;
		const char *specs[SPECS];
		int counters[SPECS];
	} cases[] = {
		{ &hw_p6, { "INST_RETIRED", "FLOPS" }, { 1, 0 } },
		{ &hw_p6, { "FLOPS", "INST_RETIRED" }, { 0, 1 } },
		{ &hw_p6, { "INST_RETIRED", "L2_LD" }, { 0, 1 } },
		{ &hw_p6, { "MUL" }, { 1 } },
		{ &hw_p6, { "MUL", "INST_RETIRED" }, { 1, 0 } },
		{ &hw_p6, { "INST_RETIRED", "MUL" }, { 0, 1 } },
		{ &hw_p6, { "DIV", "CYCLES_DIV_BUSY" }, { 1, 0 } },
		{ &hw_p6, { "FP_COMP_OPS_EXE", "FP_ASSIST" }, { 0, 1 } },
		{ &hw_p6, { "p6-fp-comps-ops-exe", "MUL" }, { 0, 1 } },
		{ &hw_k8, { "dc-miss", "ic-miss", "k8:0xe0", "dc-access" },
		  { 0, 1, 2, 3 } },
		/* the same event twice, in other modes */
		{ &hw_k8, { "dc-miss,usr", "dc-miss,os" }, { 0, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct hw_program p;
		struct error err = { 0 };

		if (encode(cases[i].pmu, cases[i].specs, 1, true, &p, &err) < 0)
			fail_msg("%zu: %s", i, err.msg);
		for (size_t k = 0; k < p.n; k++)
			if (p.ev[k].counter != cases[i].counters[k])
				fail_msg("%zu: %s on %d", i,
					 p.ev[k].spec.text, p.ev[k].counter);
	}
}

static void impossible_sets_are_refused(void **state)
{
	static const struct {
		const struct hw_pmu *pmu;
		const char *specs[SPECS];
		const char *want;
	} cases[] = {
		{ &hw_p6, { "FLOPS", "CYCLES_DIV_BUSY" },
		  "both count on counter 0 only" },
		{ &hw_p6, { "MUL", "DIV" }, "both count on counter 1 only" },
		{ &hw_p6, { "FLOPS,usr", "FLOPS,os" }, "counter 0 only" },
		{ &hw_p6, { "FLOPS", "MUL", "L2_LD" },
		  "3 events, but p6 has 2 counters" },
		{ &hw_k8, { "dc-miss", "ic-miss", "k8:0xe0", "dc-access",
			    "ic-fetch" }, "5 events, but k8 has 4 counters" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct hw_program p;
		struct error err = { 0 };

		assert_int_equal(encode(cases[i].pmu, cases[i].specs, 1, true,
					&p, &err), -ERR_USAGE);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("%zu: %s", i, err.msg);
	}
}

/* MSRs: BKDG §10.1, §10.2; SDM: 186h, 187h, C1h, C2h. */
static void registers_follow_the_counter(void **state)
{
	static const char *const k8[] = {
		"dc-miss", "ic-miss", "k8:0xe0", "k8:0xec", NULL,
	};
	static const char *const p6[] = { "INST_RETIRED", "FLOPS", NULL };
	static const char *const one[] = { "MUL", NULL };
	struct hw_program p;
	struct error err;

	(void)state;
	assert_int_equal(encode(&hw_k8, k8, 1, true, &p, &err), 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(p.ev[i].msr_evtsel, 0xc0010000 + i);
		assert_int_equal(p.ev[i].msr_counter, 0xc0010004 + i);
	}
	assert_int_equal(p.northbridge, 0xc);
	assert_int_equal(encode(&hw_p6, p6, 1, true, &p, &err), 0);
	assert_int_equal(p.ev[0].msr_evtsel, 0x187);
	assert_int_equal(p.ev[0].msr_counter, 0xc2);
	assert_int_equal(p.ev[1].msr_evtsel, 0x186);
	assert_int_equal(p.ev[1].msr_counter, 0xc1);
	/* EN is in PerfEvtSel0 only, and must be there for counter 1. */
	assert_int_equal(p.ev[0].evtsel, 0x001300c0);
	assert_int_equal(p.ev[1].evtsel, 0x005300c1);
	assert_int_equal(p.evtsel0, 0x005300c1);
	assert_int_equal(encode(&hw_p6, one, 1, true, &p, &err), 0);
	assert_int_equal(p.ev[0].evtsel, 0x00130012);
	assert_int_equal(p.evtsel0, 0x00400000);
}

static void periods_become_negative_counts(void **state)
{
	static const struct {
		const struct hw_pmu *pmu;
		uint64_t period, preload;	/* 0: refused */
	} cases[] = {
		{ &hw_k8, 1, 0xffffffffffff },
		{ &hw_k8, 100000, 0xfffffffe7960 },
		{ &hw_k8, 1ull << 47, 0x800000000000 },
		{ &hw_k8, (1ull << 47) + 1, 0 },
		{ &hw_k8, 0, 0 },
		{ &hw_k8, UINT64_MAX, 0 },
		{ &hw_p6, 1, 0xffffffffff },
		{ &hw_p6, 100000, 0xfffffe7960 },
		{ &hw_p6, 1ull << 31, 0xff80000000 },
		{ &hw_p6, (1ull << 31) + 1, 0 },
		{ &hw_p6, 0, 0 },
	};
	static const char *const specs[] = { "unhalted-cycles", NULL };

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct hw_program p;
		struct error err;
		int r = encode(cases[i].pmu, specs, cases[i].period, true, &p,
			       &err);

		assert_int_equal(r, cases[i].preload ? 0 : -ERR_USAGE);
		if (!r && p.ev[0].preload != cases[i].preload)
			fail_msg("%zu: %#llx", i,
				 (unsigned long long)p.ev[0].preload);
	}
}

/* What a counter of the P6 makes of its preload: a write takes 32 bits and
 * repeats bit 31 (SDM), so the 40 bits must come back. */
static void p6_preloads_survive_sign_extension(void **state)
{
	static const uint64_t periods[] = {
		1, 2, 1000, 0x7fffffff, 0x80000000,
	};

	(void)state;
	for (size_t i = 0; i < N(periods); i++) {
		uint64_t want = pmu_preload(&pmu_models[PMU_P6], periods[i]);
		int64_t written = (int32_t)(uint32_t)want;
		uint64_t counter = (uint64_t)written & 0xffffffffff;

		assert_int_equal(counter, want);
		assert_int_equal((counter + periods[i]) & 0xffffffffff, 0);
	}
}

/* Fields of PERF_CTL: event select 7:0 and 11:8 at bits 0 and 32 (AMD APM 2,
 * "Performance Event-Select Register"). */
static void codes_of_twelve_bits(void **state)
{
	struct pmu_event e = { .event = 0x1c4, .umask = 0x12, .usr = true };

	(void)state;
	assert_int_equal(pmu_event_config(&e), 0x1000012c4);
	e.event = 0xc4;
	assert_int_equal(pmu_event_config(&e), 0x12c4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specifiers_select_their_bits),
		cmocka_unit_test(wrong_specifiers_name_the_rule),
		cmocka_unit_test(long_specifiers_are_refused),
		cmocka_unit_test(unpinned_events_move_out_of_the_way),
		cmocka_unit_test(impossible_sets_are_refused),
		cmocka_unit_test(registers_follow_the_counter),
		cmocka_unit_test(periods_become_negative_counts),
		cmocka_unit_test(p6_preloads_survive_sign_extension),
		cmocka_unit_test(codes_of_twelve_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
