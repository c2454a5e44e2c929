# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
check_PROGRAMS += tests/image/test_image
TESTS += tests/image/test_image
tests_image_test_image_SOURCES = tests/image/test_image.c
tests_image_test_image_LDADD = $(TALLY_LIBS) -lcmocka
endif
