// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel module does to counters, on models of their registers. */
#include "../checks.h"
#include <string.h>

#include "pmu_model.h"

static const struct pmu_event cycles = {
	.event = 0x76, .usr = true, .os = true, .interrupt = true,
};
static const struct pmu_event user_only = {
	.event = 0xc0, .usr = true, .interrupt = true,
};

static const enum pmu_kind kinds[] = {
	MODEL_K8, MODEL_AMD_10H, MODEL_EXTENDED, MODEL_V2, MODEL_P6, MODEL_INTEL_1,
	MODEL_INTEL_2,
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct pmu_bank bank_of(struct pmu_machine *m)
{
	return (struct pmu_bank){ .model = &m->model, .msr = &m->msr };
}

/* Makes a machine of this kind, and returns its registers. */
static struct pmu_bank bank_of_new(struct pmu_machine *m, enum pmu_kind kind)
{
	machine_init(m, kind);
	return bank_of(m);
}

static void k8_gets_its_registers(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);

	(void)state;
	pmu_use(&b, 2, &cycles, 1000);
	pmu_arm(&b);
	/* BKDG §10.2: EN is bit 22, INT 20, OS 17, USR 16. */
	assert_int_equal(m.select[2], 0x530076);
	assert_int_equal(m.counter[2], 0xfffffffffc18);
	assert_int_equal(m.select[0] | m.select[1] | m.select[3], 0);
	machine_count(&m, 999, true);
	assert_int_equal(m.nmis, 0);
	assert_int_equal(pmu_overflowed(&b), 0);
	machine_count(&m, 1, true);
	assert_int_equal(m.nmis, 1);
	assert_int_equal(pmu_overflowed(&b), 4);
	assert_int_equal(m.counter[2], 0);
	pmu_disarm(&b);
	assert_int_equal(m.select[2], 0);
}

static void p6_enables_both_by_counter_0(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_P6);

	(void)state;
	pmu_use(&b, 1, &cycles, 1000);
	pmu_arm(&b);
	assert_int_equal(m.select[0], PMU_SEL_EN);
	assert_int_equal(m.select[1], 0x130076);
	assert_int_equal(m.counter[1], 0xfffffffc18);
	assert_int_equal(m.foreign, 0);
	machine_count(&m, 1000, false);
	assert_int_equal(m.nmis, 1);
	assert_int_equal(pmu_overflowed(&b), 2);
	pmu_disarm(&b);
	assert_false(machine_runs(&m, 0));
	assert_false(machine_runs(&m, 1));
}

/* SDM 3B §18.22: what is written is sign-extended from bit 31. */
static void p6_takes_periods_up_to_2_31(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_P6);
	uint64_t period = 1ull << 31;

	(void)state;
	pmu_use(&b, 0, &cycles, period);
	pmu_arm(&b);
	assert_int_equal(m.counter[0], 0xff80000000);
	machine_count(&m, period - 1, true);
	assert_int_equal(pmu_overflowed(&b), 0);
	machine_count(&m, 1, true);
	assert_int_equal(pmu_overflowed(&b), 1);
	assert_false(pmu_period_fits(b.model, period + 1));
}

static void k8_takes_periods_up_to_2_47(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);
	uint64_t period = 1ull << 47;

	(void)state;
	pmu_use(&b, 3, &cycles, period);
	pmu_arm(&b);
	assert_int_equal(m.counter[3], 0x800000000000);
	machine_count(&m, period - 1, true);
	assert_int_equal(pmu_overflowed(&b), 0);
	machine_count(&m, 1, true);
	assert_int_equal(pmu_overflowed(&b), 8);
}

/* What is counted between overflow and re-arming belongs to the next period:
 * the sum of weights is what was counted. */
