// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of K8 and P6 events against their documents (hw_documents.h) and
 * against expectations written by hand from the documents' text.
 */
#include "../checks.h"
#include <stdio.h>
#include <string.h>

#include "events/hw.h"
#include "events/events.h"
#include "hw_documents.h"
#include "sysfs.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const struct hw_event *find(const struct hw_pmu *pmu, const char *name)
{
	const struct hw_event *e = hw_event_find(pmu, name, strlen(name));

	if (!e)
		fail_msg("%s has no \"%s\"", pmu->name, name);
	return e;
}

static size_t count(const struct hw_pmu *pmu)
{
	size_t n = 0;

	while (pmu->events[n].names)
		n++;
	return n;
}

static void tables_have_all_events_once(void **state)
{
	(void)state;
	assert_int_equal(count(&hw_k8), 89);
	assert_int_equal(count(&hw_p6), 68);
	for (int p = 0; p < 2; p++) {
		const struct hw_pmu *pmu = hw_pmu_at((size_t)p);
		const struct hw_event *e;

		for (e = pmu->events; e->names; e++) {
			char name[128];

			assert_ptr_equal(hw_event_code(pmu, e->code), e);
			/* Each name leads back here: none is given twice. */
			for (size_t k = 0; hw_names_at(e->names, k, name,
						       sizeof(name)); k++)
				assert_ptr_equal(find(pmu, name), e);
		}
	}
}

static const char *bkdg_word(const char *title, char *out)
{
	size_t n = 0;

	for (; *title && n < 120; title++)
		if ((*title >= '0' && *title <= '9') ||
		    (*title >= 'A' && *title <= 'Z') ||
		    (*title >= 'a' && *title <= 'z'))
			out[n++] = *title;
		else if (n && out[n - 1] != '-')
			out[n++] = '-';
	out[n] = 0;
	return out;
}

static void k8_events_are_those_of_bkdg(void **state)
{
	(void)state;
	assert_int_equal(N(doc_bkdg), 87);
	for (size_t i = 0; i < N(doc_bkdg); i++) {
		const struct hw_event *e = hw_event_code(&hw_k8,
							 doc_bkdg[i].code);
		uint8_t bits = doc_bkdg[i].bits;
		char word[128];

		assert_non_null(e);
		assert_true(e->sources & HW_BKDG);
		assert_string_equal(e->title, doc_bkdg[i].title);
		assert_ptr_equal(find(&hw_k8, bkdg_word(doc_bkdg[i].title,
							word)), e);
		if (e->code == 0x7f)
			bits |= 0x02;	/* BKDG's text */
		if (e->code == 0x4c)
			bits |= 0x01;	/* pmc.k8: accesses */
		if (hw_event_bits(e) != bits)
			fail_msg("%02x: bits %02x", e->code, hw_event_bits(e));
	}
}

static void k8_names_are_those_of_pmc_k8(void **state)
{
	size_t both = 0;

	(void)state;
	assert_int_equal(N(doc_pmc_k8), 80);
	for (size_t i = 0; i < N(doc_pmc_k8); i++) {
		const struct hw_event *e = find(&hw_k8, doc_pmc_k8[i].name);

		assert_int_equal(e->code, doc_pmc_k8[i].code);
		assert_true(e->sources & HW_PMC_K8);
		both += e->sources == (HW_BKDG | HW_PMC_K8);
		/* without its prefix, and with underscores */
		assert_ptr_equal(find(&hw_k8, doc_pmc_k8[i].name + 3), e);
	}
	assert_int_equal(both, 78);
	assert_int_equal(find(&hw_k8, "K8_DC_MISS")->code, 0x41);
}

static void p6_events_are_those_of_both_lists(void **state)
{
	static const uint8_t bits[] = {
		[NO_MASK] = 0, [SELF] = 0, [ANY] = 0x20, [MESI] = 0x0f,
	};

	(void)state;
	assert_int_equal(N(doc_p6_en), 68);
	for (size_t i = 0; i < N(doc_p6_en); i++) {
		const struct hw_event *e = find(&hw_p6, doc_p6_en[i].name);

		assert_int_equal(e->code, doc_p6_en[i].code);
		assert_true(e->sources & HW_P6_EN);
		assert_int_equal(hw_event_bits(e), bits[doc_p6_en[i].mask]);
		assert_int_equal(e->default_mask,
				 doc_p6_en[i].mask == MESI ? 0x0f : 0);
		assert_int_equal(e->rule, doc_p6_en[i].mask == MESI
				 ? HW_MASK_MESI : HW_MASK_BITS);
		assert_ptr_equal(find(&hw_p6, doc_p6_en[i].name + 3), e);
	}
	assert_int_equal(N(doc_p6_zh), 60);
	for (size_t i = 0; i < N(doc_p6_zh); i++) {
		const struct hw_event *e = find(&hw_p6, doc_p6_zh[i].name);

		assert_int_equal(e->code, doc_p6_zh[i].code);
		assert_true(e->sources & HW_P6_ZH);
	}
}

