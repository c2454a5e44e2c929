/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SHOW_OPTIONS_H
#define TALLY_CMD_SHOW_OPTIONS_H
/*
 * Rows of option tables (cmd/command.h) with the same meaning in each command that
 * shows text.  `at` is the offset of the value, as in any row.
 */
#include "cmd/command.h"
#include "views/query/select.h"

#define OPT_ROW_INPUT(at) \
	{ OPT_STR, 'i', "input", "FILE", at, \
	  "Read this recording. Default: profile.tally." }
/* For commands with these two formats; the value is an int, 1 for JSON. */
#define OPT_ROW_JSON(at) \
	{ OPT_CHOICE, 0, "format", "text|json", at, \
	  "Output format. Default: text." }
#define OPT_ROW_NO_INLINE(at) \
	{ OPT_FLAG, 0, "no-inline", NULL, at, \
	  "Attribute inlined functions to the function they were inlined " \
	  "into." }
/* `how`: what --inline, the default, does. */
#define OPT_ROWS_INLINE(at, how) \
	{ OPT_NOFLAG, 0, "inline", NULL, at, how }, OPT_ROW_NO_INLINE(at)
#define OPT_ROW_FULL_NAMES(at) \
	{ OPT_FLAG, 0, "full-names", NULL, at, \
	  "Show template arguments and parameters in full." }
#define OPT_ROW_SAMPLES(at) \
	{ OPT_FLAG, 'n', "samples", NULL, at, "Also show numbers of samples." }
/* The value is an int, 1 for AT&T's syntax. */
#define OPT_ROW_SYNTAX(at) \
	{ OPT_CHOICE, 'M', "syntax", "intel|att", at, \
	  "Syntax of instructions. Default: intel." }
#define OPT_ROW_WIDTH(at) \
	{ OPT_UINT, 'w', "width", "COLUMNS", at, \
	  "Cut lines at this width. Default: the width of the terminal; no " \
	  "limit for files and pipes." }
#define OPT_ROW_NO_HEADER(at) \
	{ OPT_FLAG, 0, "no-header", NULL, at, \
	  "Omit the lines about data quality." }
#define OPT_ROW_COLOR(at) \
	{ OPT_OPTSTR, 0, "color", "auto|always|never", at, \
	  "Use colours. Default: auto, on a terminal and without NO_COLOR." }
#define OPT_ROW_NO_PAGER(at) \
	{ OPT_FLAG, 0, "no-pager", NULL, at, \
	  "Do not send long output to a pager." }

#define OPT_ROW_QUIET(at) \
	{ OPT_FLAG, 'q', "quiet", NULL, at, "Print errors only." }
/* For commands that write recordings (profile/replace.h). */
#define OPT_ROW_FORCE(at) \
	{ OPT_FLAG, 0, "force", NULL, at, \
	  "Overwrite FILE even if it is not a recording." }

/* For commands that read recordings; the value is a uint64_t. */
#define OPT_ROW_MAX_MEMORY(at) \
	{ OPT_UINT, 0, "max-memory", "SIZE", at, \
	  "Limit of the memory for the tables of a recording, in bytes (k, " \
	  "M, G). Default: 64 times the size of the file plus a sixteenth of " \
	  "the machine's memory (64 MB to 1 GB)." }

/* For commands whose output may repeat the names of a recording often; the value is a
 * uint64_t for cmd_max_output. */
#define OPT_ROW_MAX_OUTPUT(at) \
	{ OPT_UINT, 0, "max-output", "SIZE", at, \
	  "Fail if the text, JSON or CSV has more than this many bytes (k, " \
	  "M, G). Default: 64 times the size of the file plus 64 MB." }

/* The value is a struct opt_strs for cmd_debug_dirs.  `when`: see READING_DIRS_ROW. */
#define DEBUG_DIR_ROW(when, at) \
	{ OPT_STRS, 0, "debug-dir", "DIR", at, when \
	  "Also search DIR for debug files: in the layout of /usr/lib/debug or " \
	  "of debuginfod's cache, at the path of the program, or directly in " \
	  "DIR. May be repeated." }

/* For commands that open files named in a recording; the value is a bool. */
#define OPT_ROW_TRUST(at) \
	{ OPT_FLAG, 0, "trust-recording", NULL, at, \
	  "Open the files on this machine that a recording names even if the " \
	  "recording belongs to another user." }

/* --- options that select samples of a recording */

struct select_opts {
	const char *pids, *tids, *cpus, *runs, *time;
	struct opt_strs comms, events, labels;
};

/* Rows for the option table of a command.  Its options are a `type` with a struct
 * select_opts called `samples_of`; `event_help` explains --event. */
#define SELECT_SAMPLE_ROWS(type, event_help) \
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

/* The same with --label, for commands where this option selects samples. */
#define SELECT_OPTION_ROWS(type, event_help) \
	SELECT_SAMPLE_ROWS(type, event_help), \
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
