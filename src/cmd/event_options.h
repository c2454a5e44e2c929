/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_EVENT_OPTIONS_H
#define TALLY_CMD_EVENT_OPTIONS_H
#include "cmd/command.h"
#include "events/events.h"
#include "launch/busy.h"
#include "launch/target.h"

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * target_options and a flag for inheritance; Verb, verb and `in` are the words of its
 * help: "Count", "count", " in". */
#define TARGET_OPTION_ROWS(type, target, inherit, Verb, verb, in) \
	{ OPT_STR, 'p', "pid", "PID[,PID...]", offsetof(type, target.pids), \
	  Verb in " these processes, all their threads and the processes they " \
	  "start." }, \
	{ OPT_FLAG, 0, "descendants", NULL, offsetof(type, target.descendants), \
	  "With -p, also " verb in " the processes that they started earlier." }, \
	{ OPT_STR, 't', "tid", "TID[,TID...]", offsetof(type, target.tids), \
	  Verb in " these threads and the threads and processes they start." }, \
	{ OPT_FLAG, 'a', "all-cpus", NULL, offsetof(type, target.all_cpus), \
	  Verb in " the whole system while the command runs, or until Ctrl-C." }, \
	{ OPT_STR, 'C', "cpu", "CPU[,CPU...]", offsetof(type, target.cpus), \
	  Verb " on these processors only, for example 0-3,8. Without a " \
	  "command, -p or -t, " verb " everything on them." }, \
	{ OPT_STR, 0, "cgroup", "PATH", offsetof(type, target.cgroup), \
	  Verb in " the processes of this control group." }, \
	{ OPT_NOFLAG, 0, "no-inherit", NULL, offsetof(type, inherit), \
	  "Do not follow threads and processes started later." }

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
