/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_PERF_OPTIONS_H
#define TALLY_CLI_PERF_OPTIONS_H
/*
 * Options and commands of perf that tally lacks or has under another name, for users
 * who know perf.  An option is translated to one of tally, or accepted because tally
 * always behaves so, or answered with tally's way.  Options with equal names in both
 * have no row here.  The opposite of a row (--no-NAME) needs none: tally lacks the
 * option, so the opposite is accepted, or always behaves so, which is answered.
 */
#include "cmd/command.h"

struct perf_option {
	const char *commands;	/* commands that have it, "record stat" */
	char short_name;	/* 0: none */
	const char *name;	/* long name, or NULL */
	char arg;		/* whether it takes a value: 'y' yes, 'o' optional,
				 * 'n' no */
	const char *is;		/* long name of tally's option, or NULL */
	const char *value;	/* value for tally's option; NULL: the given one */
	const char *hint;	/* tally's way, if `is` is NULL; NULL: accepted */
};

/* The table, which ends with commands == NULL. */
extern const struct perf_option perf_options[];
bool perf_option_is_of(const struct perf_option *o, const struct command *cmd);

/* Returns tally's equivalent of a command of perf, or NULL. */
const char *perf_command_hint(const char *name);

#endif
