/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H
/* Clocks in nanoseconds. */
#include <stdint.h>
#include <time.h>

#define SECOND 1000000000ull	/* in nanoseconds */

static inline int64_t clock_ns(struct timespec t)
{
	return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec t = { 0, 0 };

	clock_gettime(id, &t);
	return (uint64_t)clock_ns(t);
}

/* Returns CLOCK_MONOTONIC. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

#endif
