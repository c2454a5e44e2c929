/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_EVENT_OPTIONS_H
#define TALLY_CMD_EVENT_OPTIONS_H
#include "cmd/command.h"
#include "events/events.h"
#include "launch/busy.h"

/* The option of busy_begin. */
#define KEEP_BUSY_OPTION_ROW(offset) \
	{ OPT_FLAG, 0, "keep-busy", NULL, (offset), \
	  "Keep the processors from halting, by a process of lowest priority " \
	  "on each. Counters of AMD K8 and its northbridge stop while a " \
	  "processor is halted." }

/* Parses the values of --event and --filter (OPT_TAGGED) in the order of the
 * command line.  A filter applies to the events of the preceding --event. */
int cmd_events(const struct opt_strs *given, struct event_list *out,
	       struct error *err);

#endif
