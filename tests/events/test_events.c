// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers: enum perf_type_id, perf_hw_id, perf_sw_ids and the HW_CACHE encoding
 * of include/uapi/linux/perf_event.h; modifiers: perf-list(1).  They are
 * written out here, so that a slip in the table is seen.
 */
#include "../checks.h"
#include <stdio.h>
#include <string.h>

#include "events/events.h"
#include "events/pmu.h"
#include "sysfs.h"

static struct event_spec parse_one(const char *text, const char *sysfs)
{
	struct event_list l = { 0 };
	struct error err = { 0 };
	struct event_spec e;

	if (events_parse(text, sysfs, &l, &err) < 0)
		fail_msg("%s: %s", text, err.msg);
	assert_int_equal(l.n, 1);
	e = l.v[0];
	event_list_fini(&l);
	return e;
}

static void names_have_the_kernels_numbers(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config;
	} cases[] = {
		{ "cycles", 0, 0 }, { "cpu-cycles", 0, 0 },
		{ "instructions", 0, 1 }, { "cache-references", 0, 2 },
		{ "cache-misses", 0, 3 }, { "branches", 0, 4 },
		{ "branch-instructions", 0, 4 }, { "branch-misses", 0, 5 },
		{ "bus-cycles", 0, 6 }, { "stalled-cycles-frontend", 0, 7 },
		{ "idle-cycles-backend", 0, 8 }, { "ref-cycles", 0, 9 },
		{ "cpu-clock", 1, 0 }, { "task-clock", 1, 1 },
		{ "page-faults", 1, 2 }, { "faults", 1, 2 },
		{ "context-switches", 1, 3 }, { "cs", 1, 3 },
		{ "migrations", 1, 4 }, { "minor-faults", 1, 5 },
		{ "major-faults", 1, 6 }, { "alignment-faults", 1, 7 },
		{ "emulation-faults", 1, 8 }, { "dummy", 1, 9 },
		{ "bpf-output", 1, 10 }, { "cgroup-switches", 1, 11 },
		/* id | op << 8 | result << 16 */
		{ "L1-dcache-loads", 3, 0x00000 },
		{ "L1-dcache-load-misses", 3, 0x10000 },
		{ "L1-dcache-stores", 3, 0x00100 },
		{ "L1-icache-load-misses", 3, 0x10001 },
		{ "LLC-loads", 3, 0x00002 }, { "LLC-store-misses", 3, 0x10102 },
		{ "LLC-prefetch-misses", 3, 0x10202 },
		{ "dTLB-loads", 3, 0x00003 }, { "iTLB-load-misses", 3, 0x10004 },
		{ "branch-load-misses", 3, 0x10005 },
		{ "node-prefetches", 3, 0x00206 },
		{ "r1", 4, 0x1 }, { "r01c4", 4, 0x1c4 }, { "rAbC", 4, 0xabc },
		{ "rffffffffffffffff", 4, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec e = parse_one(cases[i].text, "/nonexistent");

		if (e.type != cases[i].type || e.config != cases[i].config)
			fail_msg("%s: %u/%#llx", cases[i].text, e.type,
				 (unsigned long long)e.config);
		assert_string_equal(e.text, cases[i].text);
		assert_int_equal(e.software, cases[i].type == 1);
	}
}

/* SDM 3B §18.22: PC is bit 19 of PerfEvtSel. */
static void pin_control_is_seen_in_raw_codes(void **state)
{
	struct event_spec pc = parse_one("r80076", "/x");
	struct event_spec all_else = parse_one("r1fff7ffff", "/x");
	struct event_spec clock = parse_one("cpu-clock", "/x");

	(void)state;
#if defined(__x86_64__) || defined(__i386__)
	assert_true(event_pin_control(&pc));
#else
	assert_false(event_pin_control(&pc));
#endif
	assert_false(event_pin_control(&all_else));
	assert_false(event_pin_control(&clock));
}

static void clocks_count_time(void **state)
{
	(void)state;
	assert_int_equal(parse_one("cpu-clock", "/x").unit, EVENT_UNIT_NS);
	assert_int_equal(parse_one("task-clock:u", "/x").unit, EVENT_UNIT_NS);
	assert_int_equal(parse_one("page-faults", "/x").unit,
			 EVENT_UNIT_COUNT);
	assert_int_equal(parse_one("cycles", "/x").unit, EVENT_UNIT_COUNT);
}

