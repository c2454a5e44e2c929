/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SELECT_OPTIONS_H
#define TALLY_CMD_SELECT_OPTIONS_H
/* Options that select samples of a recording. */
#include "cmd/command.h"
#include "views/query/select.h"

struct select_opts {
	const char *pids, *tids, *cpus, *runs, *time;
	struct opt_strs comms, events, labels;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * select_opts called `samples_of`; `event_help` explains --event. */
#define SELECT_OPTION_ROWS(type, event_help) \
	OPT_TITLE("Which samples"), \
	{ OPT_STRS, 0, "comm", "NAME[,NAME...]", \
	  offsetof(type, samples_of.comms), \
	  "Only threads with this name; * and ? match any text and any " \
	  "character." }, \
	{ OPT_STR, 0, "pid", "PID[,PID...]", offsetof(type, samples_of.pids), \
	  "Only these processes." }, \
	{ OPT_STR, 0, "tid", "TID[,TID...]", offsetof(type, samples_of.tids), \
	  "Only these threads." }, \
	{ OPT_STR, 'C', "cpu", "CPU[,CPU...]", offsetof(type, samples_of.cpus), \
	  "Only these processors, for example 0-3,8." }, \
	{ OPT_STR, 0, "run", "RUN[,RUN...]", offsetof(type, samples_of.runs), \
	  "Only these runs of a repeated command, counted from 1." }, \
	{ OPT_STRS, 'e', "event", "EVENT[,EVENT...]", \
	  offsetof(type, samples_of.events), event_help }, \
	{ OPT_STR, 0, "time", "START,END", offsetof(type, samples_of.time), \
	  "Only this time range: seconds since the start of the recording " \
	  "(1.5,3 or 200ms,1s) or shares of it (10%,20%); either bound may " \
	  "be omitted." }

/* The row of --label, for commands where this option selects samples. */
#define SELECT_LABEL_ROW(type) \
	{ OPT_STRS, 0, "label", "NAME=VALUE", \
	  offsetof(type, samples_of.labels), \
	  "Only samples with this label: one of \"tally record --label\", or " \
	  "host, service, container, pod, cgroup, task. NAME!=VALUE selects " \
	  "the others; * and ? match any text and any character. All given " \
	  "labels must match." }

/* Rows of options that select functions; the values are struct opt_strs. */
#define SELECT_IMAGE_ROW(at) \
	{ OPT_STRS, 0, "image", "NAME[,NAME...]", at, \
	  "Only functions of this program or library: its file name, path, " \
	  "or a pattern with * and ?." }
#define SELECT_SYMBOL_ROW(at) \
	{ OPT_STRS, 0, "symbol", "TEXT", at, \
	  "Only functions with this name (with or without name spaces and " \
	  "parameters; * and ? match any text and any character) or, if " \
	  "there is none, whose name contains TEXT. May be repeated." }

/* The recordings of an old and a new side, which are compared. */
struct side_opts {
	struct opt_strs files[2], labels[2];
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * side_opts called `sides`; `label_help` explains --old-label. */
#define SIDE_OPTION_ROWS(type, label_help) \
	{ OPT_WORDS, 0, "baseline", "FILE [FILE...]", \
	  offsetof(type, sides.files[0]), \
	  "Recordings of the old side; each run in them counts." }, \
	{ OPT_WORDS, 0, "new", "FILE [FILE...]", \
	  offsetof(type, sides.files[1]), "Recordings of the new side." }, \
	{ OPT_STRS, 0, "old-label", "NAME=VALUE", \
	  offsetof(type, sides.labels[0]), \
	  "Only samples with this label on the old side" label_help }, \
	{ OPT_STRS, 0, "new-label", "NAME=VALUE", \
	  offsetof(type, sides.labels[1]), "The same on the new side." }

/* Return values that borrow from the options. */
static inline struct name_list cmd_names(const struct opt_strs *s)
{
	return (struct name_list){ s->v, s->n };
}
static inline struct select_spec cmd_select(const struct select_opts *o)
{
	return (struct select_spec){
		.comms = cmd_names(&o->comms),
		.events = cmd_names(&o->events),
		.labels = cmd_names(&o->labels),
		.pids = o->pids, .tids = o->tids, .cpus = o->cpus,
		.runs = o->runs, .time = o->time,
	};
}

#endif
