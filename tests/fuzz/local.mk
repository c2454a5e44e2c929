# SPDX-License-Identifier: GPL-2.0-or-later
# A fuzz target is one file with LLVMFuzzerTestOneInput.  `make check` replays
# its corpus (tests/fuzz/corpus/NAME) through tests/fuzz/replay.c; configured
# with --enable-fuzzers, the same target is a libFuzzer program.  Add a target:
#	FUZZ_TARGETS += tests/fuzz/fuzz_x
#	tests_fuzz_fuzz_x_SOURCES = tests/fuzz/fuzz_x.c $(FUZZ_MAIN)
#	tests_fuzz_fuzz_x_LDADD = $(FUZZ_LIBS)
# One that reads recordings has $(FUZZ_TALLY) among its sources, too; one that reads
# ELF files $(FUZZ_ELF), one that reads lines of words $(FUZZ_LINES).
FUZZ_TARGETS =
if FUZZERS
FUZZ_MAIN =
FUZZ_LIBS = $(TALLY_LIBS) $(FUZZ_ENGINE)
FUZZ_TALLY = tests/fuzz/mutate_tally.c
FUZZ_ELF = tests/fuzz/mutate_elf.c
FUZZ_LINES = tests/fuzz/mutate_lines.c
FUZZ_GO = tests/fuzz/mutate_go.c
else
FUZZ_MAIN = tests/fuzz/replay.c
FUZZ_LIBS = $(TALLY_LIBS)
FUZZ_TALLY =
FUZZ_ELF =
FUZZ_LINES =
FUZZ_GO =
endif
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/replay.c tests/fuzz/mend.h \
	tests/fuzz/mutate_tally.c tests/fuzz/mutate_elf.c \
	tests/fuzz/mutate_lines.c tests/fuzz/mutate_go.c

include tests/fuzz/targets.mk

check_PROGRAMS += $(FUZZ_TARGETS)
EXTRA_DIST += tests/fuzz/replay.sh
if !FUZZERS
TESTS += tests/fuzz/replay.sh
endif
