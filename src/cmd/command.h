/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_COMMAND_H
#define TALLY_CMD_COMMAND_H
/*
 * A command is a row in cli's table, a table of options, and one function.  cli
 * parses the options into the command's own struct, prints --help from the same
 * table, and turns the result into the exit status.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum opt_kind {
	OPT_FLAG,	/* bool at offset, set true */
	OPT_NOFLAG,	/* bool at offset, set false */
	OPT_STR,	/* const char * at offset; last one wins */
	OPT_STRS,	/* struct opt_strs at offset; all are kept */
	OPT_TAGGED,	/* as OPT_STRS, but each value is preceded by its option's
			 * long name; for several options that share an offset and
			 * must keep their order */
	OPT_WORDS,	/* as OPT_STRS, and the plain words that follow */
	OPT_UINT,	/* uint64_t at offset; decimal, k/M/G suffix */
	OPT_DOUBLE,	/* double at offset */
	OPT_PERCENT,	/* a share, stored as a double: "3%" or "3" is 0.03; "off" is
			 * -1 if `arg` has this word */
	OPT_RATE,	/* uint64_t at offset; as OPT_UINT, or "max":
			 * UINT64_MAX */
	/* A time in seconds, stored as a double.  All accept ns, us, ms, s, m and
	 * h.  They differ in the unit of a plain number: */
	OPT_SECONDS,	/* seconds */
	OPT_DELAY,	/* seconds below 10; larger numbers are refused, because
			 * perf's option takes milliseconds; "-1" is -1 */
	OPT_MILLIS,	/* milliseconds */
	OPT_UNIT,	/* a plain number is refused */
	OPT_OPTSTR,	/* const char * at offset; argument optional (--x or
			 * --x=V), then "" */
	OPT_CHOICE,	/* int at offset: the index of the value among the words
			 * of `arg`, "text|json" */
	OPT_HEADING,	/* a heading in --help, not an option */
};

struct opt_strs {
	const char **v;
	size_t n, cap;
};

struct opt {
	enum opt_kind kind;
	char short_name;	/* 0: none */
	const char *name;	/* long name */
	const char *arg;	/* placeholder of the argument, NULL for flags */
	size_t offset;		/* into the command's option struct */
	const char *help;	/* one or two sentences */
};

struct screen;

/* The command's connection to the user. */
struct cmd_io {
	FILE *out, *err;	/* `out` may be a pager */
	/* Returns whether an allocation has failed.  An answer may then be
	 * incomplete and must not be given.  May be NULL. */
	bool (*no_memory)(void);
	bool out_tty, err_tty;	/* the stream is a terminal */
	bool color;
	int columns;		/* width of the terminal, 0 if piped */
	/* Shows a line that the next one replaces, on a terminal only.  NULL
	 * clears it. */
	void (*progress)(struct cmd_io *io, const char *text);
	/* Sends `out` through the user's pager if it is a terminal. */
	void (*start_pager)(struct cmd_io *io);
	/* Reason why no interactive view is possible, or NULL. */
	const char *no_screen;
	/* Opens the whole terminal as a screen (tui/screen.h); close it with
	 * close_screen. */
	int (*open_screen)(struct cmd_io *io, struct screen *out,
			   struct error *err);
	void (*close_screen)(struct cmd_io *io);
};

struct command {
	const char *name;
	const char *summary;	/* one line */
	const char *args;	/* "[FILE]" */
	const struct opt *opts;	/* ends with name == NULL and kind 0 */
	size_t opts_size;	/* size of the option struct */
	const void *defaults;	/* its initial content, or NULL: zeros */
	bool stop_at_arg;	/* options end at the first plain word (record) */
	bool at_files;		/* @FILE stands for the words in FILE */
	/* Returns the process's exit status.  If it is negative, err is printed
	 * and the status is 2 for ERR_USAGE and 1 otherwise. */
	int (*run)(struct cmd_io *io, void *opts, int argc, char **argv,
		   struct error *err);
};

/* What options must not say together, with the message about it. */
struct opt_rule {
	bool broken;
	const char *message;
};
/* Returns 0, or ERR_USAGE with the message of the first of n rules that is broken. */
static inline int options_obey(const struct opt_rule *rules, size_t n, struct error *err)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].broken)
			return error_set(err, ERR_USAGE, "%s", rules[i].message);
	return 0;
}

#define OPT_TITLE(text) { OPT_HEADING, 0, NULL, NULL, 0, text }
#define OPT_END { OPT_FLAG, 0, NULL, NULL, 0, NULL }

extern const struct command cmd_annotate, cmd_record, cmd_report, cmd_info,
	cmd_list,
	cmd_dump, cmd_symbolize, cmd_addr2line, cmd_doctor,
	cmd_encode, cmd_export, cmd_history, cmd_import,
	cmd_push, cmd_status, cmd_stat, cmd_check, cmd_flamegraph,
	cmd_diff, cmd_merge;

#endif
