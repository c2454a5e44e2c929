/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_EVENT_OPTIONS_H
#define TALLY_CMD_EVENT_OPTIONS_H
#include "cmd/command.h"
#include "events/events.h"

/* Parses the values of --event and --filter (OPT_TAGGED) in the order of the
 * command line.  A filter applies to the events of the preceding --event. */
int cmd_events(const struct opt_strs *given, struct event_list *out,
	       struct error *err);

#endif
