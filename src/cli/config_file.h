/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_CONFIG_FILE_H
#define TALLY_CLI_CONFIG_FILE_H
/*
 * Options from a file, for commands that have --config: a line for each,
 *
 *	# a remark
 *	freq = 19
 *	all-cpus
 *	g
 *
 * with the names of the options; the value is the rest of the line, without blanks
 * around it.
 */
#include "cli/at_files.h"
#include "cmd/command.h"

/* Where the first words are "--config FILE" or "--config=FILE", fills *a with argv
 * and in their place the options of the file; the others follow, so that they
 * override.  *a is to be released in any case; its argv is empty where there is no
 * such file. */
int config_expand(struct at_files *a, const struct command *cmd, int argc,
		  char **argv, struct error *err);
/* The words of a text, which must end with a NUL and live as long as *a. */
int config_words(struct at_files *a, const char *name, char *text,
		 struct error *err);

#endif
