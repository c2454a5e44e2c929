# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
RUNTIME_TESTS = tests/runtime/test_hotspot
check_PROGRAMS += $(RUNTIME_TESTS)
TESTS += $(RUNTIME_TESTS)
tests_runtime_test_hotspot_SOURCES = tests/runtime/test_hotspot.c \
	tests/runtime/made_jvm.c tests/runtime/made_jvm.h
tests_runtime_test_hotspot_LDADD = $(TALLY_LIBS) -lcmocka
endif
