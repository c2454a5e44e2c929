// SPDX-License-Identifier: GPL-2.0-or-later
/* Who says no, by settings and capabilities: capabilities(7) and
 * perf_event_open(2), with the numbers of <linux/capability.h>. */
#include "../checks.h"
#include <errno.h>
#include <string.h>

#include "record/source/rights.h"

enum { SYS_ADMIN = 21, SYSLOG = 34, PERFMON = 38 };

static uint64_t bit(int cap)
{
	return (uint64_t)1 << cap;
}

static void capabilities_count_outside_user_namespaces(void **state)
{
	struct rights r = { .caps = bit(PERFMON) };

	(void)state;
	assert_true(rights_has(&r, PERFMON));
	assert_true(rights_perfmon(&r));
	assert_false(rights_has(&r, SYSLOG));
	r.inner_users = true;
	assert_false(rights_has(&r, PERFMON));
	assert_false(rights_perfmon(&r));
	r = (struct rights){ .caps = bit(SYS_ADMIN) };
	assert_true(rights_perfmon(&r));
	r = (struct rights){ .caps = bit(SYSLOG) };
	assert_false(rights_perfmon(&r));
}

static void the_level_is_blamed_where_it_is_too_high(void **state)
{
	struct rights r = { .paranoid = 3 };

	(void)state;
	if (rights_reach() != EINVAL)
		skip_test("a filter is in the way");
	assert_int_equal(rights_denial(&r, EACCES, 2), DENIED_LEVEL);
	/* Debian's perf_paranoid_any() asks for CAP_SYS_ADMIN. */
	r.caps = bit(PERFMON);
	assert_int_equal(rights_denial(&r, EACCES, 2), DENIED_LEVEL);
	assert_string_equal(rights_above(&r), "CAP_SYS_ADMIN");
	/* Others let users sample their own programs, and CAP_PERFMON do the rest. */
	r.own_allowed = true;
	assert_string_equal(rights_above(&r), rights_perfmon_name());
	assert_int_equal(rights_denial(&r, EACCES, 1), DENIED_POLICY);
	r.caps = 0;
	assert_int_equal(rights_denial(&r, EACCES, 1), DENIED_LEVEL);
	r.own_allowed = false;
	r.caps = bit(SYS_ADMIN);
	assert_int_equal(rights_denial(&r, EACCES, 2), DENIED_POLICY);
	r.caps = 0;
	r.paranoid = 2;
	assert_string_equal(rights_above(&r), rights_perfmon_name());
	assert_int_equal(rights_denial(&r, EACCES, 2), DENIED_POLICY);
	assert_int_equal(rights_denial(&r, EACCES, 1), DENIED_LEVEL);
	r.caps = bit(PERFMON);
	assert_int_equal(rights_denial(&r, EPERM, 1), DENIED_POLICY);
	r.inner_users = true;
	assert_int_equal(rights_denial(&r, EPERM, 1), DENIED_LEVEL);
	r = (struct rights){ .paranoid = RIGHTS_UNKNOWN };
	assert_int_equal(rights_denial(&r, EACCES, 2), DENIED_LEVEL);
	assert_int_equal(rights_denial(&r, ENOENT, 2), DENIED_NOT);
}

static void fixes_are_exact(void **state)
{
	struct rights r = { .paranoid = 3 };
	char text[256], small[8];

	(void)state;
	rights_fix(&r, DENIED_LEVEL, 2, text, sizeof(text));
	assert_non_null(strstr(text, "sudo sysctl kernel.perf_event_paranoid=2"));
	r.inner_pids = true;
	rights_fix(&r, DENIED_LEVEL, 1, text, sizeof(text));
	assert_string_equal(text, "sudo sysctl kernel.perf_event_paranoid=1 "
			    "(on the host, outside this container)");
	rights_fix(&r, DENIED_FILTER, 2, text, sizeof(text));
	assert_non_null(strstr(text, "--cap-add=PERFMON"));
	/* Podman 4.3's filter forbids it in spite of the capability. */
	r.inner_users = false;
	r.caps = bit(PERFMON);
	rights_fix(&r, DENIED_FILTER, 2, text, sizeof(text));
	check_lacks(text, "--cap-add=PERFMON");
	assert_non_null(strstr(text, "--security-opt seccomp=unconfined"));
	rights_fix(&r, DENIED_NOT, 2, text, sizeof(text));
	assert_string_equal(text, "");
	rights_fix(&r, DENIED_LEVEL, 1, small, sizeof(small));
	assert_string_equal(small, "sudo sy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities_count_outside_user_namespaces),
		cmocka_unit_test(the_level_is_blamed_where_it_is_too_high),
		cmocka_unit_test(fixes_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
