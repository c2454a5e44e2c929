# SPDX-License-Identifier: GPL-2.0-or-later
check_PROGRAMS += tests/symbolize/symcat
tests_symbolize_symcat_SOURCES = tests/symbolize/symcat.c
tests_symbolize_symcat_LDADD = $(TALLY_LIBS)
# Answers beside another tool's: with sanitizers they say the same, in many minutes.
if !SANITIZERS
TESTS += tests/symbolize/symbolize.sh tests/symbolize/symbols.sh \
	tests/symbolize/matrix.sh tests/symbolize/outermost.sh \
	tests/symbolize/forms.sh tests/symbolize/go.sh \
	tests/symbolize/names.sh tests/symbolize/starts.sh
endif
EXTRA_DIST += tests/symbolize/matrix tests/symbolize/matrix.sh
# A folder: make's own rule would make it from matrix.sh where that is newer.
tests/symbolize/matrix: ;
EXTRA_DIST += tests/symbolize/symbolize.sh tests/symbolize/forms.sh \
	tests/symbolize/symbols.sh tests/symbolize/symbols.c \
	tests/symbolize/compare.sh tests/symbolize/inlines.c \
	tests/symbolize/inlines.cpp tests/symbolize/two.h \
	tests/symbolize/two_a.cpp tests/symbolize/two_b.cpp
check_PROGRAMS += tests/symbolize/kerncat
tests_symbolize_kerncat_SOURCES = tests/symbolize/kerncat.c
tests_symbolize_kerncat_LDADD = $(TALLY_LIBS)
TESTS += tests/symbolize/kernel.sh
check_PROGRAMS += tests/symbolize/namecat
tests_symbolize_namecat_SOURCES = tests/symbolize/namecat.c
tests_symbolize_namecat_LDADD = $(TALLY_LIBS)
EXTRA_DIST += tests/symbolize/starts.sh
EXTRA_DIST += tests/symbolize/go.sh tests/symbolize/go.py \
	tests/symbolize/words.go
EXTRA_DIST += tests/symbolize/outermost.sh tests/symbolize/outermost.cpp \
	tests/symbolize/outermost.py
EXTRA_DIST += tests/symbolize/names.sh tests/symbolize/names.cpp
EXTRA_DIST += tests/symbolize/kernel.sh
if CMOCKA
SYMBOLIZE_TESTS = tests/symbolize/test_symbolize tests/symbolize/test_symbolize_profile \
	tests/symbolize/test_demangle tests/symbolize/test_demangle_cxx \
	tests/symbolize/test_jitdump \
	tests/symbolize/test_symbol_cache \
	tests/symbolize/test_perfmap tests/symbolize/test_perfmap_times
check_PROGRAMS += $(SYMBOLIZE_TESTS)
TESTS += $(SYMBOLIZE_TESTS)
tests_symbolize_test_symbolize_SOURCES = tests/symbolize/test_symbolize.c
tests_symbolize_test_symbolize_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_demangle_SOURCES = tests/symbolize/test_demangle.c
tests_symbolize_test_demangle_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_demangle_cxx_SOURCES = tests/symbolize/test_demangle_cxx.c
tests_symbolize_test_demangle_cxx_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_symbol_cache_SOURCES = tests/symbolize/test_symbol_cache.c
tests_symbolize_test_symbol_cache_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_jitdump_SOURCES = tests/symbolize/test_jitdump.c
tests_symbolize_test_jitdump_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_perfmap_SOURCES = tests/symbolize/test_perfmap.c
tests_symbolize_test_perfmap_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_perfmap_times_SOURCES = tests/symbolize/test_perfmap_times.c
tests_symbolize_test_perfmap_times_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_symbolize_profile_SOURCES = tests/symbolize/test_symbolize_profile.c
tests_symbolize_test_symbolize_profile_LDADD = $(TALLY_LIBS) -lcmocka
tests_symbolize_test_symbolize_profile_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=realloc
if LIBDW
check_PROGRAMS += tests/symbolize/test_libdw
TESTS += tests/symbolize/test_libdw
tests_symbolize_test_libdw_SOURCES = tests/symbolize/test_libdw.c
tests_symbolize_test_libdw_LDADD = $(TALLY_LIBS) -lcmocka $(LIBDW)
endif
endif
