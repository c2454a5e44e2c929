# SPDX-License-Identifier: GPL-2.0-or-later
STRUCTURE_TESTS = tests/structure/structure.sh tests/structure/tests.sh \
	tests/structure/configure.sh
TESTS += tests/structure/docs.sh
EXTRA_DIST += tests/structure/docs.sh $(STRUCTURE_TESTS)
# They say the same however tally was compiled.
if !SANITIZERS
TESTS += $(STRUCTURE_TESTS)
endif
