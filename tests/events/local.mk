# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/events/hw_documents.h tests/events/sysfs.h
if CMOCKA
check_PROGRAMS += tests/events/test_events
TESTS += tests/events/test_events
tests_events_test_events_SOURCES = tests/events/test_events.c \
	tests/events/sysfs.c
tests_events_test_events_LDADD = libevents.a libbase.a -lcmocka
check_PROGRAMS += tests/events/test_hw
TESTS += tests/events/test_hw
tests_events_test_hw_SOURCES = tests/events/test_hw.c tests/events/sysfs.c
tests_events_test_hw_LDADD = libevents.a libbase.a -lcmocka
if LIBPFM
check_PROGRAMS += tests/events/test_pfm
TESTS += tests/events/test_pfm
tests_events_test_pfm_SOURCES = tests/events/test_pfm.c
tests_events_test_pfm_LDADD = libevents.a libbase.a -lcmocka
endif
check_PROGRAMS += tests/events/test_metrics
TESTS += tests/events/test_metrics
tests_events_test_metrics_SOURCES = tests/events/test_metrics.c
tests_events_test_metrics_LDADD = libevents.a libbase.a -lcmocka
check_PROGRAMS += tests/events/test_encode
TESTS += tests/events/test_encode
tests_events_test_encode_SOURCES = tests/events/test_encode.c
tests_events_test_encode_LDADD = libevents.a libbase.a -lcmocka
endif
