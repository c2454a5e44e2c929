/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_CONFIG_FILE_H
#define TALLY_CLI_CONFIG_FILE_H
/*
 * Reads options from a file, for commands that have --config.  Each line is an
 * option's name, with a value if it takes one:
 *
 *	# a comment
 *	freq = 19
 *	all-cpus
 *	g
 *
 * The value is the rest of the line, without surrounding blanks.
 */
#include "cli/at_files.h"
#include "cmd/command.h"

/* Replaces "--config FILE" or "--config=FILE", if argv begins with it, by the
 * options of the file.  The other words follow and thus override them.  *a->argv
 * is empty if argv does not begin so.  Call at_files_fini even after an error. */
int config_expand(struct at_files *a, const struct command *cmd, int argc,
		  char **argv, struct error *err);
/* Adds the words of a text, which must end with a NUL and live as long as *a. */
int config_words(struct at_files *a, const char *name, char *text,
		 struct error *err);

#endif
