# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/profile/open_writer.h tests/profile/sample_profile.h \
	tests/profile/corpus-1.0
if CMOCKA
check_PROGRAMS += tests/profile/test_profile
TESTS += tests/profile/test_profile
tests_profile_test_profile_SOURCES = tests/profile/test_profile.c \
	tests/profile/sample_profile.c tests/profile/sample_profile.h
tests_profile_test_profile_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/tests/profile
tests_profile_test_profile_LDADD = $(TALLY_LIBS) -lcmocka

check_PROGRAMS += tests/profile/test_sections
TESTS += tests/profile/test_sections
tests_profile_test_sections_SOURCES = tests/profile/test_sections.c
tests_profile_test_sections_LDADD = $(TALLY_LIBS) -lcmocka


check_PROGRAMS += tests/profile/test_format_page
TESTS += tests/profile/test_format_page
tests_profile_test_format_page_SOURCES = tests/profile/test_format_page.c
tests_profile_test_format_page_LDADD = $(TALLY_LIBS) -lcmocka
endif
