/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_PFM_H
#define TALLY_EVENTS_PFM_H
/* Event names of libpfm4, when tally is configured --with-libpfm. */
#include "events/event.h"

/* Returns 1 if libpfm4 has the event on this machine, 0 if not (or without
 * libpfm4), and an error if the name is known but not what follows it. */
int pfm_event_parse(const char *word, struct event_spec *e, struct error *err);

#endif