static void modifiers_exclude_what_is_not_named(void **state)
{
	static const struct {
		const char *text;
		bool user, kernel, hv, host, guest;
		int precise;
		bool max, pinned;
	} cases[] = {
		{ "cycles", 0, 0, 0, 0, 1, 0, 0, 0 },
		{ "cycles:u", 0, 1, 1, 0, 1, 0, 0, 0 },
		{ "cycles:k", 1, 0, 1, 0, 1, 0, 0, 0 },
		{ "cycles:h", 1, 1, 0, 0, 1, 0, 0, 0 },
		{ "cycles:uk", 0, 0, 1, 0, 1, 0, 0, 0 },
		{ "cycles:ku", 0, 0, 1, 0, 1, 0, 0, 0 },
		{ "cycles:G", 0, 0, 0, 1, 0, 0, 0, 0 },
		{ "cycles:H", 0, 0, 0, 0, 1, 0, 0, 0 },
		{ "cycles:GH", 0, 0, 0, 0, 0, 0, 0, 0 },
		{ "cycles:p", 0, 0, 0, 0, 1, 1, 0, 0 },
		{ "instructions:upp", 0, 1, 1, 0, 1, 2, 0, 0 },
		{ "cycles:ppp", 0, 0, 0, 0, 1, 3, 0, 0 },
		{ "cycles:P", 0, 0, 0, 0, 1, 0, 1, 0 },
		{ "cycles:kD", 1, 0, 1, 0, 1, 0, 0, 1 },
		{ "r01c4:u", 0, 1, 1, 0, 1, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec e = parse_one(cases[i].text, "/nonexistent");

		if (e.exclude_user != cases[i].user ||
		    e.exclude_kernel != cases[i].kernel ||
		    e.exclude_hv != cases[i].hv ||
		    e.exclude_host != cases[i].host ||
		    e.exclude_guest != cases[i].guest ||
		    e.precise != cases[i].precise ||
		    e.max_precise != cases[i].max ||
		    e.pinned != cases[i].pinned)
			fail_msg("%s", cases[i].text);
	}
}

static void pmu_terms_fill_their_bits(void **state)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config, config1;
		const char *name;
	} cases[] = {
		{ "cpu/event=0x3c/", 4, 0x3c, 0, NULL },
		{ "cpu/event=0x3c,umask=0x1/", 4, 0x13c, 0, NULL },
		{ "cpu/event=0xd1,umask=0x20,cmask=2,inv,edge/", 4,
		  0x028420d1, 0, NULL },
		{ "cpu/config=0x1234,config1=7/", 4, 0x1234, 7, NULL },
		{ "cpu/mem-loads/", 4, 0x1cd, 3, NULL },
		{ "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30, NULL },
		{ "cpu/event=0x3c,name=ticks/", 4, 0x3c, 0, "ticks" },
		{ "cpu/cpu-cycles/", 4, 0x3c, 0, NULL },
		{ "cpu//", 4, 0, 0, NULL },
		{ "uncore_cbox_0/event=0x1ff/", 12, 0x2000ff, 0, NULL },
		{ "msr/tsc/", 9, 0, 0, NULL },
		{ "mem-loads", 4, 0x1cd, 3, NULL },	/* without its PMU */
		{ "sched:sched_switch", 2, 316, 0, NULL },
	};
	const struct sysfs *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec e = parse_one(cases[i].text, s->root);

		if (e.type != cases[i].type || e.config != cases[i].config ||
		    e.config1 != cases[i].config1)
			fail_msg("%s: %u %#llx %#llx", cases[i].text, e.type,
				 (unsigned long long)e.config,
				 (unsigned long long)e.config1);
		assert_string_equal(e.text, cases[i].name ? cases[i].name
							  : cases[i].text);
	}
}

static void pmu_events_take_modifiers(void **state)
{
	const struct sysfs *s = *state;
	struct event_spec e = parse_one("cpu/event=0x3c/up", s->root);

	assert_true(e.exclude_kernel && !e.exclude_user);
	assert_int_equal(e.precise, 1);
	e = parse_one("cpu/event=0x3c/:k", s->root);
	assert_true(!e.exclude_kernel && e.exclude_user);
	e = parse_one("cpu/event=0x3c,period=5000/", s->root);
	assert_int_equal(e.period, 5000);
	e = parse_one("cpu/event=0x3c,freq=77/", s->root);
	assert_int_equal(e.freq, 77);
	e = parse_one("sched:sched_switch:u", s->root);
	assert_int_equal(e.config, 316);
	assert_true(e.exclude_kernel);
}

