/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H
/* Command lines: parsed, and explained by --help, from a command's one table of
 * options (cmd/command.h). */
#include "base/buf.h"
#include "cmd/command.h"

/*
 * Fills `opts` (zeroed and with defaults) from argv, whose first word is the
 * command's name.  *rest is the index of the first plain word; plain words that
 * stood between options have been moved behind them.  *help is set when --help
 * was asked for.  Strings point into argv.
 */
int options_parse(const struct command *cmd, void *opts, int argc, char **argv,
		  int *rest, bool *help, struct error *err);
/* Releases what options_parse allocated inside `opts`. */
void options_release(const struct command *cmd, void *opts);
/* The text of `tally CMD --help`, at most 80 columns wide. */
void options_help(const struct command *cmd, struct buf *out);

/* True for the row that ends a table of options. */
static inline bool option_is_end(const struct opt *o)
{
	return !o->name && !o->short_name && o->kind != OPT_HEADING;
}

/* One value as the tables define it; `name` ("--freq") is for messages. */
int option_uint(const char *name, const char *text, uint64_t *out,
		struct error *err);
int option_double(const char *name, const char *text, double *out,
		  struct error *err);
/* `kind` (OPT_SECONDS, OPT_DELAY, OPT_MILLIS, OPT_UNIT) says what a number
 * without a unit is. */
int option_duration(const char *name, const char *text, enum opt_kind kind,
		    double *out, struct error *err);
/* A rate, or "max": UINT64_MAX. */
int option_rate(const char *name, const char *text, uint64_t *out,
		struct error *err);

#endif
