# SPDX-License-Identifier: GPL-2.0-or-later
if CMOCKA
IMAGE_TESTS = tests/image/test_image tests/image/test_cfi
check_PROGRAMS += $(IMAGE_TESTS)
TESTS += $(IMAGE_TESTS)
tests_image_test_image_SOURCES = tests/image/test_image.c
tests_image_test_image_LDADD = $(TALLY_LIBS) -lcmocka
tests_image_test_cfi_SOURCES = tests/image/test_cfi.c
tests_image_test_cfi_LDADD = $(TALLY_LIBS) -lcmocka
endif
