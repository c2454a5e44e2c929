/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_TIMER_TIMER_SOURCE_H
#define TALLY_RECORD_TIMER_TIMER_SOURCE_H
/*
 * Samples by CPU-time timers inside the program.  A library is loaded into the
 * program and all programs that it starts (preload/preload.h).  It writes samples and
 * sideband data into memory shared with tally.
 *
 * This works only for commands that tally starts.  The kernel checks such timers once
 * a tick, so a thread's sampling rate is at most the kernel's tick rate.
 */
#include "record/source/source_type.h"

extern const struct source_type timer_source_type;

#endif
