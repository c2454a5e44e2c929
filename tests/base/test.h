/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_BASE_TEST_H
#define TALLY_TESTS_BASE_TEST_H
/* What every cmocka test of src/base includes. */
#include "../checks.h"

#include "base/buf.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The buffer's text equals `want`; the buffer is emptied for the next case. */
static inline void check_text(struct buf *b, const char *want)
{
	assert_false(b->failed);
	assert_string_equal(buf_cstr(b), want);
	buf_reset(b);
}

#endif