static void lists_are_split_outside_slashes(void **state)
{
	const struct sysfs *s = *state;
	struct event_list l = { 0 };
	struct error err;

	assert_int_equal(events_parse("cycles:u,cpu/event=1,umask=2/k, "
				      "page-faults", s->root, &l, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.v[1].config, 0x201);
	assert_string_equal(l.v[2].text, "page-faults");
	/* What follows is added; a wrong list adds nothing. */
	assert_int_equal(events_parse("cs", s->root, &l, &err), 0);
	assert_int_equal(l.n, 4);
	assert_int_equal(events_parse("cs,nonsense", s->root, &l, &err),
			 -ERR_USAGE);
	assert_int_equal(l.n, 4);
	event_list_fini(&l);
}

static void errors_name_the_word(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "cyles", "unknown event \"cyles\"; did you mean cycles" },
		{ "instuctions", "instructions" },
		{ "page-fault", "page-faults" },
		{ "zzzzzz", "tally list" },
		{ "cycles:z", "'z'" },
		{ "cycles:pppp", "three p" },
		{ "", "empty" },
		{ "cycles,,cs", "empty" },
		{ "cycles,", "empty" },
		{ "cyles:u", "unknown event \"cyles\"; did you mean cycles" },
		{ "rxyz", "unknown event" },
		{ "r12345678123456789", "unknown event" },
		{ "cpu/event=0x3c", "second /" },
		{ "cpu/evnt=1/", "evnt" },
		{ "cpu/event=fast/", "number" },
		{ "cpu/event=0x1ff/", "does not fit" },
		{ "cpu/broken=1/", "format of broken" },
		{ "cpu/wants-value/", "umask" },
		{ "cpu/topdown-total-slots/", "any" },
		{ "cpo/event=1/", "did you mean cpu" },
		{ "../cpu/event=1/", "no PMU \"..\"" },
		{ "odd/config=1/", "many" },
		{ "cpu/../type/", "cpu" },
		{ "sched:sched_swich", "sched:sched_swich" },
		{ "{cycles,cs", "} is missing" },
		{ "{cycles,cs}:S", "omit :S" },
		{ "{cycles,cs}:u", "not after the group" },
		{ "{cycles,{cs}}", "inside" },
		{ "{}", "empty" },
		{ "cycles}", "cycles}" },
	};
	const struct sysfs *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list l = { 0 };
		struct error err = { 0 };
		int r = events_parse(cases[i].text, s->root, &l, &err);

		if (r >= 0)
			fail_msg("\"%s\" was accepted", cases[i].text);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("\"%s\": %s", cases[i].text, err.msg);
		assert_int_equal(l.n, 0);
		event_list_fini(&l);
	}
}

static void long_names_are_refused(void **state)
{
	char text[400];
	struct event_list l = { 0 };
	struct error err;

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(events_parse(text, "/x", &l, &err), -ERR_USAGE);
	event_list_fini(&l);
}

/* BKDG §10.2, SDM 3B §18.22: the same bits in attr.config, without those that
 * the kernel sets: USR, OS, INT, EN. */
static void processor_events_become_raw_numbers(void **state)
{
	static const struct {
		const char *modalias, *text;
		uint64_t config;
		bool user, kernel;	/* excluded */
	} cases[] = {
		{ "ven0002fam000Fmod0005", "k8-dc-miss", 0x41, 0, 0 },
		{ "ven0002fam000Fmod0005", "dc-misses,usr", 0x41, 0, 1 },
		{ "ven0002fam000Fmod0005", "k8:0x76:0x00,os", 0x76, 1, 0 },
		{ "ven0002fam000Fmod0005", "k8-dc-refill-from-system,"
		  "mask=modified+owner,edge,inv,count=2", 0x02841843, 0, 0 },
		{ "ven0000fam0006mod0008", "L2_LD:M+E", 0xc29, 0, 0 },
		{ "ven0000fam0006mod0008", "PP_FLOPS:u", 0xc1, 0, 1 },
		{ "ven0000fam0006mod0008", "dc-misses", 0x45, 0, 0 },
	};
	const struct sysfs *s = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_spec e;
		char text[64];

		snprintf(text, sizeof(text), "cpu:type:x86,%s:feature:",
			 cases[i].modalias);
		sysfs_put(s, "devices/system/cpu/modalias", text);
		e = parse_one(cases[i].text, s->root);
		if (e.type != 4 || e.config != cases[i].config ||
		    e.exclude_user != cases[i].user ||
		    e.exclude_kernel != cases[i].kernel)
			fail_msg("%s: %#llx", cases[i].text,
				 (unsigned long long)e.config);
		assert_string_equal(e.text, cases[i].text);
	}
}