static void both_spellings_of_p6_are_known(void **state)
{
	static const struct {
		const char *name;
		uint8_t code;
	} cases[] = {
		{ "PARTIAL_STALLS", 0xd2 }, { "PP_PARTIAL_RAT_STALLS", 0xd2 },
		{ "BUS_TRAN_P", 0x6b }, { "BUS_TRANS_P", 0x6b },
		{ "BUS_TRAN_IO", 0x6c }, { "PP_BUS_TRANS_IO", 0x6c },
		{ "BUS_TRAN_WB", 0x67 }, { "BUS_TRANS_MEM", 0x6f },
		{ "p6-l2-ld", 0x29 }, { "pp_l2_ld", 0x29 },
		{ "CYCLES_INT_PENDING_AND_MASKED", 0xc7 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		assert_int_equal(find(&hw_p6, cases[i].name)->code,
				 cases[i].code);
}

/* Pins and speculation, by the comments of the lists. */
static void counters_are_as_documented(void **state)
{
	const struct hw_event *e;

	(void)state;
	for (e = hw_p6.events; e->names; e++) {
		uint8_t want = 3;

		if (e->code == 0xc1 || e->code == 0x10 || e->code == 0x14)
			want = 1;
		if (e->code == 0x11 || e->code == 0x12 || e->code == 0x13)
			want = 2;
		assert_int_equal(hw_event_counters(&hw_p6, e), want);
		assert_false(hw_event_shared(&hw_p6, e));
	}
	for (e = hw_k8.events; e->names; e++) {
		assert_int_equal(hw_event_counters(&hw_k8, e), 0xf);
		assert_int_equal(hw_event_shared(&hw_k8, e), e->code >= 0xe0);
	}
}

static void speculation_is_as_documented(void **state)
{
	/* BKDG: "Speculative" in the text of these, and all of 80h to 89h. */
	static const uint8_t spec[] = {
		0x00, 0x02, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
		0x4b, 0x7e, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
		0x88, 0x89,
	};
	const struct hw_event *e;

	(void)state;
	for (e = hw_k8.events; e->names; e++) {
		bool is = memchr(spec, e->code, sizeof(spec));

		if (is != (e->when == HW_SPECULATIVE))
			fail_msg("%02x", e->code);
		if (e->code >= 0xc0 && e->code <= 0xcc)
			assert_int_equal(e->when, HW_RETIRED);
	}
}

/* EN: speculative in the comments of 11h to 14h; executed and decoded events by
 * nature; retired by name, and FLOPS by its text. */
static void p6_speculation_is_as_documented(void **state)
{
	static const uint8_t spec[] = {
		0x10, 0x11, 0x12, 0x13, 0x14, 0xd0, 0xe0,
	};
	const struct hw_event *e;

	(void)state;
	for (e = hw_p6.events; e->names; e++) {
		bool is = memchr(spec, e->code, sizeof(spec));
		bool retired = strstr(e->names, "_RET") || e->code == 0xc1;

		if (is != (e->when == HW_SPECULATIVE) ||
		    retired != (e->when == HW_RETIRED))
			fail_msg("%02x", e->code);
	}
}

/* Bits by their meaning in BKDG; pmc.k8's list is in another order. */
static void mask_words_have_the_bits_of_their_meaning(void **state)
{
	static const struct {
		uint8_t code;
		const char *word;
		uint8_t bits;
	} cases[] = {
		{ 0x00, "add-pipe-junk-ops", 0x08 },
		{ 0x00, "multiply-pipe-excluding-junk-ops", 0x02 },
		{ 0x00, "store-pipe-junk-ops", 0x20 },
		{ 0x20, "es", 0x01 }, { 0x20, "cs", 0x02 },
		{ 0x20, "ss", 0x04 }, { 0x20, "ds", 0x08 },
		{ 0x20, "fs", 0x10 }, { 0x20, "gs", 0x20 },
		{ 0x20, "hs", 0x40 }, { 0x24, "locked-instructions", 0x01 },
		{ 0x24, "cycles-in-request", 0x02 },
		{ 0x24, "cycles-to-complete", 0x04 },
		{ 0x42, "system", 0x01 }, { 0x42, "shared", 0x02 },
		{ 0x43, "invalid", 0x01 }, { 0x43, "exclusive", 0x04 },
		{ 0x44, "owner", 0x08 }, { 0x44, "modified", 0x10 },
		{ 0x4a, "scrubber", 0x01 }, { 0x4a, "piggyback", 0x02 },
		{ 0x4b, "load", 0x01 }, { 0x4b, "store", 0x02 },
		{ 0x4b, "nta", 0x04 }, { 0x4c, "misses", 0x02 },
		{ 0x65, "ss", 0x80 }, { 0x67, "attempts", 0x02 },
		{ 0x6c, "exclusive", 0x01 }, { 0x6c, "modified", 0x02 },
		{ 0x6c, "shared", 0x04 }, { 0x7d, "ic-fill", 0x01 },
		{ 0x7d, "dc-fill", 0x02 }, { 0x7d, "tlb-reload", 0x04 },
		{ 0x7d, "tag-snoop", 0x08 }, { 0x7d, "cancelled", 0x10 },
		{ 0x7e, "tlb-reload", 0x04 }, { 0x7f, "dirty-l2-victim", 0x01 },
		{ 0x7f, "victim-from-l2", 0x02 }, { 0xcb, "x87", 0x01 },
		{ 0xcb, "mmx-3dnow", 0x02 }, { 0xcb, "packed-sse-sse2", 0x04 },
		{ 0xcb, "scalar-sse-sse2", 0x08 },
		{ 0xcc, "low-op-pos-2", 0x04 },
		{ 0xdb, "x87-reclass-microfaults", 0x01 },
		{ 0xdb, "sse-retype-microfaults", 0x02 },
		{ 0xdb, "sse-reclass-microfaults", 0x04 },
		{ 0xdb, "sse-and-x87-microtraps", 0x08 },
		{ 0xe0, "page-hit", 0x01 }, { 0xe0, "page-miss", 0x02 },
		{ 0xe0, "page-conflict", 0x04 },
		{ 0xe3, "dimm-turnaround", 0x01 },
		{ 0xe3, "read-to-write-turnaround", 0x02 },
		{ 0xe3, "write-to-read-turnaround", 0x04 },
		{ 0xe4, "memory-controller-hi-pri-bypass", 0x01 },
		{ 0xe4, "memory-controller-lo-pri-bypass", 0x02 },
		{ 0xe4, "dram-controller-interface-bypass", 0x04 },
		{ 0xe4, "dram-controller-queue-bypass", 0x08 },
		{ 0xeb, "nonpostwrszbyte", 0x01 },
		{ 0xeb, "nonpostwrszdword", 0x02 },
		{ 0xeb, "postwrszbyte", 0x04 }, { 0xeb, "postwrszdword", 0x08 },
		{ 0xeb, "rdszbyte", 0x10 }, { 0xeb, "rdszdword", 0x20 },
		{ 0xeb, "rdmodwr", 0x40 }, { 0xec, "probe-miss", 0x01 },
		{ 0xec, "probe-hit", 0x02 },
		{ 0xec, "probe-hit-dirty-no-memory-cancel", 0x04 },
		{ 0xec, "probe-hit-dirty-with-memory-cancel", 0x08 },
		{ 0xf6, "command", 0x01 }, { 0xf7, "data", 0x02 },
		{ 0xf8, "buffer-release", 0x04 }, { 0xf6, "nop", 0x08 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		const struct hw_event *e = hw_event_code(&hw_k8,
							 cases[i].code);
		uint8_t bits = 0;

		for (size_t k = 0; k < e->nmasks; k++)
			if (hw_names_have(e->masks[k].names, cases[i].word,
					  strlen(cases[i].word)))
				bits = e->masks[k].bits;
		if (bits != cases[i].bits)
			fail_msg("%02x %s: %02x", e->code, cases[i].word, bits);
	}
}

/* BKDG names no event that libpfm4 lacks, and their masks agree but for: E8h,
 * where libpfm4 has thermal bits of later revisions; 4Ch, where pmc.k8 has
 * bit 0. */
static void libpfm4_has_the_same_bits(void **state)
{
	(void)state;
	assert_int_equal(N(libpfm4_k8), 87);
	for (size_t i = 0; i < N(libpfm4_k8); i++) {
		const struct hw_event *e = hw_event_code(&hw_k8,
							 libpfm4_k8[i].code);
		uint8_t bits = libpfm4_k8[i].bits;

		assert_non_null(e);
		assert_true(e->sources & HW_BKDG);
		if (e->code == 0xe8)
			bits = 0x80;
		if (e->code == 0x4c)
			bits |= 0x01;
		if (hw_event_bits(e) != bits)
			fail_msg("%02x: %02x, libpfm4 %02x", e->code,
				 hw_event_bits(e), bits);
	}
}

/* All bits, but for the three whose sum would mean nothing. */
static void defaults_are_as_documented(void **state)
{
	const struct hw_event *e;

	(void)state;
	for (e = hw_k8.events; e->names; e++) {
		uint8_t want = e->code == 0x24 ? 0x01 : e->code == 0x4c ? 0x02
			: e->code == 0xec ? 0x0f : hw_event_bits(e);

		if (e->default_mask != want)
			fail_msg("%02x: %02x", e->code, e->default_mask);
	}
}

/* pmc.k8, "Event Name Aliases". */
static void aliases_name_their_events(void **state)
{
	(void)state;
	assert_int_equal(find(&hw_k8, "branches")->code, 0xc4);
	assert_int_equal(find(&hw_k8, "branch-mispredicts")->code, 0xc5);
	assert_int_equal(find(&hw_k8, "dc-misses")->code, 0x41);
	assert_int_equal(find(&hw_k8, "ic-misses")->code, 0x81);
	assert_int_equal(find(&hw_k8, "instructions")->code, 0xc0);
	assert_int_equal(find(&hw_k8, "interrupts")->code, 0xcf);
	assert_int_equal(find(&hw_k8, "unhalted-cycles")->code, 0x76);
	assert_int_equal(find(&hw_p6, "unhalted-cycles")->code, 0x79);
	assert_int_equal(find(&hw_p6, "instructions")->code, 0xc0);
	assert_int_equal(find(&hw_k8, "k8-fr-taken-hardware-interrupts")->code,
			 0xcf);
}

/* BKDG E9h: the table of legal values, its two sums, and what it denies. */
static void request_paths_follow_their_table(void **state)
{
	static const uint8_t good[] = {
		0xa8, 0xa4, 0xa2, 0xa1, 0x98, 0x94, 0x92, 0x91, 0x64, 0x61,
		0xb8, 0xf4, 0xff,
	};
	static const uint8_t bad[] = {
		0x00, 0x01, 0x08, 0x80, 0xa0, 0x28, 0x68, 0x62, 0x58, 0x54,
		0x51, 0xf8, 0x0f, 0xf0,
	};

	(void)state;
	for (size_t i = 0; i < N(good); i++)
		if (!hw_paths_legal(good[i]))
			fail_msg("%02x", good[i]);
	for (size_t i = 0; i < N(bad); i++)
		if (hw_paths_legal(bad[i]))
			fail_msg("%02x", bad[i]);
}

static void generic_events_exist(void **state)
{
	const struct hw_pmu *pmu;

	(void)state;
	for (size_t p = 0; (pmu = hw_pmu_at(p)); p++) {
		const struct hw_event *e;
		struct event_spec s;

		for (e = pmu->events; e->names; e++)
			if (e->generic && !event_name_find(e->generic,
						strlen(e->generic), &s))
				fail_msg("%02x: %s", e->code, e->generic);
	}
}

static void the_processor_is_identified_by_its_family(void **state)
{
	static const struct {
		const char *modalias;
		const struct hw_pmu *pmu;
	} cases[] = {
		{ "cpu:type:x86,ven0002fam000Fmod0005:feature:,0000", &hw_k8 },
		{ "cpu:type:x86,ven0002fam0010mod0002:feature:", NULL },
		{ "cpu:type:x86,ven0000fam000Fmod0002:feature:", NULL },
		{ "cpu:type:x86,ven0000fam0006mod000D:feature:", &hw_p6 },
		{ "cpu:type:x86,ven0000fam0006mod0001:feature:", &hw_p6 },
		{ "cpu:type:x86,ven0000fam0006mod009E:feature:", NULL },
		{ "cpu:type:aarch64:feature:", NULL },
		{ "", NULL },
	};
	const struct sysfs *s = *state;

	for (size_t i = 0; i < N(cases); i++) {
		sysfs_put(s, "devices/system/cpu/modalias",
			  cases[i].modalias);
		assert_ptr_equal(hw_pmu_here(s->root), cases[i].pmu);
	}
	assert_null(hw_pmu_here("/nonexistent"));
}

static int setup(void **state)
{
	static struct sysfs s;

	*state = &s;
	return sysfs_make(&s);
}

static int teardown(void **state)
{
	sysfs_drop(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_all_events_once),
		cmocka_unit_test(k8_events_are_those_of_bkdg),
		cmocka_unit_test(k8_names_are_those_of_pmc_k8),
		cmocka_unit_test(p6_events_are_those_of_both_lists),
		cmocka_unit_test(both_spellings_of_p6_are_known),
		cmocka_unit_test(counters_are_as_documented),
		cmocka_unit_test(speculation_is_as_documented),
		cmocka_unit_test(p6_speculation_is_as_documented),
		cmocka_unit_test(mask_words_have_the_bits_of_their_meaning),
		cmocka_unit_test(libpfm4_has_the_same_bits),
		cmocka_unit_test(defaults_are_as_documented),
		cmocka_unit_test(aliases_name_their_events),
		cmocka_unit_test(request_paths_follow_their_table),
		cmocka_unit_test(generic_events_exist),
		cmocka_unit_test(the_processor_is_identified_by_its_family),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
