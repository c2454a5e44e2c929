# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
check_PROGRAMS += tests/count/test_count
TESTS += tests/count/test_count
tests_count_test_count_SOURCES = tests/count/test_count.c
tests_count_test_count_LDADD = $(TALLY_LIBS) -lcmocka
endif