static void latency_loses_nothing(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m;
		struct pmu_bank b = bank_of_new(&m, kinds[k]);
		uint64_t counted = 0, weights = 0;
		unsigned int samples = 0;

		pmu_use(&b, 0, &cycles, 1000);
		pmu_arm(&b);
		for (unsigned int i = 0; i < 200000; i++) {
			/* 7 at a time; the handler comes late by up to 700. */
			machine_count(&m, 7, true);
			counted += 7;
			if (i % 100 || !pmu_overflowed(&b))
				continue;
			m.lvtpc = LVT_NMI;
			weights += pmu_rearm(&b, 0, 1000);
			samples++;
		}
		assert_in_range(counted - weights, 0, 2000);
		assert_in_range(samples, 1390, 1400);
		assert_int_equal(m.lost_nmis, 0);
	}
}

/* A handler that is later than a whole period still gets samples, each with the
 * weight of all that was counted. */
static void latency_beyond_the_period_is_clamped(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);
	uint64_t counted = 0, weights = 0;

	(void)state;
	pmu_use(&b, 0, &cycles, 1000);
	pmu_arm(&b);
	for (unsigned int i = 0; i < 1000; i++) {
		machine_count(&m, 5000, true);
		counted += 5000;
		assert_int_equal(pmu_overflowed(&b), 1);
		weights += pmu_rearm(&b, 0, 1000);
		assert_int_equal(m.counter[0] >> 47, 1);
	}
	assert_in_range(counted - weights, 0, 10000);
}

static void two_at_once_are_both_found(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_P6);

	(void)state;
	pmu_use(&b, 0, &cycles, 1000);
	pmu_use(&b, 1, &user_only, 1000);
	pmu_arm(&b);
	machine_count(&m, 1000, true);
	/* Delivering the first masked the entry: the scan finds the other. */
	assert_int_equal(m.nmis, 1);
	assert_int_equal(m.lost_nmis, 1);
	assert_int_equal(pmu_overflowed(&b), 3);
	m.lvtpc = LVT_NMI;
	pmu_rearm(&b, 0, 1000);
	pmu_rearm(&b, 1, 1000);
	machine_count(&m, 1000, false);
	assert_int_equal(m.nmis, 2);
	assert_int_equal(pmu_overflowed(&b), 1);
}

static void events_change_only_while_they_stand_still(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m;
		struct pmu_bank b;

		machine_init(&m, kinds[k]);
		/* Left over by somebody. */
		m.select[0] = 0x430079;
		b = bank_of(&m);
		pmu_use(&b, 0, &user_only, 1000);
		pmu_use(&b, 1, &cycles, 1000);
		pmu_arm(&b);
		pmu_halt(&b);
		assert_false(machine_runs(&m, 0) || machine_runs(&m, 1));
		pmu_go(&b);
		assert_int_equal(m.changed_running, 0);
		assert_int_equal(m.foreign, 0);
		assert_true(machine_runs(&m, 0) && machine_runs(&m, 1));
		assert_int_equal(m.select[0], 0x5100c0);
	}
}

/* Threads come and go: what was counted before a pause is not lost. */
static void halted_counters_go_on_where_they_stood(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m;
		struct pmu_bank b = bank_of_new(&m, kinds[k]);

		/* (On P6 the other counter's register has the enable bit.) */
		pmu_use(&b, 1, &cycles, 1000);
		pmu_arm(&b);
		machine_count(&m, 400, true);
		pmu_halt(&b);
		assert_false(machine_runs(&m, 1));
		machine_count(&m, 5000, true);
		assert_int_equal(pmu_overflowed(&b), 0);
		pmu_go(&b);
		machine_count(&m, 599, true);
		assert_int_equal(m.nmis, 0);
		machine_count(&m, 1, true);
		assert_int_equal(m.nmis, 1);
		/* An overflow just before the pause is found in it. */
		pmu_halt(&b);
		assert_int_equal(pmu_overflowed(&b), 2);
		assert_int_equal(pmu_rearm(&b, 1, 300), 1000);
		pmu_go(&b);
		machine_count(&m, 300, true);
		assert_int_equal(pmu_rearm(&b, 1, 300), 300);
		assert_int_equal(m.changed_running, 0);
		assert_int_equal(m.foreign, 0);
	}
}

