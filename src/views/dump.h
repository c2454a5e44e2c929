/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DUMP_H
#define TALLY_VIEWS_DUMP_H
/*
 * A file's chunks and records, one on a line: "kind key=value …", ids as in the
 * tables of doc/tally-format.5.  Strings are in quotes, as JSON writes them.
 */
#include "profile/reader.h"

enum dump_part {
	DUMP_CHUNKS = 1,
	DUMP_TABLES = 2, /* all but stack nodes and locations */
	DUMP_STACKS = 4, /* locations and stack nodes */
	DUMP_SYMBOLS = 8,
	DUMP_SAMPLES = 16,
	DUMP_ALL = 31,
	DUMP_FRAMES = 32, /* with samples: the functions of their stacks */
};

/* Takes what was written so far; false stops. */
typedef bool dump_sink(void *ctx, struct buf *text);

/* Hands text to the sink piece by piece; 0, -ERR_NOMEM, or -ERR_STOPPED when
 * the sink stopped (err is left alone). */
int dump_file(struct reader *r, unsigned int parts, dump_sink *sink, void *ctx,
	      struct error *err);

#endif
