# SPDX-License-Identifier: GPL-2.0-or-later
# The example, which has to build and run anywhere.
check_PROGRAMS += tests/rdpmc/count_region
tests_rdpmc_count_region_SOURCES = doc/examples/count_region.c \
	include/tally/rdpmc.h
TESTS += tests/rdpmc/example.sh
EXTRA_DIST += tests/rdpmc/example.sh
if CMOCKA
check_PROGRAMS += tests/rdpmc/test_rdpmc
TESTS += tests/rdpmc/test_rdpmc
tests_rdpmc_test_rdpmc_SOURCES = tests/rdpmc/test_rdpmc.c
tests_rdpmc_test_rdpmc_LDADD = -lcmocka
endif
