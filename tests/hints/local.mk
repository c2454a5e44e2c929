# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
check_PROGRAMS += tests/hints/test_hints
TESTS += tests/hints/test_hints
tests_hints_test_hints_SOURCES = tests/hints/test_hints.c
tests_hints_test_hints_LDADD = $(TALLY_LIBS) -lcmocka
endif
