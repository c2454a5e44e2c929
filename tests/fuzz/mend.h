/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_TESTS_FUZZ_MEND_H
#define TALLY_TESTS_FUZZ_MEND_H
/* Makes the checksums of a .tally file right, whatever is in it: they would
 * reject almost every mutation before the code behind them sees it. */
#include <string.h>

#include "profile/format.h"

static inline void put32(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static inline void mend_checksums(uint8_t *p, size_t n)
{
	if (n < FORMAT_HEADER)
		return;
	memcpy(p, FORMAT_MAGIC, 8);
	put32(p + 28, format_crc(p, FORMAT_HEADER - 4));
	for (size_t at = FORMAT_HEADER; n - at >= CHUNK_HEADER;) {
		uint32_t stored;

		memcpy(&stored, p + at + 12, 4);
		if (stored > n - at - CHUNK_HEADER)
			return;
		put32(p + at + 24, format_crc(p + at + CHUNK_HEADER, stored));
		put32(p + at + 28, format_crc(p + at, CHUNK_HEADER - 4));
		at += CHUNK_HEADER + stored;
	}
}

/* The views that a target shows, as bits 0 to n - 1: all of them, or one at a time
 * under libFuzzer, because most time goes to views. */
static inline unsigned int fuzz_views(size_t chosen, unsigned int n)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return 1u << chosen % n;
#else
	(void)chosen;
	return (1u << n) - 1;
#endif
}

#endif
