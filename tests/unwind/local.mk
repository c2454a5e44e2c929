# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
UNWIND_TESTS = tests/unwind/test_walk
check_PROGRAMS += $(UNWIND_TESTS)
TESTS += $(UNWIND_TESTS)
tests_unwind_test_walk_SOURCES = tests/unwind/test_walk.c \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_test_walk_LDADD = $(TALLY_LIBS) -lcmocka
endif
