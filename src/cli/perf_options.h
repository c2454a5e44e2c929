/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_PERF_OPTIONS_H
#define TALLY_CLI_PERF_OPTIONS_H
/*
 * Options and commands of perf that tally has under another name or not at all:
 * what people type who know perf.  Each either stands for an option of tally, is
 * accepted because it asks for what is always so, or is answered with tally's
 * way.  An option that tally has by the same name is no row here.
 */
#include "cmd/command.h"

enum { PERF_OPTIONS_MAX = 96 };	/* of one command */

struct perf_option {
	const char *commands;	/* "record stat" */
	char short_name;	/* 0: none */
	const char *name;	/* long name, or NULL */
	char arg;		/* takes a value: 'y' yes, 'o' optionally, 'n' no */
	const char *is;		/* long name of tally's option, or NULL */
	const char *value;	/* its value; NULL: the one that was given */
	const char *hint;	/* without `is`: tally's way; NULL: accepted */
};

/* The table; ends with commands == NULL. */
extern const struct perf_option perf_options[];
bool perf_option_is_of(const struct perf_option *o, const struct command *cmd);

/* tally's way of doing what a command of perf does, or NULL. */
const char *perf_command_hint(const char *name);

#endif
