/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_VIEWS_DUMP_H
#define TALLY_VIEWS_DUMP_H
/*
 * Writes a file's chunks and records, one per line: "kind key=value …".  Ids
 * are those of the tables of doc/tally-format.5. Strings are quoted as in JSON.
 */
#include "profile/reader.h"

enum dump_part {
	DUMP_CHUNKS = 1,
	DUMP_TABLES = 2, /* all except stack nodes and locations */
	DUMP_STACKS = 4, /* locations and stack nodes */
	DUMP_SYMBOLS = 8,
	DUMP_SAMPLES = 16,
	DUMP_ALL = 31,
	DUMP_FRAMES = 32, /* with samples: functions of their stacks */
};

/* Receives the text written so far.  Return false to stop. */
typedef bool dump_sink(void *ctx, struct buf *text);

/* Passes text to the sink piece by piece.  Returns 0, -ERR_NOMEM, or
 * -ERR_STOPPED if the sink stopped (err is unchanged). */
int dump_file(struct reader *r, unsigned int parts, dump_sink *sink, void *ctx,
	      struct error *err);

#endif
