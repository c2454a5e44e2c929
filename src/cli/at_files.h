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

struct at_files {
	VEC(char *) argv;	/* ends with NULL, which argv.n does not count */
	VEC(char *) texts;	/* storage of the words */
};

/* Fills *a, which must be zeroed, with the expanded argv.  Returns 0 or an error;
 * call at_files_fini in any case. */
int at_files_expand(struct at_files *a, int argc, char **argv,
		    struct error *err);
void at_files_fini(struct at_files *a);

#endif
