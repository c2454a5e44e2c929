# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/events/sysfs.h
if CMOCKA
check_PROGRAMS += tests/events/test_events
TESTS += tests/events/test_events
tests_events_test_events_SOURCES = tests/events/test_events.c \
	tests/events/sysfs.c
tests_events_test_events_LDADD = libevents.a libbase.a -lcmocka
endif
