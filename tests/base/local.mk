# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/base/test.h
if CMOCKA
BASE_TESTS = tests/base/test_base tests/base/test_base_io \
	tests/base/test_base_tables tests/base/test_base_text tests/base/test_beneath \
	tests/base/test_cgroup_path \
	tests/base/test_sha256
check_PROGRAMS += $(BASE_TESTS)
TESTS += $(BASE_TESTS)
tests_base_test_base_SOURCES = tests/base/test_base.c
tests_base_test_base_LDADD = libbase.a -lcmocka
tests_base_test_base_io_SOURCES = tests/base/test_base_io.c
tests_base_test_base_io_LDADD = libbase.a -lcmocka
tests_base_test_base_tables_SOURCES = tests/base/test_base_tables.c
tests_base_test_base_tables_LDADD = libbase.a -lcmocka
tests_base_test_base_text_SOURCES = tests/base/test_base_text.c
tests_base_test_base_text_LDADD = libbase.a -lcmocka
tests_base_test_beneath_SOURCES = tests/base/test_beneath.c
tests_base_test_beneath_LDADD = libbase.a -lcmocka
tests_base_test_cgroup_path_SOURCES = tests/base/test_cgroup_path.c
tests_base_test_cgroup_path_LDADD = libbase.a -lcmocka
tests_base_test_sha256_SOURCES = tests/base/test_sha256.c
tests_base_test_sha256_LDADD = libbase.a -lcmocka
endif
