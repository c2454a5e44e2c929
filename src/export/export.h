/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_EXPORT_H
#define TALLY_EXPORT_EXPORT_H
/*
 * A recording in the formats of other tools.  A format is a row of the table in
 * formats.c and a file of its own; what a format may use is in walk.h.
 *
 * Samples are streamed; memory follows unique stacks.  Formats that keep the
 * order of samples by thread hold at most EXPORT_SAMPLES of them at a time.
 */
#include "profile/reader.h"
#include "views/query/select.h"

struct export;

enum {
	EXPORT_GZIP = 1,	/* the bytes are compressed */
	EXPORT_FILE = 2,	/* written to a path, not to a stream */
};

struct export_format {
	const char *name, *ending;	/* "pprof", "pb.gz" */
	const char *help;		/* one line: which tools open it */
	unsigned int flags;		/* EXPORT_GZIP … */
	/* Appends to x->out and calls export_flush now and then. */
	int (*write)(struct export *x, struct error *err);
};

/* Sorted as they are shown. */
const struct export_format *export_formats(size_t *n);
/* ERR_USAGE names the nearest format there is. */
int export_format_find(const char *name, const struct export_format **out,
		       struct error *err);

struct export_spec {
	struct select_spec select;
	bool no_inline;
	const char *version;	/* of tally */
};

/* Where the bytes go. */
struct export_sink {
	int (*put)(void *ctx, const void *p, size_t n, struct error *err);
	void *ctx;
	const char *path;	/* of an empty regular file, for EXPORT_FILE */
};

int export_write(struct reader *r, const struct export_format *f,
		 const struct export_spec *spec, const struct export_sink *sink,
		 struct error *err);

#endif
