# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
RUNTIME_TESTS = tests/runtime/test_hotspot tests/runtime/test_python_asyncio \
	tests/runtime/test_python_recall
check_PROGRAMS += $(RUNTIME_TESTS)
TESTS += $(RUNTIME_TESTS)
tests_runtime_test_hotspot_SOURCES = tests/runtime/test_hotspot.c \
	tests/runtime/made_jvm.c tests/runtime/made_jvm.h
tests_runtime_test_hotspot_LDADD = $(TALLY_LIBS) -lcmocka
tests_runtime_test_python_asyncio_SOURCES = tests/runtime/test_python_asyncio.c
tests_runtime_test_python_asyncio_LDADD = $(TALLY_LIBS) -lcmocka
tests_runtime_test_python_recall_SOURCES = tests/runtime/test_python_recall.c
tests_runtime_test_python_recall_LDADD = $(TALLY_LIBS) -lcmocka
endif
