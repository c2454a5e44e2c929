# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += tests/disasm/normal.h tests/disasm/objdump.sh
if ZYDIS
# Compares with what objdump prints; used by the test and by scripts/bench.
check_PROGRAMS += tests/disasm/disasmcmp
tests_disasm_disasmcmp_SOURCES = tests/disasm/disasmcmp.c tests/disasm/normal.c
tests_disasm_disasmcmp_LDADD = $(TALLY_LIBS)
if !SANITIZERS
TESTS += tests/disasm/objdump.sh
endif
endif
if CMOCKA
DISASM_TESTS = tests/disasm/test_disasm
check_PROGRAMS += $(DISASM_TESTS)
TESTS += $(DISASM_TESTS)
tests_disasm_test_disasm_SOURCES = tests/disasm/test_disasm.c
tests_disasm_test_disasm_LDADD = $(TALLY_LIBS) -lcmocka
endif
