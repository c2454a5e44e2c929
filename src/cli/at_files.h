/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_AT_FILES_H
#define TALLY_CLI_AT_FILES_H
/*
 * Expands "@FILE" on a command line to the words in FILE, as binutils does.  Words
 * end at white space, which single quotes, double quotes and backslashes preserve.
 * A word "@FILE" stays as it is if the file does not exist.
 */
#include "base/error.h"
#include "base/vec.h"
#include "cmd/command.h"

struct at_files {
	VEC(char *) argv;	/* ends with NULL, which argv.n does not count */
	VEC(char *) texts;	/* storage of the words */
};

/* Fills *a, which must be zeroed, with the expanded argv.  Returns 0 or an error;
 * call at_files_fini in any case. */
int at_files_expand(struct at_files *a, int argc, char **argv,
		    struct error *err);
void at_files_fini(struct at_files *a);

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
/* Replaces "--config FILE" or "--config=FILE", if argv begins with it, by the
 * options of the file.  The other words follow and thus override them.  *a->argv
 * is empty if argv does not begin so.  Call at_files_fini even after an error. */
int config_expand(struct at_files *a, const struct command *cmd, int argc,
		  char **argv, struct error *err);
/* Adds the words of a text, which must end with a NUL and live as long as *a. */
int config_words(struct at_files *a, const char *name, char *text,
		 struct error *err);

#endif
