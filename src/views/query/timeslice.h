/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_QUERY_TIMESLICE_H
#define TALLY_VIEWS_QUERY_TIMESLICE_H
/* A time slice as the user writes it. */
#include <stdint.h>

#include "base/error.h"

/* "START,END", both since start_ns and either may be empty: seconds, or with
 * ms, s, m, h, or % of the whole (end_ns 0: not known).  Gives from <= t < to.
 */
int timeslice_parse(const char *text, uint64_t start_ns, uint64_t end_ns,
		    uint64_t *from, uint64_t *to, struct error *err);

#endif
