/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_TIMESLICE_H
#define TALLY_VIEWS_QUERY_TIMESLICE_H
/* Parses a time slice given by the user. */
#include <stdint.h>

#include "base/error.h"

/* Parses "START,END".  Both are relative to start_ns and either may be empty.
 * The unit is ms, s (default), m, h, or % of the whole (end_ns 0: unknown).
 * The result is from <= t < to. */
int timeslice_parse(const char *text, uint64_t start_ns, uint64_t end_ns,
		    uint64_t *from, uint64_t *to, struct error *err);

#endif