static void user_and_kernel_are_apart(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);

	(void)state;
	pmu_use(&b, 0, &user_only, 100);
	pmu_arm(&b);
	machine_count(&m, 100000, false);
	assert_int_equal(pmu_overflowed(&b), 0);
	machine_count(&m, 100, true);
	assert_int_equal(pmu_overflowed(&b), 1);
}

static void what_was_there_comes_back(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m, before;
		struct pmu_bank b;

		machine_init(&m, kinds[k]);
		m.select[0] = 0x430079;
		m.select[1] = 0x0300c0;
		m.counter[0] = 12345;
		m.counter[1] = 0x7fffffff;
		before = m;
		b = bank_of(&m);
		assert_true(pmu_probe(b.model, b.msr));
		assert_memory_equal(m.select, before.select, sizeof(m.select));
		assert_memory_equal(m.counter, before.counter,
				    sizeof(m.counter));
		pmu_save(&b);
		pmu_use(&b, 0, &cycles, 1000);
		pmu_use(&b, 1, &user_only, 1000);
		pmu_arm(&b);
		machine_count(&m, 1500, true);
		pmu_disarm(&b);
		pmu_restore(&b);
		assert_memory_equal(m.select, before.select, sizeof(m.select));
		assert_memory_equal(m.counter, before.counter,
				    sizeof(m.counter));
	}
}

static void machines_without_counters_are_known(void **state)
{
	static const enum pmu_kind absent[] = { MODEL_ZERO, MODEL_ABSENT };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct pmu_machine m;

		machine_init(&m, absent[k]);
		assert_false(pmu_probe(&pmu_models[PMU_K8], &m.msr));
		assert_int_equal(m.faults, 0);
	}
}

/* A late NMI after the stop finds its counter once, and not again. */
static void twins_are_claimed_and_no_others(void **state)
{
	const uint64_t ms = 1000000;
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);

	(void)state;
	pmu_use(&b, 0, &cycles, 1000);
	pmu_use(&b, 1, &cycles, 1000);
	pmu_arm(&b);
	assert_false(pmu_claims(&b, 0, 5 * ms));
	machine_count_one(&m, 0, 1000, true);
	assert_int_equal(pmu_overflowed(&b), 1);
	assert_true(pmu_claims(&b, 1, 10 * ms));
	pmu_rearm(&b, 0, 1000);
	assert_false(pmu_claims(&b, 0, 11 * ms));
	machine_count(&m, 1000, true);
	assert_int_equal(m.nmis, 3);
	assert_int_equal(pmu_overflowed(&b), 3);
	assert_true(pmu_claims(&b, 2, 20 * ms));
	pmu_rearm(&b, 0, 1000);
	pmu_rearm(&b, 1, 1000);
	/* The second, on a machine that stood still. */
	assert_true(pmu_claims(&b, 0, 500 * ms));
	assert_false(pmu_claims(&b, 0, 501 * ms));
	/* Or it never came. */
	assert_true(pmu_claims(&b, 2, 600 * ms));
	assert_false(pmu_claims(&b, 0, 1700 * ms));
}

/* While the late one is handled another counter comes to its end: its own NMI is
 * late now. */
static void late_ones_pass_it_on(void **state)
{
	struct pmu_machine m;
	struct pmu_bank b = bank_of_new(&m, MODEL_K8);

	(void)state;
	assert_true(pmu_claims(&b, 2, 1000));
	assert_true(pmu_claims(&b, 1, 2000));
	assert_true(pmu_claims(&b, 0, 3000));
	assert_false(pmu_claims(&b, 0, 4000));
	/* A counter that was stopped as it came to its end. */
	pmu_expect(&b, 5000);
	assert_true(pmu_claims(&b, 0, 6000));
	assert_false(pmu_claims(&b, 0, 7000));
}

/* What the vendors' documents say: CPUID, then the counters, their width, and the first
 * and second register of each. */
