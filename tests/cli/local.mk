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
