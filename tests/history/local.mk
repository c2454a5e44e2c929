# SPDX-License-Identifier: GPL-2.0-or-later
# How good the decision is: tests/history/simulate [--reps N]
EXTRA_PROGRAMS += tests/history/simulate
tests_history_simulate_SOURCES = tests/history/simulate.c \
	tests/check/random.c tests/check/random.h
tests_history_simulate_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/check
tests_history_simulate_LDADD = $(TALLY_LIBS)
if CMOCKA
check_PROGRAMS += tests/history/test_history
TESTS += tests/history/test_history
tests_history_test_history_SOURCES = tests/history/test_history.c \
	tests/check/random.c tests/check/random.h
tests_history_test_history_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/check
tests_history_test_history_LDADD = $(TALLY_LIBS) -lcmocka
endif
