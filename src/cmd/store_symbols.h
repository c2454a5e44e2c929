/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_CMD_STORE_SYMBOLS_H
#define TALLY_CMD_STORE_SYMBOLS_H
/* Looks up the symbols of a recording again and stores them in it. */
#include "cmd/command.h"
#include "profile/reader.h"

struct store_options {
	const struct opt_strs *debug_dirs;	/* --debug-dir; NULL: none */
	const char *kallsyms, *vmlinux;		/* as in symbolize_options */
	const char *embed_source;		/* --embed-source */
	const char *output;	/* file to write; NULL: replace the recording */
	const int *files;	/* as in symbolize_options */
};

/* Looks up the symbols and writes the file.  Nothing is written on an error. */
int cmd_store_symbols(struct cmd_io *io, const struct store_options *o,
		      const char *path, struct reader *r, struct error *err);

/* Counts how often each location was sampled itself.  The caller frees the array
 * of locs.n + 1 numbers; NULL: out of memory. */
uint64_t *cmd_count_self(struct reader *r);

#endif
