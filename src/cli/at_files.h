/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CLI_AT_FILES_H
#define TALLY_CLI_AT_FILES_H
/*
 * Command lines of which a part is in files: "@FILE" stands for the words in
 * FILE, as in the tools of binutils.  Words end at white space; single quotes,
 * double quotes and backslashes keep it.  A word "@FILE" whose file does not
 * exist stands for itself.
 */
#include "base/error.h"
#include "base/vec.h"

struct at_files {
	VEC(char *) argv;	/* ends with NULL; argv.n does not count it */
	VEC(char *) texts;	/* the words' bytes */
};

int at_files_expand(struct at_files *a, int argc, char **argv,
		    struct error *err);
void at_files_fini(struct at_files *a);

#endif
