# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
UNWIND_TESTS = tests/unwind/test_walk tests/unwind/test_step
check_PROGRAMS += $(UNWIND_TESTS)
TESTS += $(UNWIND_TESTS)
tests_unwind_test_walk_SOURCES = tests/unwind/test_walk.c \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_test_walk_LDADD = $(TALLY_LIBS) -lcmocka

tests_unwind_test_step_SOURCES = tests/unwind/test_step.c \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_test_step_LDADD = $(TALLY_LIBS) -lcmocka

# The same functions as compilers describe them by other options.
UNWIND_FRAMES = tests/unwind/frames_plain tests/unwind/frames_debug \
	tests/unwind/frames_realign tests/unwind/frames_size
check_PROGRAMS += $(UNWIND_FRAMES)
FRAMES_CFLAGS = -std=gnu11 -g -fomit-frame-pointer
tests_unwind_frames_plain_SOURCES = tests/unwind/frames.c
tests_unwind_frames_plain_CFLAGS = $(FRAMES_CFLAGS) -O2
tests_unwind_frames_plain_LDFLAGS = -Wl,-z,lazy
tests_unwind_frames_debug_SOURCES = tests/unwind/frames.c
tests_unwind_frames_debug_CFLAGS = $(FRAMES_CFLAGS) -O2 \
	-fno-asynchronous-unwind-tables -fno-unwind-tables
tests_unwind_frames_debug_LDFLAGS = -static
tests_unwind_frames_realign_SOURCES = tests/unwind/frames.c
tests_unwind_frames_realign_CFLAGS = $(FRAMES_CFLAGS) -O1
tests_unwind_frames_realign_LDFLAGS = -static
tests_unwind_frames_size_SOURCES = tests/unwind/frames.c
tests_unwind_frames_size_CFLAGS = $(FRAMES_CFLAGS) -Os
tests_unwind_frames_size_LDFLAGS = -static

if LIBDW
check_PROGRAMS += tests/unwind/test_tables tests/unwind/beside
tests_unwind_beside_SOURCES = tests/unwind/beside.c \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_beside_LDADD = $(TALLY_LIBS) $(LIBDW)
TESTS += tests/unwind/test_tables
tests_unwind_test_tables_SOURCES = tests/unwind/test_tables.c
tests_unwind_test_tables_LDADD = $(TALLY_LIBS) -lcmocka $(LIBDW)
endif
endif
