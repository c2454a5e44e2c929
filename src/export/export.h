/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TALLY_EXPORT_EXPORT_H
#define TALLY_EXPORT_EXPORT_H
/*
 * Formats of other tools.  Each format is a row of the table in formats.c and a
 * file of its own; walk.h contains what a format may use.
 *
 * Samples are streamed; memory use follows unique stacks.  Formats that need
 * samples in order by thread hold at most EXPORT_SAMPLES at a time.
 */
#include "profile/reader.h"
#include "views/query/select.h"

struct export;

enum {
	EXPORT_GZIP = 1,	/* the bytes are compressed */
	EXPORT_FILE = 2,	/* written to a path, not to a stream */
	EXPORT_PARTS = 4,	/* can be written in parts */
};

struct export_format {
	const char *name, *ending;	/* "pprof", "pb.gz" */
	const char *help;		/* one line: which tools open it */
	unsigned int flags;		/* EXPORT_GZIP … */
	/* Appends to x->out and calls export_flush regularly. */
	int (*write)(struct export *x, struct error *err);
};

/* Sorted as they are shown. */
const struct export_format *export_formats(size_t *n);
/* An ERR_USAGE error names the nearest format. */
int export_format_find(const char *name, const struct export_format **out,
		       struct error *err);

struct export_spec {
	struct select_spec select;
	bool no_inline;
	uint32_t depth;		/* frames of a stack; 0: EXPORT_DEPTH */
	const char *version;	/* of tally */
};

/* Where the bytes go. */
struct export_sink {
	int (*put)(void *ctx, const void *p, size_t n, struct error *err);
	void *ctx;
	const char *path;	/* of an empty regular file, for EXPORT_FILE */
};

/* A name and a value that tell a group of threads from others. */
struct export_label {
	const char *name, *value;	/* UTF-8 */
};

struct export_group {
	const struct export_label *labels;
	size_t n;
};

/*
 * How a recording is divided: by windows of wall-clock time, which begin at
 * multiples of their length, by group of threads and by event.  A part has the
 * sum of each stack, event and thread name; threads of one name are not told
 * apart.
 */
struct export_division {
	uint64_t window_ns;
	const uint32_t *group_of;	/* by thread of the profile */
	const struct export_group *groups;
	size_t ngroups;
	/* Whether a part has all groups and events of a window (OTLP), or one of
	 * each. */
	bool together;
	/* A part that has more is written as several. */
	size_t max_samples, max_bytes;	/* bytes before compression */
};

struct export_part {
	uint64_t wall_ns;	/* when it begins, since 1970 */
	uint64_t duration_ns;	/* of the window, as far as was recorded */
	uint32_t group, event;	/* the first ones where parts are together */
	size_t samples;		/* written: sums by stack */
	uint64_t count;		/* samples of the recording */
};

typedef int export_part_fn(void *ctx, const struct export_part *part,
			   const struct buf *bytes, struct error *err);

/* Writes a recording in parts, in order of time, for a format that can
 * (EXPORT_PARTS).  Holds at most EXPORT_SAMPLES samples at a time: a window that
 * has more is written as several parts. */
int export_divide(struct reader *r, const struct export_format *f,
		  const struct export_spec *spec,
		  const struct export_division *division, export_part_fn *fn,
		  void *ctx, struct error *err);

int export_write(struct reader *r, const struct export_format *f,
		 const struct export_spec *spec, const struct export_sink *sink,
		 struct error *err);

#endif
