# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
UNWIND_TESTS = tests/unwind/test_walk tests/unwind/test_step \
	tests/unwind/test_memory tests/unwind/test_rules
check_PROGRAMS += $(UNWIND_TESTS)
TESTS += $(UNWIND_TESTS)
tests_unwind_test_walk_SOURCES = tests/unwind/test_walk.c \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_test_walk_LDADD = $(TALLY_LIBS) -lcmocka

tests_unwind_test_memory_SOURCES = tests/unwind/test_memory.c \
	src/cli/memory.c
tests_unwind_test_memory_CPPFLAGS = $(AM_CPPFLAGS) -DFAIL_ALLOCATIONS \
	$(WATCH_OWN)
tests_unwind_test_memory_LDFLAGS = $(WATCHED_ALLOCATIONS)
tests_unwind_test_memory_LDADD = $(TALLY_LIBS) -lcmocka
tests_unwind_test_rules_SOURCES = tests/unwind/test_rules.c
tests_unwind_test_rules_LDADD = $(TALLY_LIBS) -lcmocka
tests_unwind_test_step_SOURCES = tests/unwind/test_step.c \
	tests/unwind/kernel_walk.c tests/unwind/kernel_walk.h \
	kmod/walk_core.c kmod/walk_core.h \
	tests/unwind/live.c tests/unwind/live.h
tests_unwind_test_step_LDADD = $(TALLY_LIBS) -lcmocka

# The same functions as compilers describe them by other options, without the
# build's own: sanitizers would follow their steps for hours.
UNWIND_FRAMES = tests/unwind/frames_plain tests/unwind/frames_debug \
	tests/unwind/frames_realign tests/unwind/frames_size
check_DATA = $(UNWIND_FRAMES)
EXTRA_DIST += tests/unwind/frames.c
CLEANFILES += $(UNWIND_FRAMES)
FRAMES_CC = $(MKDIR_P) tests/unwind && $(CC) -std=gnu11 -D_GNU_SOURCE -w -g \
	-fomit-frame-pointer -o $@ $(srcdir)/tests/unwind/frames.c
tests/unwind/frames_plain: tests/unwind/frames.c
	$(AM_V_CCLD)$(FRAMES_CC) -O2 -Wl,-z,lazy
tests/unwind/frames_debug: tests/unwind/frames.c
	$(AM_V_CCLD)$(FRAMES_CC) -O2 -fno-asynchronous-unwind-tables \
		-fno-unwind-tables -static 2>/dev/null || :
tests/unwind/frames_realign: tests/unwind/frames.c
	$(AM_V_CCLD)$(FRAMES_CC) -O1 -static 2>/dev/null || :
tests/unwind/frames_size: tests/unwind/frames.c
	$(AM_V_CCLD)$(FRAMES_CC) -Os -static 2>/dev/null || :

if LIBDW
check_PROGRAMS += tests/unwind/test_tables tests/unwind/beside
tests_unwind_beside_SOURCES = tests/unwind/beside.c \
	tests/unwind/live.c tests/unwind/live.h \
	tests/unwind/second.c tests/unwind/second.h
tests_unwind_beside_LDADD = $(TALLY_LIBS) $(LIBDW) $(LIBUNWIND)
TESTS += tests/unwind/test_tables
tests_unwind_test_tables_SOURCES = tests/unwind/test_tables.c
tests_unwind_test_tables_LDADD = $(TALLY_LIBS) -lcmocka $(LIBDW)
endif
endif