static void processors_have_their_registers(void **state)
{
	static const struct {
		struct pmu_cpu_id id;
		enum pmu_row row;
		uint8_t counters, width;
		uint32_t select[2], counter[2], global;
	} known[] = {
		{ { 2, 15, 5, 0, false, 0 }, PMU_K8, 4, 48,
		  { 0xc0010000, 0xc0010001 }, { 0xc0010004, 0xc0010005 }, 0 },
		{ { 2, 15, 127, 0, false, 0 }, PMU_K8, 4, 48,
		  { 0xc0010000, 0xc0010001 }, { 0xc0010004, 0xc0010005 }, 0 },
		{ { 2, 0x10, 10, 0, false, 0 }, PMU_AMD_10H, 4, 48,
		  { 0xc0010000, 0xc0010001 }, { 0xc0010004, 0xc0010005 }, 0 },
		{ { 2, 0x14, 1, 0, false, 0 }, PMU_AMD_10H, 4, 48,
		  { 0xc0010000, 0xc0010001 }, { 0xc0010004, 0xc0010005 }, 0 },
		{ { 2, 0x15, 2, 0, true, 0 }, PMU_AMD_EXTENDED, 6, 48,
		  { 0xc0010200, 0xc0010202 }, { 0xc0010201, 0xc0010203 }, 0 },
		{ { 2, 0x17, 1, 0, true, 0 }, PMU_AMD_EXTENDED, 6, 48,
		  { 0xc0010200, 0xc0010202 }, { 0xc0010201, 0xc0010203 }, 0 },
		/* A virtual machine that hides the extension. */
		{ { 2, 0x17, 1, 0, false, 0 }, PMU_AMD_10H, 4, 48,
		  { 0xc0010000, 0xc0010001 }, { 0xc0010004, 0xc0010005 }, 0 },
		{ { 2, 0x19, 0x61, 0, true, 6 }, PMU_AMD_V2, 6, 48,
		  { 0xc0010200, 0xc0010202 }, { 0xc0010201, 0xc0010203 },
		  0xc0000301 },
		{ { 0, 6, 1, 0, false, 0 }, PMU_P6, 2, 40,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0 },
		{ { 0, 6, 14, 0x07280201, false, 0 }, PMU_INTEL_1, 2, 40,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0 },
		{ { 0, 6, 15, 0x07280202, false, 0 }, PMU_INTEL_2, 2, 40,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0x38f },
		{ { 0, 6, 58, 0x07300403, false, 0 }, PMU_INTEL_2, 4, 48,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0x38f },
		{ { 0, 6, 94, 0x07300804, false, 0 }, PMU_INTEL_2, 8, 48,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0x38f },
		{ { 0, 6, 126, 0x08300805, false, 0 }, PMU_INTEL_2, 8, 48,
		  { 0x186, 0x187 }, { 0xc1, 0xc2 }, 0x38f },
	}, *k = known;
	static const struct pmu_cpu_id others[] = {
		{ 2, 6, 8, 0, false, 0 },		/* K7 */
		{ 0, 5, 4, 0, false, 0 },		/* Pentium MMX */
		{ 0, 15, 4, 0, false, 0 },		/* Pentium 4 */
		{ 0, 6, 42, 0, false, 0 },		/* hidden by a hypervisor */
		{ 0, 6, 42, 0x00000002, false, 0 },	/* … or without counters */
		{ 0, 6, 42, 0x00ff0402, false, 0 },	/* … or nonsense */
		{ 9, 0x18, 1, 0, true, 0 },
	};
	struct pmu_model m;

	(void)state;
	for (; k < known + sizeof(known) / sizeof(known[0]); k++) {
		assert_int_equal(pmu_detect(&k->id, &m), k->row);
		assert_int_equal(m.counters, k->counters);
		assert_int_equal(m.width, k->width);
		for (unsigned int c = 0; c < 2; c++) {
			assert_int_equal(pmu_msr_evtsel(&m, c), k->select[c]);
			assert_int_equal(pmu_msr_counter(&m, c), k->counter[c]);
		}
		assert_int_equal(m.msr_global, k->global);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(pmu_detect(&others[i], &m), PMU_ROWS);
}

/* Each code and unit mask, then each counter mask and flag: the bits are those of the
 * documents (USR 16, OS 17, E 18, PC 19, INT 20, EN 22, INV 23). */
static void all_events_are_encoded(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m;
		bool wide = kinds[k] >= MODEL_AMD_10H && kinds[k] <= MODEL_V2;
		bool en1 = kinds[k] != MODEL_P6;

		machine_init(&m, kinds[k]);
		for (unsigned int i = 0; i < 1u << 20; i++) {
			struct pmu_event e = {
				.event = (uint16_t)(i & 0xfff),
				.umask = (uint8_t)(i >> 12), .usr = true,
			};
			uint64_t want = (i & 0xff) | (i >> 12) << 8 | 0x10000 |
					(uint64_t)(i >> 8 & 15) << 32;

			if (pmu_event_check(&m.model, &e) !=
			    (wide || (i & 0xfff) < 256 ? PMU_FINE : PMU_CODE_RESERVED))
				fail_msg("code %x", e.event);
			if (pmu_event_select(&m.model, &e, 0) != (want | 1u << 22) ||
			    pmu_event_select(&m.model, &e, 1) !=
			    (want | (en1 ? 1u << 22 : 0)))
				fail_msg("event %x:%x", e.event, e.umask);
		}
		for (unsigned int i = 0; i < 1u << 14; i++) {
			struct pmu_event e = {
				.event = 0xc0, .cmask = (uint8_t)(i >> 6),
				.usr = i & 1, .os = i & 2, .edge = i & 4,
				.pc = i & 8, .interrupt = i & 16, .inv = i & 32,
			};
			unsigned int most = m.model.cmask_max;
			uint64_t want = 0xc0 | (i & 31) << 16 | 1u << 22 |
					(i & 32) << 18 | (uint64_t)(i >> 6) << 24;

			assert_int_equal(pmu_event_select(&m.model, &e, 0), want);
			assert_int_equal(pmu_event_check(&m.model, &e),
					 i >> 6 > most ? PMU_CMASK_RESERVED
					 : i & 32 && !(i >> 6) ? PMU_INV_ALONE
					 : i & 3 ? PMU_FINE : PMU_NOWHERE);
		}
	}
}