static void qualifiers_do_not_end_an_event(void **state)
{
	const struct sysfs *s = *state;
	struct event_list l = { 0 };
	struct error err;

	sysfs_put(s, "devices/system/cpu/modalias",
		  "cpu:type:x86,ven0002fam000Fmod0005:feature:");
	assert_int_equal(events_parse("cycles, k8-dc-copyback,mask=shared,usr,"
				      "branches,k8-ic-miss,os", s->root, &l,
				      &err), 0);
	assert_int_equal(l.n, 4);
	assert_int_equal(l.v[1].config, 0x244);
	assert_string_equal(l.v[1].text, "k8-dc-copyback,mask=shared,usr");
	assert_int_equal(l.v[2].type, 0);	/* the kernel's own */
	assert_int_equal(l.v[3].config, 0x81);
	/* The kernel's own events have no such qualifiers. */
	assert_true(events_parse("cycles,usr", s->root, &l, &err) < 0);
	event_list_fini(&l);
}

static void other_processors_are_offered_the_nearest(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "k8-dc-miss", "nearest event of the kernel is "
				"L1-dcache-load-misses" },
		{ "k8-dc-miss,usr", "L1-dcache-load-misses" },
		{ "k8:0x76:0x00", "is cycles" },
		{ "L2_RQSTS:MESI", "is cache-references" },
		{ "PP_BR_MISS_PRED_RETIRED", "is branch-misses" },
		{ "unhalted-cycles", "is cycles" },
		{ "k8-nb-ht-bus0-bandwidth", "the kernel has no similar event" },
		{ "k8-dc-mis", "did you mean k8-dc-miss" },
		{ "p6-nonsense", "tally list p6" },
	};
	const struct sysfs *s = *state;

	sysfs_put(s, "devices/system/cpu/modalias",
		  "cpu:type:x86,ven0000fam0006mod009E:feature:");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list l = { 0 };
		struct error err = { 0 };

		assert_int_equal(events_parse(cases[i].text, s->root, &l, &err),
				 -ERR_USAGE);
		if (!strstr(err.msg, cases[i].want))
			fail_msg("\"%s\": %s", cases[i].text, err.msg);
		event_list_fini(&l);
	}
}

static bool collect(void *ctx, const struct event_info *info)
{
	const char **left = ctx;

	for (; *left; left++)
		if (!strcmp(*left, info->name)) {
			*left = "";
			break;
		}
	return true;
}

static void every_listed_name_can_be_parsed(void **state)
{
	const struct sysfs *s = *state;
	const char *want[] = { "cycles", "page-faults", "LLC-load-misses",
			       "cpu/mem-loads/", "msr/tsc/", NULL };

	events_each(s->root, collect, want);
	for (size_t i = 0; want[i]; i++)
		assert_string_equal(want[i], "");
}

static bool stop_at_third(void *ctx, const struct event_info *info)
{
	(void)info;
	return ++*(int *)ctx < 3;
}

static void listing_can_be_stopped(void **state)
{
	int n = 0;

	(void)state;
	events_each("/nonexistent", stop_at_third, &n);
	assert_int_equal(n, 3);
}

static void fields_of_tracepoints_have_their_place(void **state)
{
	const struct sysfs *s = *state;
	uint32_t at = 7;

	assert_true(tracepoint_field(s->root, "sched", "sched_switch",
				     "prev_pid", &at));
	assert_int_equal(at, 24);
	/* Of eight bytes, of an array, of none. */
	at = 7;
	assert_false(tracepoint_field(s->root, "sched", "sched_switch",
				      "prev_state", &at));
	assert_false(tracepoint_field(s->root, "sched", "sched_switch", "pid",
				      &at));
	assert_false(tracepoint_field(s->root, "sched", "not_there", "pid", &at));
	assert_false(tracepoint_field(s->root, "..", "sched", "pid", &at));
	assert_int_equal(at, 7);
}

