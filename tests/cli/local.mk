# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
CLI_TESTS = tests/cli/test_options tests/cli/test_guard
check_PROGRAMS += $(CLI_TESTS)
TESTS += $(CLI_TESTS)
tests_cli_test_options_SOURCES = tests/cli/test_options.c
tests_cli_test_options_LDADD = libcli.a $(TALLY_LIBS) -lcmocka
tests_cli_test_guard_SOURCES = tests/cli/test_guard.c
tests_cli_test_guard_LDADD = libcli.a $(TALLY_LIBS) -lcmocka
endif
# Whole commands with failing allocations (tests/e2e/memory.sh).
check_PROGRAMS += tests/cli/failing
tests_cli_failing_SOURCES = tests/cli/failing.c src/cli/main.c src/cli/memory.c
tests_cli_failing_CPPFLAGS = $(AM_CPPFLAGS) -Dmain=tally_main \
	-DFAIL_ALLOCATIONS $(WATCH_OWN)
tests_cli_failing_CFLAGS = $(AM_CFLAGS) -Wno-missing-prototypes
tests_cli_failing_LDADD = libcli.a $(TALLY_LIBS) $(CURSES_LIBS)
tests_cli_failing_LDFLAGS = $(WATCHED_ALLOCATIONS)
# All commands on damaged recordings (tests/e2e/faults.sh).
check_PROGRAMS += tests/cli/damage
tests_cli_damage_SOURCES = tests/cli/damage.c
tests_cli_damage_LDADD = libcli.a $(TALLY_LIBS)