/* Every counter of every processor, to the end of a period and again. */
static void all_counters_sample(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct pmu_machine m;
		struct pmu_bank b = bank_of_new(&m, kinds[k]);

		pmu_save(&b);
		for (unsigned int c = 0; c < m.model.counters; c++)
			pmu_use(&b, c, &cycles, 1000);
		pmu_arm(&b);
		for (unsigned int n = 0; n < 3; n++) {
			machine_count(&m, 999, true);
			assert_int_equal(pmu_overflowed(&b), 0);
			machine_count(&m, 1, true);
			assert_int_equal(pmu_overflowed(&b),
					 (1u << m.model.counters) - 1);
			m.lvtpc = LVT_NMI;
			for (unsigned int c = 0; c < m.model.counters; c++)
				assert_int_equal(pmu_rearm(&b, c, 1000), 1000);
		}
		pmu_halt(&b);
		pmu_disarm(&b);
		pmu_restore(&b);
		assert_int_equal(m.global, 0);
		assert_int_equal(m.faults + m.unacknowledged + m.foreign, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(k8_gets_its_registers),
		cmocka_unit_test(p6_enables_both_by_counter_0),
		cmocka_unit_test(p6_takes_periods_up_to_2_31),
		cmocka_unit_test(k8_takes_periods_up_to_2_47),
		cmocka_unit_test(latency_loses_nothing),
		cmocka_unit_test(latency_beyond_the_period_is_clamped),
		cmocka_unit_test(two_at_once_are_both_found),
		cmocka_unit_test(events_change_only_while_they_stand_still),
		cmocka_unit_test(halted_counters_go_on_where_they_stood),
		cmocka_unit_test(user_and_kernel_are_apart),
		cmocka_unit_test(what_was_there_comes_back),
		cmocka_unit_test(machines_without_counters_are_known),
		cmocka_unit_test(twins_are_claimed_and_no_others),
		cmocka_unit_test(late_ones_pass_it_on),
		cmocka_unit_test(processors_have_their_registers),
		cmocka_unit_test(all_events_are_encoded),
		cmocka_unit_test(all_counters_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
