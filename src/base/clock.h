/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H
/* Clocks in nanoseconds. */
#include <stdint.h>
#include <time.h>

#define SECOND 1000000000ull	/* in nanoseconds */

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns CLOCK_MONOTONIC. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

#endif
