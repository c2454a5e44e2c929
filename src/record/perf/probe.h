/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_RECORD_PERF_PROBE_H
#define TALLY_RECORD_PERF_PROBE_H
#include "events/events.h"

/* Tries to open an event, on ourselves or else on a CPU.  0 when it can be
 * sampled, else an error with the reason. */
int event_usable(const struct event_spec *e, struct error *err);

#endif
