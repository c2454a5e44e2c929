# SPDX-License-Identifier: GPL-2.0-or-later
TESTS += tests/structure/structure.sh tests/structure/docs.sh tests/structure/tests.sh \
	tests/structure/configure.sh
EXTRA_DIST += tests/structure/structure.sh tests/structure/docs.sh tests/structure/tests.sh \
	tests/structure/configure.sh
