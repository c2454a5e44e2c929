/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_LIBRARY_H
#define TALLY_RECORD_TIMER_TIMER_LIBRARY_H
/* The library that is loaded into programs (preload/preload.h), as a file. */
#include <stddef.h>
#include <stdint.h>

struct timer_library {
	const uint8_t *bytes;
	size_t size;		/* 0: not available for this machine */
};

struct timer_library timer_library(void);

#endif
