/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EVENTS_PFM_H
#define TALLY_EVENTS_PFM_H
/* Event names of libpfm4, when tally is configured --with-libpfm. */
#include "events/event.h"

/* 1 when libpfm4 knows the event on this machine, 0 when not (or without
 * libpfm4), or an error: the name is known, but not what follows it. */
int pfm_event_parse(const char *word, struct event_spec *e, struct error *err);

#endif
