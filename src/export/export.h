/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_EXPORT_H
#define TALLY_EXPORT_EXPORT_H
/*
 * Output formats of other tools.  Each format is a row of the table in
 * formats.c and a file of its own; walk.h contains what a format may use.
 *
 * Samples are streamed; memory use grows with the number of unique stacks.
 * Formats that need samples in order by thread hold at most EXPORT_SAMPLES at a
 * time.
 */
#include "profile/reader.h"
#include "views/query/select.h"

struct export;

enum {
	EXPORT_GZIP = 1,	/* the output is compressed */
	EXPORT_FILE = 2,	/* written to a path, not to a stream */
	EXPORT_PARTS = 4,	/* can be written in parts */
	EXPORT_NAMES = 8,	/* has functions without files and lines */
};

struct export_format {
	const char *name, *ending;	/* name and file ending: "pprof", "pb.gz" */
	const char *help;		/* one line that names the tools that open it */
	unsigned int flags;		/* EXPORT_GZIP and others, ORed */
	/* Appends to x->out and calls export_flush regularly. */
	int (*write)(struct export *x, struct error *err);
};

/* Returns the table of formats in the order in which help lists them. */
const struct export_format *export_formats(size_t *n);
/* Finds a format by name.  An ERR_USAGE error names the nearest format. */
int export_format_find(const char *name, const struct export_format **out,
		       struct error *err);

struct export_spec {
	struct select_spec select;
	bool no_inline;
	uint32_t depth;		/* maximum frames of a stack; 0: EXPORT_DEPTH */
	bool addresses;		/* pprof and otlp: leave out functions where a
				 * build ID identifies the code */
	const char *version;	/* version of tally */
	uint64_t max_output;	/* in bytes before compression; 0: no limit */
};

/* Destination of the bytes. */
struct export_sink {
	int (*put)(void *ctx, const void *p, size_t n, struct error *err);
	void *ctx;
	const char *path;	/* path of an empty regular file, for EXPORT_FILE */
};

/* A name and a value that distinguish one group of threads from the others. */
struct export_label {
	const char *name, *value;	/* UTF-8 */
};

struct export_group {
	const struct export_label *labels;
	size_t n;
};

/*
 * How a recording is divided: by window of wall-clock time, by group of threads
 * and by event.  Windows begin at multiples of their length.  A part holds one
 * sum per stack, event and thread name; threads of the same name are merged.
 */
struct export_division {
	uint64_t window_ns;
	/* index of the group, by thread of the profile */
	const uint32_t *group_of;
	const struct export_group *groups;
	size_t ngroups;
	/* true: a part has all groups and events of a window (OTLP); false: it
	 * has one of each */
	bool together;
	/* limits of a part; a larger one is written as several */
	size_t max_samples, max_bytes;	/* size before compression */
};

struct export_part {
	uint64_t wall_ns;	/* start, in ns since 1970 */
	uint64_t duration_ns;	/* recorded duration within the window */
	uint32_t group, event;	/* first ones if `together` */
	size_t samples;		/* written samples, one per stack and sum */
	uint64_t count;		/* samples of the recording */
};

typedef int export_part_fn(void *ctx, const struct export_part *part,
			   const struct buf *bytes, struct error *err);

/* Writes a recording in parts, in order of time, for a format with
 * EXPORT_PARTS.  Holds at most EXPORT_SAMPLES samples at a time: a window that
 * has more is written as several parts. */
int export_divide(struct reader *r, const struct export_format *f,
		  const struct export_spec *spec,
		  const struct export_division *division, export_part_fn *fn,
		  void *ctx, struct error *err);

int export_write(struct reader *r, const struct export_format *f,
		 const struct export_spec *spec, const struct export_sink *sink,
		 struct error *err);

#endif
