/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_SOURCE_H
#define TALLY_RECORD_TIMER_TIMER_SOURCE_H
/*
 * Samples by CPU-time timers inside the program: a library is put into it and
 * all that it starts (preload/preload.h), which writes samples and what we must
 * know into memory that is shared with us.
 *
 * Only for commands that tally starts.  The kernel looks at such timers once a
 * tick: no thread gets more samples a second than the kernel has ticks.
 */
#include "record/source/source_type.h"

extern const struct source_type timer_source_type;

#endif
