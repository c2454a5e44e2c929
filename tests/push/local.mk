# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/push/profiles.proto tests/push/rules.py tests/push/server.py
if CMOCKA
check_PROGRAMS += tests/push/test_answer tests/push/test_push
TESTS += tests/push/test_answer tests/push/test_push
tests_push_test_answer_SOURCES = tests/push/test_answer.c
tests_push_test_answer_LDADD = $(TALLY_LIBS) -lcmocka
tests_push_test_push_SOURCES = tests/push/test_push.c \
	tests/views/make_profile.c tests/views/make_profile.h
tests_push_test_push_LDADD = $(TALLY_LIBS) -lcmocka
endif
