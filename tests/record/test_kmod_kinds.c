// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel module counts on processors with several kinds of cores. */
#include "../checks.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../events/sysfs.h"
#include "record/kmod/kmod_events.h"
#include "record/kmod/kmod_kinds.h"

/* A processor of two kinds of cores as Linux 6.1 describes them (arch/x86/events/intel/
 * core.c, perf_event_open(2)): cpu_core has the type of raw events, and generic events
 * carry the type of a kind in the upper half of config.  CPU 4 is offline. */
static void make_kinds(struct sysfs *s)
{
	static const char *const files[][2] = {
		{ "cpu_core/type", "4\n" }, { "cpu_core/cpus", "0-1\n" },
		{ "cpu_core/format/event", "config:0-7\n" },
		{ "cpu_atom/type", "10\n" }, { "cpu_atom/cpus", "2-3\n" },
		{ "cpu_atom/format/event", "config:0-7\n" },
	};

	assert_int_equal(sysfs_make(s), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "bus/event_source/devices/%s",
			 files[i][0]);
		assert_int_equal(sysfs_put(s, path, files[i][1]), 0);
	}
}

static const struct tally_info with_kinds = {
	.sources = 1u << TALLY_TIMER | 1u << TALLY_PERF, .max_rate = 20000,
	.abi_minor = 7,
};

/* Maps events on such a processor.  Returns the result of kmod_events. */
static int on_kinds(const struct tally_info *info, const struct pmu_units *kinds,
		    const struct sysfs *s, const char *events,
		    struct tally_setup *setup, struct error *err)
{
	const struct kmod_machine m = { .has_cycles = true, .kinds = kinds };
	struct source_event seen[TALLY_EVENTS_MAX] = { 0 };
	struct event_list l = { 0 };
	struct source_options o = { .events = &l, .freq = 999 };
	int r;

	memset(setup, 0, sizeof(*setup));
	assert_int_equal(events_parse(events, s->root, &l, err), 0);
	r = kmod_events(info, &m, &o, setup, seen, err);
	/* The recording names the event without a kind, as perf's does. */
	for (size_t i = 0; i < l.n && !r; i++) {
		assert_int_equal(seen[i].type, l.v[i].type);
		assert_int_equal(seen[i].config, l.v[i].config);
	}
	event_list_fini(&l);
	return r;
}

static void count_is(const struct tally_perf_event *e, uint32_t type,
		     uint64_t config)
{
	assert_int_equal(e->type, type);
	assert_true(e->config == config);
}

static void kinds_of_cores_have_a_counter_each(void **state)
{
	enum { CORE = 1, ATOM = 0 };	/* by name */
	struct pmu_units kinds = { 0 };
	struct tally_setup u;
	struct error err;
	struct sysfs s;
	uint8_t *of;

	(void)state;
	make_kinds(&s);
	assert_int_equal(kmod_kinds_read(s.root, 6, &kinds, &of), 0);
	assert_int_equal(kinds.n, 2);
	for (uint32_t c = 0; c < 6; c++)
		assert_int_equal(of[c], c < 2 ? CORE : c < 4 ? ATOM
					 : TALLY_KIND_UNKNOWN);
	free(of);
	/* Generic, raw, and what no core counts. */
	assert_int_equal(on_kinds(&with_kinds, &kinds, &s,
				  "cycles,r1c4,page-faults,cpu-clock", &u, &err),
			 0);
	assert_int_equal(u.source, TALLY_PERF);
	assert_int_equal(u.nkinds, 2);
	count_is(&u.kinds[CORE][0], PERF_TYPE_HARDWARE, 4ull << 32);
	count_is(&u.kinds[ATOM][0], PERF_TYPE_HARDWARE, 10ull << 32);
	count_is(&u.kinds[CORE][1], 4, 0x1c4);
	count_is(&u.kinds[ATOM][1], 10, 0x1c4);
	count_is(&u.perf[0], 0, 0);
	count_is(&u.perf[1], 0, 0);
	count_is(&u.perf[2], PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	count_is(&u.perf[3], PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(!!(u.events[i].flags & TALLY_EVENT_KINDS), i < 2);
		assert_int_equal(kmod_kinds_counters(&u, i), i < 2 ? 2 : 1);
		if (i >= 2)
			count_is(&u.kinds[CORE][i], 0, 0);
	}
	/* Two events, of one kind each. */
	assert_int_equal(on_kinds(&with_kinds, &kinds, &s,
				  "cpu_core/event=0x3c/,cpu_atom/event=0x3d/", &u,
				  &err), 0);
	count_is(&u.kinds[CORE][0], 4, 0x3c);
	count_is(&u.kinds[ATOM][0], TALLY_PERF_NONE, 0);
	count_is(&u.kinds[CORE][1], TALLY_PERF_NONE, 0);
	count_is(&u.kinds[ATOM][1], 10, 0x3d);
	assert_int_equal(kmod_kinds_counters(&u, 0), 1);
	assert_int_equal(kmod_kinds_counters(&u, 1), 1);
	/* Without any of these. */
	assert_int_equal(on_kinds(&with_kinds, &kinds, &s, "page-faults", &u,
				  &err), 0);
	assert_int_equal(u.nkinds, 0);
	pmu_units_fini(&kinds);
	sysfs_drop(&s);
}

static void kinds_that_the_module_cannot_count(void **state)
{
	struct tally_info old = with_kinds;
	struct pmu_units kinds = { 0 };
	struct tally_setup u;
	struct error err;
	struct sysfs s;
	uint8_t *of;

	(void)state;
	assert_int_equal(sysfs_make(&s), 0);
	assert_int_equal(kmod_kinds_read(s.root, 6, &kinds, &of), 0);
	assert_int_equal(kinds.n, 0);
	assert_null(of);
	sysfs_drop(&s);
	make_kinds(&s);
	assert_int_equal(kmod_kinds_read(s.root, 6, &kinds, &of), 0);
	free(of);
	old.abi_minor = 6;
	assert_int_equal(on_kinds(&old, &kinds, &s, "cycles", &u, &err),
			 -ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "too old"));
	assert_int_equal(on_kinds(&old, &kinds, &s, "page-faults", &u, &err), 0);
	assert_int_equal(u.nkinds, 0);
	for (char i = 0; i < 3; i++) {
		char path[] = "bus/event_source/devices/cpu_0/cpus";
		char type[] = "bus/event_source/devices/cpu_0/type";

		*strstr(path, "0") = *strstr(type, "0") = (char)('0' + i);
		assert_int_equal(sysfs_put(&s, path, "5\n"), 0);
		assert_int_equal(sysfs_put(&s, type, "20\n"), 0);
	}
	assert_int_equal(kmod_kinds_read(s.root, 6, &kinds, &of), 0);
	free(of);
	assert_int_equal(kinds.n, 5);
	assert_int_equal(on_kinds(&with_kinds, &kinds, &s, "cycles", &u, &err),
			 -ERR_UNSUPPORTED);
	assert_non_null(strstr(err.msg, "at most 4"));
	pmu_units_fini(&kinds);
	sysfs_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_cores_have_a_counter_each),
		cmocka_unit_test(kinds_that_the_module_cannot_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
