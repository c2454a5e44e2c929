/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H
/* Parses command lines and prints --help, both from a command's table of options
 * (cmd/command.h). */
#include "base/buf.h"
#include "cmd/command.h"

/*
 * Fills `opts` (zeroed and with defaults) from argv, whose first word is the
 * command's name.  Plain words between options are moved behind them; *rest is the
 * index of the first one.  *help is set if --help is present.  Strings point into
 * argv.
 */
int options_parse(const struct command *cmd, void *opts, int argc, char **argv,
		  int *rest, bool *help, struct error *err);
/* Releases what options_parse allocated inside `opts`. */
void options_release(const struct command *cmd, void *opts);
/* Appends the text of `tally CMD --help`, at most 80 columns wide. */
void options_help(const struct command *cmd, struct buf *out);

/* Returns whether the row ends a table of options. */
static inline bool option_is_end(const struct opt *o)
{
	return !o->name && !o->short_name && o->kind != OPT_HEADING;
}

/* Return the option with a long name of n bytes, or with a letter, or NULL. */
const struct opt *option_called(const struct command *cmd, const char *name, size_t n);
const struct opt *option_of_letter(const struct command *cmd, int letter);

/* Parse one value as the tables define it; `name` ("--freq") appears in messages.
 * Of a time, `kind` (OPT_SECONDS, OPT_DELAY, OPT_MILLIS, OPT_UNIT) determines the unit of
 * a plain number. */
int option_duration(const char *name, const char *text, enum opt_kind kind,
		    double *out, struct error *err);
/* Parses a rate, or "max", which gives UINT64_MAX. */
int option_rate(const char *name, const char *text, uint64_t *out,
		struct error *err);

#endif
