// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of libpfm4, asked for processors that are not here; numbers: AMD, BKDG
 * for family 10h (31116), §3.14, Intel SDM 3B table 19-1. */
#include "../checks.h"
#include <stdlib.h>
#include <string.h>

#include "events/events.h"

static void names_of_libpfm4_are_known(void **state)
{
	static const struct {
		const char *text;
		uint64_t config;
		bool user, kernel;	/* excluded */
	} cases[] = {
		{ "amd64_fam10h_barcelona::DATA_CACHE_MISSES", 0x41, 0, 0 },
		{ "amd64_fam10h_barcelona::RETIRED_INSTRUCTIONS:u", 0xc0, 0,
		  1 },
		{ "nhm::INST_RETIRED:ANY_P:k", 0xc0, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_list l = { 0 };
		struct error err = { 0 };

		if (events_parse(cases[i].text, "/nonexistent", &l, &err) < 0)
			fail_msg("%s: %s", cases[i].text, err.msg);
		assert_int_equal(l.n, 1);
		assert_int_equal(l.v[0].type, 4);
		assert_int_equal(l.v[0].config & 0xffff, cases[i].config);
		assert_int_equal(l.v[0].exclude_user, cases[i].user);
		assert_int_equal(l.v[0].exclude_kernel, cases[i].kernel);
		event_list_fini(&l);
	}
}

static void wrong_masks_are_refused(void **state)
{
	struct event_list l = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(events_parse("amd64_fam10h_barcelona::"
				      "DATA_CACHE_MISSES:NONSENSE",
				      "/nonexistent", &l, &err), -ERR_USAGE);
	assert_non_null(strstr(err.msg, "libpfm4"));
	assert_int_equal(events_parse("no_such_pmu::NO_EVENT", "/nonexistent",
				      &l, &err), -ERR_USAGE);
	check_lacks(err.msg, "libpfm4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_libpfm4_are_known),
		cmocka_unit_test(wrong_masks_are_refused),
	};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
