/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_PERF_OPTIONS_H
#define TALLY_CLI_PERF_OPTIONS_H
/*
 * Options and commands of perf that tally lacks or has under another name, for users
 * who know perf.  An option is translated to one of tally, accepted because tally
 * always behaves that way, or rejected with a message that names tally's equivalent.
 * Options with the same name in both programs have no row here, unless only perf's takes
 * a value: the row has the message then.  Nor has --no-NAME: it is accepted if tally lacks
 * NAME, and rejected with a message if tally always behaves as with NAME.
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
	const char *hint;	/* the message, if `is` is NULL; NULL: the option is
				 * accepted */
};

/* The table, which ends with commands == NULL. */
extern const struct perf_option perf_options[];
bool perf_option_is_of(const struct perf_option *o, const struct command *cmd);

/* Returns tally's equivalent of a command of perf, or NULL. */
const char *perf_command_hint(const char *name);

#endif
