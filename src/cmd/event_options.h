/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_EVENT_OPTIONS_H
#define TALLY_CMD_EVENT_OPTIONS_H
#include "cmd/command.h"
#include "events/events.h"

/* The values of --event and --filter in the order of the command line (OPT_TAGGED):
 * a filter is for the events of the last --event before it. */
int cmd_events(const struct opt_strs *given, struct event_list *out,
	       struct error *err);

#endif
