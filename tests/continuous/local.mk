# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
check_PROGRAMS += tests/continuous/test_continuous
TESTS += tests/continuous/test_continuous
tests_continuous_test_continuous_SOURCES = tests/continuous/test_continuous.c
tests_continuous_test_continuous_LDADD = libcli.a $(TALLY_LIBS) -lcmocka
endif
