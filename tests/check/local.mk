# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/check/random.h
# How good the decision is: tests/check/simulate [--reps N]
EXTRA_PROGRAMS += tests/check/simulate
tests_check_simulate_SOURCES = tests/check/simulate.c tests/check/random.c \
	tests/check/random.h
tests_check_simulate_LDADD = libcheck.a libcompare.a libbase.a
if CMOCKA
CHECK_TESTS = tests/check/test_stats tests/check/test_judge \
	tests/check/test_estimate \
	tests/check/test_names tests/check/test_edits
check_PROGRAMS += $(CHECK_TESTS)
TESTS += $(CHECK_TESTS)
tests_check_test_stats_SOURCES = tests/check/test_stats.c
tests_check_test_stats_LDADD = $(TALLY_LIBS) -lcmocka
tests_check_test_estimate_SOURCES = tests/check/test_estimate.c
tests_check_test_estimate_LDADD = $(TALLY_LIBS) -lcmocka
tests_check_test_judge_SOURCES = tests/check/test_judge.c \
	tests/check/random.c tests/check/random.h
tests_check_test_judge_LDADD = $(TALLY_LIBS) -lcmocka
tests_check_test_names_SOURCES = tests/check/test_names.c
tests_check_test_names_LDADD = $(TALLY_LIBS) -lcmocka
tests_check_test_edits_SOURCES = tests/check/test_edits.c
tests_check_test_edits_LDADD = $(TALLY_LIBS) -lcmocka
endif
# Recordings for the end-to-end tests, from a description.
check_PROGRAMS += tests/check/make_recording
tests_check_make_recording_SOURCES = tests/check/make_recording.c
tests_check_make_recording_LDADD = $(TALLY_LIBS)
