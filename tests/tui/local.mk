# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/tui/memory_screen.h
if CMOCKA
check_PROGRAMS += tests/tui/test_tui
TESTS += tests/tui/test_tui
tests_tui_test_tui_SOURCES = tests/tui/test_tui.c tests/tui/memory_screen.c \
	tests/tui/memory_screen.h tests/views/make_profile.c \
	tests/views/make_profile.h
tests_tui_test_tui_LDADD = $(TALLY_LIBS) -lcmocka
endif