static void unmounted_tracepoints_are_reported(void **state)
{
	struct event_list l = { 0 };
	struct error err = { 0 };

	(void)state;
	/* libpfm finds those that there are where debugfs is mounted */
	assert_true(events_parse("sched:not_there", "/nonexistent", &l,
				 &err) < 0);
	assert_non_null(strstr(err.msg, "mount -t tracefs"));
	assert_true(events_parse("sched:", "/nonexistent", &l, &err) < 0);
	check_lacks(err.msg, "tracefs");
	event_list_fini(&l);
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

/* 2^-32 Joules a count, as Intel's RAPL counts energy. */
static void scales_are_read(void **state)
{
	const struct sysfs *s = *state;
	struct event_spec e = parse_one("power/energy-pkg/", s->root);

	assert_true(e.scale == 1.0 / 4294967296.0);
	assert_string_equal(e.scaled, "Joules");
	e = parse_one("energy-pkg", s->root);
	assert_string_equal(e.scaled, "Joules");
	e = parse_one("power/odd/", s->root);
	assert_true(e.scale == 0);
	e = parse_one("cpu/cpu-cycles/", s->root);
	assert_true(e.scale == 0 && !*e.scaled);
}

/* Units of a kind, by the name without the number. */
static void families_have_units(void **state)
{
	const struct sysfs *s = *state;
	struct pmu_units u = { 0 };
	struct event_spec e;
	char family[16];

	for (int i = 1; i < 11; i += 9) {
		char path[96];

		snprintf(path, sizeof(path), "bus/event_source/devices/"
			 "uncore_cbox_%d/type", i);
		assert_int_equal(sysfs_put(s, path, i == 1 ? "31" : "32"), 0);
	}
	assert_int_equal(pmu_units_of(s->root, "uncore_cbox", &u), 0);
	assert_int_equal(u.n, 3);
	assert_string_equal(u.v[0].name, "uncore_cbox_0");
	assert_int_equal(u.v[0].type, 12);
	assert_string_equal(u.v[1].name, "uncore_cbox_1");
	assert_int_equal(u.v[1].type, 31);
	assert_string_equal(u.v[2].name, "uncore_cbox_10");
	e = parse_one("uncore_cbox/config=0x22/", s->root);
	assert_string_equal(e.family, "uncore_cbox");
	assert_int_equal(e.type, 12);
	assert_int_equal(e.config, 0x22);
	e = parse_one("uncore_cbox_10/config=0x22/", s->root);
	assert_string_equal(e.family, "");
	assert_int_equal(e.type, 32);
	assert_int_equal(pmu_units_of(s->root, "uncore", &u), 0);
	assert_int_equal(u.n, 0);
	assert_int_equal(pmu_units_of(s->root, "power", &u), 0);
	assert_int_equal(u.n, 0);
	assert_true(pmu_family_name("a_b_12", family, sizeof(family)));
	assert_string_equal(family, "a_b");
	assert_false(pmu_family_name("a_b", family, sizeof(family)));
	assert_false(pmu_family_name("a_", family, sizeof(family)));
	assert_false(pmu_family_name("_1", family, sizeof(family)));
	assert_false(pmu_family_name("a12", family, sizeof(family)));
	assert_false(pmu_family_name("a_name_that_is_long_1", family,
				     sizeof(family)));
	pmu_units_fini(&u);
}

/* The type of a kind is in the upper half of a generic event's config
 * (perf_event_open(2), PERF_TYPE_HARDWARE). */
static void cores_are_of_kinds(void **state)
{
	const struct sysfs *s = *state;
	struct pmu_units u = { 0 };
	struct event_spec e;
	uint32_t type;
	uint64_t config;

	assert_int_equal(pmu_core_kinds(s->root, &u), 0);
	assert_int_equal(u.n, 0);
	assert_int_equal(sysfs_put(s, "bus/event_source/devices/cpu_core/type",
				   "4\n"), 0);
	assert_int_equal(sysfs_put(s, "bus/event_source/devices/cpu_core/cpus",
				   "0-1,4\n"), 0);
	assert_int_equal(pmu_core_kinds(s->root, &u), 0);
	assert_int_equal(u.n, 0);
	assert_int_equal(sysfs_put(s, "bus/event_source/devices/cpu_atom/type",
				   "10\n"), 0);
	assert_int_equal(sysfs_put(s, "bus/event_source/devices/cpu_atom/cpus",
				   "2-3\n"), 0);
	assert_int_equal(pmu_core_kinds(s->root, &u), 0);
	assert_int_equal(u.n, 2);
	assert_string_equal(u.v[0].name, "cpu_atom");
	assert_true(pmu_kind_has(s->root, &u.v[0], 3));
	assert_false(pmu_kind_has(s->root, &u.v[0], 4));
	assert_true(pmu_kind_has(s->root, &u.v[1], 4));
	e = parse_one("instructions", s->root);
	assert_true(event_is_of_cores(&e));
	event_on_unit(&e, &u.v[0], &type, &config);
	assert_int_equal(type, 0);
	assert_true(config == 0xa00000001);
	e = parse_one("r01c4", s->root);
	event_on_unit(&e, &u.v[0], &type, &config);
	assert_int_equal(type, 10);
	assert_int_equal(config, 0x1c4);
	assert_true(event_is_of_cores(&e));
	assert_null(event_own_kind(&e, &u));
	e = parse_one("page-faults", s->root);
	assert_false(event_is_of_cores(&e));
	assert_null(event_own_kind(&e, &u));
	/* One kind's own: cpu_core has the type of raw events. */
	e = parse_one("cpu_core/config=0x1c4/", s->root);
	assert_int_equal(e.type, 4);
	assert_false(event_is_of_cores(&e));
	assert_ptr_equal(event_own_kind(&e, &u), &u.v[1]);
	e = parse_one("cpu_atom/config=0x1c4/", s->root);
	assert_false(event_is_of_cores(&e));
	assert_ptr_equal(event_own_kind(&e, &u), &u.v[0]);
	pmu_units_fini(&u);
}

/* What a unit counts for several processors is opened once. */
static void units_count_on_their_processors(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3 }, odd[] = { 1, 3 };
	const struct sysfs *s = *state;

	/* uncore_cbox_0: 0, 2 and 3 */
	assert_true(pmu_counts_on(s->root, 12, 0, all, 4));
	assert_false(pmu_counts_on(s->root, 12, 1, all, 4));
	assert_true(pmu_counts_on(s->root, 12, 3, all, 4));
	assert_true(pmu_counts_on(s->root, 12, 3, odd, 2));
	/* power: 0, which was left out: the first of the others */
	assert_true(pmu_counts_on(s->root, 10, 1, odd, 2));
	assert_false(pmu_counts_on(s->root, 10, 3, odd, 2));
	/* the processor's own */
	assert_true(pmu_counts_on(s->root, 4, 1, all, 4));
	assert_true(pmu_counts_on(s->root, 9, 1, all, 4));
	assert_true(pmu_counts_on("/nonexistent", 12, 1, all, 4));
	assert_true(cpu_first_of_package(s->root, 0, all, 4));
	assert_false(cpu_first_of_package(s->root, 1, all, 4));
	assert_true(cpu_first_of_package(s->root, 1, odd, 2));
	assert_true(cpu_first_of_package(s->root, 2, all, 4));
	assert_false(cpu_first_of_package(s->root, 3, all, 4));
	assert_true(cpu_first_of_package("/nonexistent", 3, all, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_tracepoints_have_their_place),
		cmocka_unit_test(unmounted_tracepoints_are_reported),
		cmocka_unit_test(names_have_the_kernels_numbers),
		cmocka_unit_test(pin_control_is_seen_in_raw_codes),
		cmocka_unit_test(clocks_count_time),
		cmocka_unit_test(modifiers_exclude_what_is_not_named),
		cmocka_unit_test(pmu_terms_fill_their_bits),
		cmocka_unit_test(pmu_events_take_modifiers),
		cmocka_unit_test(lists_are_split_outside_slashes),
		cmocka_unit_test(errors_name_the_word),
		cmocka_unit_test(processor_events_become_raw_numbers),
		cmocka_unit_test(qualifiers_do_not_end_an_event),
		cmocka_unit_test(other_processors_are_offered_the_nearest),
		cmocka_unit_test(long_names_are_refused),
		cmocka_unit_test(every_listed_name_can_be_parsed),
		cmocka_unit_test(listing_can_be_stopped),
		cmocka_unit_test(scales_are_read),
		cmocka_unit_test(units_count_on_their_processors),
		cmocka_unit_test(families_have_units),
		cmocka_unit_test(cores_are_of_kinds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
