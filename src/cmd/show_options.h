/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_SHOW_OPTIONS_H
#define TALLY_CMD_SHOW_OPTIONS_H
/*
 * Rows of option tables (cmd/command.h) with the same meaning in each command that
 * shows text.  `at` is the offset of the value, as in any row.
 */
#include "cmd/command.h"

#define OPT_ROW_INPUT(at) \
	{ OPT_STR, 'i', "input", "FILE", \
	  "Read this recording. Default: profile.tally.", at }
/* For commands with these two formats; the value is an int, 1 for JSON. */
#define OPT_ROW_JSON(at) \
	{ OPT_CHOICE, 0, "format", "text|json", "Output format. Default: text.", \
	  at }
#define OPT_ROW_NO_INLINE(at) \
	{ OPT_FLAG, 0, "no-inline", NULL, \
	  "Attribute inlined functions to the function they were inlined " \
	  "into.", at }
/* `how`: what --inline, the default, does. */
#define OPT_ROWS_INLINE(at, how) \
	{ OPT_NOFLAG, 0, "inline", NULL, how, at }, OPT_ROW_NO_INLINE(at)
#define OPT_ROW_FULL_NAMES(at) \
	{ OPT_FLAG, 0, "full-names", NULL, \
	  "Show template arguments and parameters in full.", at }
#define OPT_ROW_SAMPLES(at) \
	{ OPT_FLAG, 'n', "samples", NULL, "Also show numbers of samples.", at }
/* The value is an int, 1 for AT&T's syntax. */
#define OPT_ROW_SYNTAX(at) \
	{ OPT_CHOICE, 'M', "syntax", "intel|att", \
	  "Syntax of instructions. Default: intel.", at }
#define OPT_ROW_WIDTH(at) \
	{ OPT_UINT, 'w', "width", "COLUMNS", \
	  "Cut lines at this width. Default: the width of the terminal; no " \
	  "limit for files and pipes.", \
	  at }
#define OPT_ROW_NO_HEADER(at) \
	{ OPT_FLAG, 0, "no-header", NULL, \
	  "Omit the lines about data quality.", at }
#define OPT_ROW_COLOR(at) \
	{ OPT_OPTSTR, 0, "color", "auto|always|never", \
	  "Use colours. Default: auto, on a terminal and without NO_COLOR.", \
	  at }
#define OPT_ROW_NO_PAGER(at) \
	{ OPT_FLAG, 0, "no-pager", NULL, \
	  "Do not send long output to a pager.", at }

#define OPT_ROW_QUIET(at) \
	{ OPT_FLAG, 'q', "quiet", NULL, "Print errors only.", at }
/* For commands that write recordings (profile/replace.h). */
#define OPT_ROW_FORCE(at) \
	{ OPT_FLAG, 0, "force", NULL, \
	  "Overwrite FILE even if it is not a recording.", at }

/* For commands that read recordings; the value is a uint64_t. */
#define OPT_ROW_MAX_MEMORY(at) \
	{ OPT_UINT, 0, "max-memory", "SIZE", \
	  "Limit of the memory for the tables of a recording, in bytes (k, " \
	  "M, G). Default: 64 times the size of the file plus a sixteenth of " \
	  "the machine's memory (64 MB to 1 GB).", at }

/* For commands whose output may repeat the names of a recording often; the value is a
 * uint64_t for cmd_max_output. */
#define OPT_ROW_MAX_OUTPUT(at) \
	{ OPT_UINT, 0, "max-output", "SIZE", \
	  "Fail if the text, JSON or CSV has more than this many bytes (k, M, " \
	  "G). Default: 64 times the size of the file plus 64 MB.", at }

/* For commands that open files named in a recording; the value is a bool. */
#define OPT_ROW_TRUST(at) \
	{ OPT_FLAG, 0, "trust-recording", NULL, \
	  "Open the files on this machine that a recording names even if the " \
	  "recording belongs to another user.", at }

#endif
